# SPDX-License-Identifier: BSD-3-Clause
"""Layer normalization; weight and bias stay float, because the integer operator absorbs them."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.patterns.base import annotate, is_float
from rushlight.quantize.specs import Specs

aten = torch.ops.aten


def norm(node: Node, specs: Specs) -> bool:
    """Annotates input and output with their own ranges."""
    if node.target is not aten.layer_norm.default or not is_float(node):
        return False
    source = node.args[0]
    if specs.output() is not None and is_float(source):
        annotate(node, {source: specs.activation()}, specs.output())
    return True
