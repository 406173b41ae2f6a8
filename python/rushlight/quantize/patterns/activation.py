# SPDX-License-Identifier: BSD-3-Clause
"""Activation functions that a kernel computes by clamping its result."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.patterns.base import annotate, follow, is_float, is_quantized
from rushlight.quantize.specs import Specs

aten = torch.ops.aten
CLAMPS = frozenset(
    {aten.relu.default, aten.relu6.default, aten.hardtanh.default, aten.clamp.default, aten.clamp_min.default}
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
