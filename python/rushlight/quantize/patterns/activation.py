# SPDX-License-Identifier: BSD-3-Clause
"""Activation functions: those that a kernel computes by clamping its result, and those that become tables."""

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
    """The node, and the activation function behind it that is computed with it."""
    user = follow(node, CLAMPS)
    return [node] if user is None else [node, user]


def activation(node: Node, specs: Specs) -> bool:
    """One that stands alone: its output has a range of its own. Behind an operator that computes in float it
    computes in float, too: two more roundings would gain nothing."""
    if node.target not in CLAMPS or not is_float(node):
        return False
    source = node.all_input_nodes[0]
    if specs.output() is not None and (source.op == "placeholder" or is_quantized(source)):
        annotate(node, {source: specs.activation()}, specs.output())
    return True


def tabulated(node: Node, specs: Specs) -> bool:
    """A function of a quantized tensor, whose output has a range of its own: a table of 256 computes it."""
    if node.target not in TABLES or not is_float(node):
        return False
    source = node.all_input_nodes[0]
    if specs.output() is not None and is_quantized(source):
        annotate(node, {source: specs.activation()}, specs.output())
    return True
