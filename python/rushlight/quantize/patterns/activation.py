# SPDX-License-Identifier: BSD-3-Clause
"""Activation functions that a kernel computes by clamping its result."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.patterns.base import annotate, follow, is_float
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
    """One that stands alone: its output has a range of its own."""
    if node.target not in CLAMPS or not is_float(node):
        return False
    if specs.output() is not None:
        annotate(node, {node.all_input_nodes[0]: specs.activation()}, specs.output())
    return True
