# SPDX-License-Identifier: BSD-3-Clause
"""Sums, differences and products of two tensors, with the activation function after them."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.patterns.activation import with_activation
from rushlight.quantize.patterns.base import annotate_chain, is_float
from rushlight.quantize.specs import Specs

aten = torch.ops.aten
_OPERATORS = {aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor}


def elementwise(node: Node, specs: Specs) -> bool:
    """Annotates each input with its own range. An operation with a scalar stays in float."""
    if node.target not in _OPERATORS:
        return False
    first, second = node.args[:2]
    if specs.output() is not None and is_float(first) and is_float(second):
        inputs = {first: specs.activation(), second: specs.activation()}
        annotate_chain(with_activation(node), inputs, specs.output())
    return True
