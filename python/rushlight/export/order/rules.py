# SPDX-License-Identifier: BSD-3-Clause
"""What operators ask of the dim orders of their inputs, and which their results have: the traits of the
operator table's rows, read for the nodes of a graph."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Node

from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.graph.nodes import input_of, named_argument, permutation_of, value_of
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.order.orders import is_either

aten = torch.ops.aten


class OrderRules:
    """The rules of one runtime's operators.

    Where its kernels do not take any order (`any_order`), results keep an order only if no input is
    broadcast, as ExecuTorch 1.5.1 computes wrong numbers there in channels-last.
    """

    def __init__(self, library: OperatorLibrary) -> None:
        self.library, self.any_order = library, library.any_order

    def deciding_inputs(self, node: Node) -> list[Node]:
        """The inputs whose dim order a node's results have, if they all have the same one; none where the
        results are row-major anyway."""
        if not isinstance(node.target, OpOverload) or not node.args:
            return []
        traits = self.library.traits(node.target)
        if "keeps_order" in traits:
            return self._first_and_residual(node)
        if "pointwise" in traits or torch.Tag.pointwise in node.target.tags:
            return self._inputs_of_all_elements(node)
        return []

    def _first_and_residual(self, node: Node) -> list[Node]:
        first, residual = input_of(node), named_argument(node, "residual")
        if self.is_convolution(node) and value_of(first).dim() != 4:
            return []
        return [first] if residual is None else [first, residual]

    def _inputs_of_all_elements(self, node: Node) -> list[Node]:
        """Those that are not broadcast."""
        value, tensors = value_of(node), tensors_of(node)
        shape = value.shape if isinstance(value, torch.Tensor) else value[0].shape
        whole = [n for n in tensors if same_sizes(value_of(n).shape, shape)]
        return whole if self.any_order or len(whole) == len(tensors) else []

    def reads_any_order(self, node: Node) -> bool:
        """Whether a node's kernel reads each tensor in its own order, and writes a row-major result."""
        if not self.any_order:
            return False
        traits, value = self.library.traits(node.target), value_of(node)
        if "reads_any_order" in traits:
            return isinstance(value, torch.Tensor) and is_either(value)
        return "any_order" in traits

    def permuted_next(self, node: Node) -> list[int] | None:
        """The dimensions of the permutation that alone reads a node's result, where its kernel writes in any
        order."""
        (user,) = node.users if len(node.users) == 1 else (None,)
        writes_any = self.any_order and "any_order" in self.library.traits(node.target)
        return permutation(user) if user is not None and writes_any else None

    def is_convolution(self, node: Node) -> bool:
        """Whether a node convolves: it keeps the order of its input, and has a weight."""
        return (
            "keeps_order" in self.library.traits(node.target) and named_argument(node, "weight") is not None
        )

    def convolution_weight(self, node: Node) -> Node | None:
        """The node that a convolution reads as weight and as nothing else."""
        if not self.is_convolution(node):
            return None
        weight = named_argument(node, "weight")
        assert isinstance(weight, Node)
        return weight if sum(argument is weight for argument in node.args) == 1 else None


def permutation(node: Node) -> list[int] | None:
    """The dimensions of a node that permutes, counted from 0; None of any other."""
    return permutation_of(node) if node.target is aten.permute_copy.default else None


def tensors_of(node: Node) -> list[Node]:
    """The tensors that a node reads."""
    return [n for n in node.all_input_nodes if isinstance(value_of(n), torch.Tensor)]


def is_size_of(target: Any) -> bool:
    """Whether an operator asks for a tensor's shape only."""
    return isinstance(target, OpOverload) and target._schema.name.startswith("aten::sym_")
