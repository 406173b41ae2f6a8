# SPDX-License-Identifier: BSD-3-Clause
"""Layer normalization, whose weight and bias stay as they are: they become part of the integer operator."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.patterns.base import annotate, is_float
from rushlight.quantize.specs import Specs

aten = torch.ops.aten


def norm(node: Node, specs: Specs) -> bool:
    """Input and output have ranges of their own."""
    if node.target is not aten.layer_norm.default or not is_float(node):
        return False
    source = node.args[0]
    if specs.output() is not None and is_float(source):
        annotate(node, {source: specs.activation()}, specs.output())
    return True
