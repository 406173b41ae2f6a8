# SPDX-License-Identifier: BSD-3-Clause
"""Folds batch normalization into the weights of the convolution or linear layer before it.

With s = gamma / sqrt(var + eps): weight' = weight * s, bias' = (bias - mean) * s + beta.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import overload_of, value_of
from rushlight.export.graph.rewrite import replace
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten

# Elements of a weight that are multiplied per step.
_PART = 1 << 16
_CONVOLUTIONS = {aten.conv1d.default, aten.conv2d.default, aten.conv3d.default}
_TRANSPOSED = {aten.conv_transpose1d.default, aten.conv_transpose2d.input, aten.conv_transpose3d.input}
_NORMALIZATIONS = {
    aten._native_batch_norm_legit_no_training.default,
    aten._native_batch_norm_legit.default,
    aten._batch_norm_no_update.default,
    aten.native_batch_norm.default,
    aten.cudnn_batch_norm.default,
    aten.batch_norm.default,
}


@dataclass(frozen=True)
class _Layer:
    """A layer with weights: the nodes of its arguments, and the dimension of the weight with the output
    channels."""

    node: Node
    weight: Node
    bias: Node | None
    bias_index: int
    channel_dim: int
    groups: int = 1


class FoldBatchNorm(Pass):
    """Rewrites `bn(conv(x))` to `conv(x)` with other weights if only the normalization reads the convolution,
    its statistics are constants, and nothing else reads the weight.

    The weights keep their dtype; the computation is in float64.
    """

    name = "fold_batch_norm"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"batch norms are folded"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        constants = Constants(program)
        modified = False
        for node in list(program.graph.nodes):
            norm = _normalization(node)
            if norm is None:
                continue
            refused = _fold(program, constants, norm)
            if refused:
                context.remarks.append(f"fold_batch_norm: {norm.node.name}: {refused}")
            modified |= not refused
        return constants.remove_unused() or modified


@dataclass(frozen=True)
class _Normalization:
    """A batch norm with running statistics; `result` is its normalized output."""

    node: Node
    result: Node
    weight: Any
    bias: Any
    mean: Any
    variance: Any
    epsilon: float


def _normalization(node: Node) -> _Normalization | None:
    if node.target not in _NORMALIZATIONS:
        return None
    declared = overload_of(node)._schema.arguments
    args: dict[str, Any] = {a.name: a.default_value for a in declared if a.has_default_value()}
    args.update(zip((a.name for a in declared), node.args, strict=False))
    args.update(node.kwargs)
    if args.get("training"):
        return None
    result = node
    if isinstance(value_of(node), (tuple, list)):
        users = list(node.users)
        if len(users) != 1 or users[0].target is not operator.getitem or users[0].args[1] != 0:
            return None
        result = users[0]
    return _Normalization(
        node, result, args["weight"], args["bias"], args["running_mean"], args["running_var"], args["eps"]
    )


def _layer(node: Any) -> _Layer | None:
    """The node as a layer whose output scales with its weights; None if it is none."""
    if not isinstance(node, Node) or node.op != "call_function":
        return None
    args: list[Any] = [*node.args, *[None] * 9]
    if node.target is aten.convolution.default:
        transposed, groups = bool(args[6]), args[8]
        return _Layer(node, args[1], args[2], 2, 1 if transposed else 0, groups)
    if node.target in _CONVOLUTIONS:
        return _Layer(node, args[1], args[2], 2, 0)
    if node.target in _TRANSPOSED:
        options: dict[str, Any] = node.kwargs
        groups = args[6] if len(node.args) > 6 else options.get("groups", 1)
        return _Layer(node, args[1], args[2], 2, 1, groups)
    if node.target is aten.linear.default and value_of(node).dim() == 2:
        return _Layer(node, args[1], args[2], 2, 0)
    if node.target is aten.addmm.default and not node.kwargs:
        return _Layer(node, args[2], args[0], 0, 1)
    return None


def _fold(program: ExportedProgram, constants: Constants, norm: _Normalization) -> str:
    """Folds one batch norm; returns the reason if it is refused, else an empty string."""
    layer = _layer(norm.node.args[0])
    if layer is None:
        return "no convolution or linear layer precedes it"
    if len(layer.node.users) != 1:
        return "something else reads the layer before it"
    if len(layer.weight.users) != 1:
        return "the layer's weight has other readers"
    weight = constants.get(layer.weight)
    read = (norm.mean, norm.variance, *(n for n in (norm.weight, norm.bias, layer.bias) if n is not None))
    if weight is None or any(constants.get(n) is None for n in read):
        return "weights or statistics are not constant"
    if value_of(norm.result).dtype != weight.dtype:
        return "it changes the dtype"
    scale, shift = _affine(norm, layer, constants)
    if shift.shape != scale.shape:
        return "the layer's bias is not one value per channel"
    name = constants.name_of(layer.weight)
    of_bias = constants.name_of(layer.bias) if layer.bias is not None else _sibling(name)
    _give(
        layer,
        constants.add(_scaled(weight, scale, layer), name),
        constants.add(shift.to(weight.dtype), of_bias),
    )
    replace(program, norm.result, layer.node)
    if norm.node is not norm.result:
        norm.node.graph.erase_node(norm.node)
    return ""


def _affine(norm: _Normalization, layer: _Layer, constants: Constants) -> tuple[torch.Tensor, torch.Tensor]:
    """The factors of the weights and the new bias, both float64 [channels]."""

    def wide(node: Any, missing: float) -> torch.Tensor:
        found = constants.get(node)
        return torch.tensor(missing, dtype=torch.float64) if found is None else found.detach().double()

    scale = wide(norm.weight, 1.0) * torch.rsqrt(wide(norm.variance, 1.0) + norm.epsilon)
    shift = (wide(layer.bias, 0.0) - wide(norm.mean, 0.0)) * scale + wide(norm.bias, 0.0)
    return scale, shift


def _sibling(name: str) -> str:
    """The name of the bias that belongs to a weight: encoder.conv.bias for encoder.conv.weight."""
    return f"{name.rpartition('.')[0]}.bias".lstrip(".")


def _give(layer: _Layer, weight: Node, bias: Node) -> None:
    """Replaces the layer's weight and bias."""
    layer.node.replace_input_with(layer.weight, weight)
    args = [*layer.node.args, *[None] * (layer.bias_index + 1 - len(layer.node.args))]
    args[layer.bias_index] = bias
    layer.node.args = tuple(args)
    layer.node.kwargs = {k: v for k, v in layer.node.kwargs.items() if k != "bias"}


def _scaled(weight: torch.Tensor, scale: torch.Tensor, layer: _Layer) -> torch.Tensor:
    """The weight with each output channel multiplied by its factor, in the weight's dtype and layout."""
    weight = weight.detach()
    if layer.channel_dim == 0:
        factors = scale.view(-1, *[1] * (weight.dim() - 1))
    else:  # [in, out / groups, ...]: a group's rows take the scales of its outputs
        per_group = scale.view(layer.groups, 1, -1)
        per_row = per_group.expand(-1, weight.shape[0] // layer.groups, -1)
        factors = per_row.reshape(weight.shape[0], -1, *[1] * (weight.dim() - 2))
    scaled = torch.empty_like(weight)
    # In parts: a float64 copy of the whole weight would be the peak memory of an export.
    rows = max(_PART // max(weight[:1].numel(), 1), 1)
    for part, source, factor in zip(*(torch.split(t, rows) for t in (scaled, weight, factors)), strict=True):
        part.copy_(source.double() * factor)
    return scaled
