# SPDX-License-Identifier: BSD-3-Clause
"""Folds products with constants into the weights of the layer before or after them.

(W x + b) * s = (s W) x + s b        W (x * s) + b = (W s) x + b
"""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import arguments_of, input_of, value_of
from rushlight.export.graph.rewrite import replace
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.passes.base import Pass, PassContext
from rushlight.export.passes.layers import Layer, give, layer_of, scaled

aten = torch.ops.aten

_DIVISIONS = {aten.div.Tensor, aten.div.Scalar}
_PRODUCTS = {aten.mul.Tensor, aten.mul.Scalar, *_DIVISIONS}
_VIEWS = {
    aten.view_copy.default,
    aten.permute_copy.default,
    aten.transpose_copy.int,
    aten.unsqueeze_copy.default,
    aten.squeeze_copy.dims,
}


class FoldScales(Pass):
    """Folds factors for the whole tensor, also through views, and factors for each output channel of the
    layer before. Nothing else may read the layer, the views or the weights.

    The weights keep their dtype; the computation is in float64.
    """

    name = "fold_scales"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"scales are folded"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        constants, modified = Constants(program), False
        for node in list(program.graph.nodes):
            found = _product(node, constants)
            if found is not None:
                modified |= _fold(program, constants, node, *found)
        return constants.remove_unused() or modified


def _product(node: Node, constants: Constants) -> tuple[Node, torch.Tensor] | None:
    """The operand and the factor, float64, of a product with a constant that has the operand's sizes and
    dtype; else None."""
    if node.op != "call_function" or node.target not in _PRODUCTS or node.kwargs:
        return None
    first, second = arguments_of(node)
    if node.target is aten.mul.Tensor and _factor(first, constants) is not None:
        first, second = second, first
    factor = _factor(second, constants)
    if factor is None or not isinstance(first, Node) or not isinstance(value_of(first), torch.Tensor):
        return None
    if node.target in _DIVISIONS:
        if not bool((factor != 0).all()):
            return None
        factor = 1 / factor
    own, operand = value_of(node), value_of(first)
    fits = operand.is_floating_point() and operand.dtype == own.dtype and same_sizes(operand.shape, own.shape)
    return (first, factor) if fits else None


def _factor(value: Any, constants: Constants) -> torch.Tensor | None:
    """A number or a constant as float64; None for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return torch.tensor(value, dtype=torch.float64)
    tensor = constants.get(value)
    return tensor.detach().double() if tensor is not None and tensor.is_floating_point() else None


def _fold(
    program: ExportedProgram, constants: Constants, node: Node, operand: Node, factor: torch.Tensor
) -> bool:
    return _fold_back(program, constants, node, operand, factor) or _fold_ahead(
        program, constants, node, operand, factor
    )


def _fold_back(
    program: ExportedProgram, constants: Constants, node: Node, operand: Node, factor: torch.Tensor
) -> bool:
    """Folds into the layer that computes the operand."""
    source = operand
    while factor.numel() == 1 and source.target in _VIEWS and len(source.users) == 1:
        source = input_of(source)
    layer = layer_of(source)
    if layer is None or len(source.users) != 1 or not _is_own(layer, constants):
        return False
    weight = constants.get(layer.weight)
    assert weight is not None
    by_channel = _by_channel(factor, value_of(source).dim(), layer, layer.channels(weight))
    if by_channel is None:
        return False
    bias = None
    if layer.bias is not None:
        values = constants.get(layer.bias)
        if values is None or values.shape != by_channel.shape:
            return False
        scaled_bias = (values.detach().double() * by_channel).to(values.dtype)
        bias = constants.add(scaled_bias, constants.name_of(layer.bias))
    give(layer, constants.add(scaled(weight, by_channel, layer), constants.name_of(layer.weight)), bias)
    replace(program, node, operand)
    return True


def _by_channel(factor: torch.Tensor, rank: int, layer: Layer, channels: int) -> torch.Tensor | None:
    """The factor of each output channel; None if it differs along other dimensions."""
    if factor.numel() == 1:
        return factor.reshape(1).expand(channels)
    sizes = [1] * (rank - factor.dim()) + list(factor.shape)
    sizes[-1 if layer.is_linear else 1] = 1
    return factor.flatten() if sizes == [1] * rank and factor.numel() == channels else None


def _fold_ahead(
    program: ExportedProgram, constants: Constants, node: Node, operand: Node, factor: torch.Tensor
) -> bool:
    """Folds into the layer that alone reads the product."""
    reader = next(iter(node.users), None)
    layer = layer_of(reader)
    if factor.numel() != 1 or layer is None or len(node.users) != 1 or not _is_own(layer, constants):
        return False
    if sum(each is node for each in layer.node.args) != 1 or node in (layer.weight, layer.bias):
        return False
    weight = constants.get(layer.weight)
    assert weight is not None
    whole = factor.reshape(1).expand(layer.channels(weight))
    made = constants.add(scaled(weight, whole, layer), constants.name_of(layer.weight))
    give(layer, made, layer.bias)
    replace(program, node, operand)
    return True


def _is_own(layer: Layer, constants: Constants) -> bool:
    """True if the layer's weight is a floating constant that nothing else reads."""
    weight = constants.get(layer.weight)
    return weight is not None and weight.is_floating_point() and len(layer.weight.users) == 1
