# SPDX-License-Identifier: BSD-3-Clause
"""The dim orders that operators accept and produce, from the traits in the operator table."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Node

from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.graph.nodes import input_of, named_argument, permutation_of, value_of
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.order.orders import is_either
from rushlight.integers.order import IMAGE_CHANNELS

aten = torch.ops.aten


class OrderRules:
    """The rules for one runtime's operators.

    If its kernels do not accept every order (`any_order` is False), results keep an order only if no input
    is broadcast: ExecuTorch 1.5.1 computes wrong results when it broadcasts channels-last tensors.
    """

    def __init__(self, library: OperatorLibrary) -> None:
        self.library, self.any_order = library, library.any_order

    def deciding_inputs(self, node: Node) -> list[Node]:
        """The inputs whose common dim order a node's results take; empty if the results are always
        row-major."""
        if not isinstance(node.target, OpOverload) or not node.args:
            return []
        traits = self.library.traits(node.target)
        if "keeps_order" in traits:
            return self._first_and_residual(node)
        if self.follows_order(node):
            return self._of_rank(node)
        if "pointwise" in traits or torch.Tag.pointwise in node.target.tags:
            return self._inputs_of_all_elements(node)
        return []

    def _first_and_residual(self, node: Node) -> list[Node]:
        first, residual = input_of(node), named_argument(node, "residual")
        if self.is_convolution(node) and value_of(first).dim() != 4:
            return []
        return [first] if residual is None else [first, residual]

    def _of_rank(self, node: Node) -> list[Node]:
        """The inputs with the rank of the result; without them a bias and other vectors."""
        value = value_of(node)
        rank = (value if isinstance(value, torch.Tensor) else value[0]).dim()
        return [each for each in tensors_of(node) if value_of(each).dim() == rank]

    def _inputs_of_all_elements(self, node: Node) -> list[Node]:
        """The inputs that are not broadcast."""
        value, tensors = value_of(node), tensors_of(node)
        shape = value.shape if isinstance(value, torch.Tensor) else value[0].shape
        whole = [n for n in tensors if same_sizes(value_of(n).shape, shape)]
        return whole if self.any_order or len(whole) == len(tensors) else []

    def reads_any_order(self, node: Node) -> bool:
        """True if a node's kernel reads each tensor in its own order and writes a row-major result."""
        if not self.any_order:
            return False
        traits, value = self.library.traits(node.target), value_of(node)
        if "reads_any_order" in traits:
            return isinstance(value, torch.Tensor) and is_either(value)
        return "any_order" in traits

    def follows_order(self, node: Node) -> bool:
        """True if a node's kernel reads and writes each tensor in its own order, and the result should have
        that of the inputs."""
        return self.any_order and "follows_order" in self.library.traits(node.target)

    def gathers_planes(self, node: Node) -> bool:
        """True for a float convolution whose kernel itself gathers the few channels of an image: it needs no
        copy before it."""
        if not self.any_order or not self.is_convolution(node):
            return False
        transposed, groups = (named_argument(node, name) for name in ("transposed", "groups"))
        image = value_of(input_of(node))
        is_float = image.dtype.is_floating_point and not transposed and groups == 1
        return is_float and isinstance(image.shape[1], int) and image.shape[1] <= IMAGE_CHANNELS

    def permuted_next(self, node: Node) -> list[int] | None:
        """The dimensions of the permutation that is the only reader of a node's result, if the node's kernel
        can write in any order; else None."""
        (user,) = node.users if len(node.users) == 1 else (None,)
        writes_any = self.any_order and "any_order" in self.library.traits(node.target)
        return permutation(user) if user is not None and writes_any else None

    def is_convolution(self, node: Node) -> bool:
        """True for a convolution: an operator that keeps its input's order and has a weight."""
        return (
            "keeps_order" in self.library.traits(node.target) and named_argument(node, "weight") is not None
        )

    def convolution_weight(self, node: Node) -> Node | None:
        """The node that a convolution reads as weight only; None if it reads it as another argument too."""
        if not self.is_convolution(node):
            return None
        weight = named_argument(node, "weight")
        assert isinstance(weight, Node)
        return weight if sum(argument is weight for argument in node.args) == 1 else None


def permutation(node: Node) -> list[int] | None:
    """The non-negative dimensions of a permute_copy node; None for another node."""
    return permutation_of(node) if node.target is aten.permute_copy.default else None


def tensors_of(node: Node) -> list[Node]:
    """The tensors that a node reads."""
    return [n for n in node.all_input_nodes if isinstance(value_of(n), torch.Tensor)]


def is_size_of(target: Any) -> bool:
    """True if an operator reads only the shape of a tensor."""
    return isinstance(target, OpOverload) and target._schema.name.startswith("aten::sym_")
