# SPDX-License-Identifier: BSD-3-Clause
"""Linear layers, with the activation function after them."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.patterns.activation import with_activation
from rushlight.quantize.patterns.base import annotate_chain, is_constant, is_float
from rushlight.quantize.specs import Specs


def linear(node: Node, specs: Specs) -> bool:
    """Annotates a linear layer with constant weight; others stay in float."""
    if node.target is not torch.ops.aten.linear.default:
        return False
    source, weight = node.args[:2]
    if is_float(source) and is_float(weight) and is_constant(weight):
        chain = with_activation(node) if specs.output() is not None else [node]
        annotate_chain(chain, {source: specs.activation(), weight: specs.weight()}, specs.output())
    return True
