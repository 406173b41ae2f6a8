# SPDX-License-Identifier: BSD-3-Clause
"""Softmax, whose results are from 0 to 1 and need no calibration."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.config import Static
from rushlight.quantize.patterns.base import annotate, is_float, is_quantized
from rushlight.quantize.specs import Specs

aten = torch.ops.aten
_OPERATORS = {aten.softmax.int, aten._softmax.default}


def softmax(node: Node, specs: Specs) -> bool:
    """Annotates softmax after a quantized operator, and always if products of activations are quantized."""
    if node.target not in _OPERATORS or not is_float(node):
        return False
    source = node.args[0]
    behind_products = isinstance(specs.scheme, Static) and specs.scheme.matmul
    if specs.output() is not None and is_float(source) and (is_quantized(source) or behind_products):
        annotate(node, {source: specs.activation()}, specs.share_of_one())
    return True
