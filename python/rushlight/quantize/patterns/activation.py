# SPDX-License-Identifier: BSD-3-Clause
"""Activation functions: some are fused as a clamp of a kernel's result, others become lookup tables."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.patterns.base import annotate, follow, is_float, is_quantized
from rushlight.quantize.specs import Specs

aten = torch.ops.aten
CLAMPS = frozenset(
    {aten.relu.default, aten.relu6.default, aten.hardtanh.default, aten.clamp.default, aten.clamp_min.default}
)

TABLES = frozenset(
    {
        aten.celu.default,
        aten.elu.default,
        aten.gelu.default,
        aten.hardsigmoid.default,
        aten.hardswish.default,
        aten.leaky_relu.default,
        aten.mish.default,
        aten.selu.default,
        aten.sigmoid.default,
        aten.silu.default,
        aten.softplus.default,
        aten.tanh.default,
    }
)


def with_activation(node: Node) -> list[Node]:
    """The node and, if present, the activation function after it that its kernel fuses."""
    user = follow(node, CLAMPS)
    return [node] if user is None else [node, user]


def activation(node: Node, specs: Specs) -> bool:
    """Annotates an unfused clamp with its own output range. After a float operator it stays in float, because
    two more roundings would gain nothing."""
    if node.target not in CLAMPS or not is_float(node):
        return False
    source = node.all_input_nodes[0]
    if specs.output() is not None and (source.op == "placeholder" or is_quantized(source)):
        annotate(node, {source: specs.activation()}, specs.output())
    return True


def tabulated(node: Node, specs: Specs) -> bool:
    """Annotates a function of a quantized tensor with its own output range: a table of 256 entries computes
    it."""
    if node.target not in TABLES or not is_float(node):
        return False
    source = node.all_input_nodes[0]
    if specs.output() is not None and is_quantized(source):
        annotate(node, {source: specs.activation()}, specs.output())
    return True
