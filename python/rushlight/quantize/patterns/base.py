# SPDX-License-Identifier: BSD-3-Clause
"""What patterns share: looking around a node, and writing annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeGuard

import torch
from torch.fx import Node
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation, QuantizationSpecBase
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from rushlight.quantize.specs import Specs

# Annotates the operators that begin at a node; True when the node is one of the pattern's.
Pattern = Callable[[Node, Specs], bool]

_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def is_float(node: object) -> TypeGuard[Node]:
    """Whether the node's value is a tensor of floating numbers."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    return isinstance(value, torch.Tensor) and value.dtype in _FLOATS


def is_constant(node: object) -> bool:
    """Whether the node's value depends on parameters and buffers only."""
    if not isinstance(node, Node) or node.op in ("placeholder", "call_module", "output"):
        return False
    return node.op == "get_attr" or (
        all(map(is_constant, node.all_input_nodes)) and bool(node.all_input_nodes)
    )


def annotation(node: Node) -> QuantizationAnnotation | None:
    """What a pattern wrote about the node."""
    return node.meta.get(Q_ANNOTATION_KEY)


def is_annotated(node: Node) -> bool:
    """Whether some pattern has the node already."""
    found = annotation(node)
    return found is not None and found._annotated


def is_quantized(node: Node) -> bool:
    """Whether the node's result is quantized."""
    found = annotation(node)
    return found is not None and found.output_qspec is not None


def annotate(
    node: Node,
    inputs: Mapping[Node, QuantizationSpecBase | None],
    output: QuantizationSpecBase | None = None,
) -> None:
    """Say how the node's inputs and its output are quantized; inputs with None stay as they are."""
    node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
        input_qspec_map=dict(inputs),
        output_qspec=output,
        _annotated=True,
    )


def annotate_chain(
    chain: list[Node], inputs: Mapping[Node, QuantizationSpecBase | None], output: QuantizationSpecBase | None
) -> None:
    """As annotate, of operators that one kernel computes: what is between them is not quantized."""
    for node in chain:
        annotate(node, inputs if node is chain[0] else {}, output if node is chain[-1] else None)


def follow(node: Node, targets: Iterable[object]) -> Node | None:
    """The node's only user, if it is one of those operators and takes the node first."""
    if len(node.users) != 1:
        return None
    user = next(iter(node.users))
    taken = user.op == "call_function" and user.target in set(targets) and user.args[0] is node
    return user if taken and not is_annotated(user) else None
