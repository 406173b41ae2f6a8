# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions of all kinds, with the batch norm and activation function after them."""

from __future__ import annotations

import torch
from torch.fx import Node

from rushlight.quantize.config import Dynamic
from rushlight.quantize.patterns.activation import with_activation
from rushlight.quantize.patterns.base import annotate_chain, follow, is_constant, is_float
from rushlight.quantize.specs import Specs

aten = torch.ops.aten
_PLAIN = {
    aten.conv1d.default,
    aten.conv1d.padding,
    aten.conv2d.default,
    aten.conv2d.padding,
    aten.conv3d.default,
    aten.conv3d.padding,
}
_TRANSPOSED = {aten.conv_transpose1d.default, aten.conv_transpose2d.input, aten.conv_transpose3d.input}
_BATCH_NORM = {aten.batch_norm.default}
# index in (input, weight, bias, stride, padding, output_padding, groups, dilation)
_TRANSPOSED_GROUPS = 6


def convolution(node: Node, specs: Specs) -> bool:
    """Annotates a convolution with constant weight. Dynamic schemes leave convolutions in float."""
    if node.target not in _PLAIN | _TRANSPOSED:
        return False
    source, weight = node.args[:2]
    if not (is_float(source) and is_float(weight) and is_constant(weight)):
        return True
    if isinstance(specs.scheme, Dynamic):
        return True
    chain = [node]
    if specs.output() is not None:
        batch_norm = follow(node, _BATCH_NORM)
        chain += [batch_norm] if batch_norm is not None else []
        chain += with_activation(chain[-1])[1:]
    annotate_chain(chain, {source: specs.activation(), weight: _weight(node, specs)}, specs.output())
    return True


def _weight(node: Node, specs: Specs) -> object:
    """The specification of the weight. A transposed convolution has its channels in dimension 1, but only one
    group's; with several groups it uses one scale."""
    if node.target in _PLAIN:
        return specs.weight()
    groups = node.args[_TRANSPOSED_GROUPS] if len(node.args) > _TRANSPOSED_GROUPS else 1
    return specs.weight(channel_axis=1, per_tensor=bool(groups != 1))
