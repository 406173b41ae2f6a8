# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of the patterns: queries about nodes, and annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeGuard

import torch
from torch.fx import Node
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation, QuantizationSpecBase
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from rushlight.quantize.specs import Specs

# Annotates the operators that begin at a node. Returns True if the pattern accepts the node.
Pattern = Callable[[Node, Specs], bool]

_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def is_float(node: object) -> TypeGuard[Node]:
    """True if the node's value is a floating-point tensor."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    return isinstance(value, torch.Tensor) and value.dtype in _FLOATS


def is_constant(node: object) -> bool:
    """True if the node's value depends on parameters and buffers only."""
    if not isinstance(node, Node) or node.op in ("placeholder", "call_module", "output"):
        return False
    return node.op == "get_attr" or (
        all(map(is_constant, node.all_input_nodes)) and bool(node.all_input_nodes)
    )


def annotation(node: Node) -> QuantizationAnnotation | None:
    """The annotation of the node; None if it has none."""
    return node.meta.get(Q_ANNOTATION_KEY)


def is_annotated(node: Node) -> bool:
    """True if a pattern has annotated the node."""
    found = annotation(node)
    return found is not None and found._annotated


def is_quantized(node: Node) -> bool:
    """True if a pattern quantizes the node's result."""
    found = annotation(node)
    return found is not None and found.output_qspec is not None


def reads_integers(user: Node, node: Node) -> bool:
    """True if a pattern quantizes the node for this user."""
    found = annotation(user)
    return found is not None and found.input_qspec_map.get(node) is not None


def annotate(
    node: Node,
    inputs: Mapping[Node, QuantizationSpecBase | None],
    output: QuantizationSpecBase | None = None,
) -> None:
    """Annotates how the node's inputs and output are quantized; inputs with None are not."""
    node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
        input_qspec_map=dict(inputs),
        output_qspec=output,
        _annotated=True,
    )


def annotate_chain(
    chain: list[Node], inputs: Mapping[Node, QuantizationSpecBase | None], output: QuantizationSpecBase | None
) -> None:
    """As annotate, for operators that one kernel computes: the values between them are not quantized."""
    for node in chain:
        annotate(node, inputs if node is chain[0] else {}, output if node is chain[-1] else None)


def follow(node: Node, targets: Iterable[object]) -> Node | None:
    """The node's only user, if it calls one of these operators with the node first and has no annotation;
    else None."""
    if len(node.users) != 1:
        return None
    user = next(iter(node.users))
    taken = user.op == "call_function" and user.target in set(targets) and user.args[0] is node
    return user if taken and not is_annotated(user) else None
