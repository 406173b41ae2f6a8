# SPDX-License-Identifier: BSD-3-Clause
"""Means over dimensions, with their own output range."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.patterns.base import annotate, is_float
from rushlight.quantize.specs import Specs

aten = torch.ops.aten


def mean(node: Node, specs: Specs) -> bool:
    """Annotates means for static schemes."""
    if node.target is not aten.mean.dim or not is_float(node):
        return False
    if specs.output() is not None:
        annotate(node, {node.all_input_nodes[0]: specs.activation()}, specs.output())
    return True
