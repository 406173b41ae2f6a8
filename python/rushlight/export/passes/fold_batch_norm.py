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
from rushlight.export.passes.layers import give, layer_of, scaled, sibling

aten = torch.ops.aten

_NORMALIZATIONS = {
    aten._native_batch_norm_legit_no_training.default,
    aten._native_batch_norm_legit.default,
    aten._batch_norm_no_update.default,
    aten.native_batch_norm.default,
    aten.cudnn_batch_norm.default,
    aten.batch_norm.default,
}


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
            norm = normalization(node)
            if norm is None:
                continue
            refused = _fold(program, constants, norm)
            if refused:
                context.remarks.append(f"fold_batch_norm: {norm.node.name}: {refused}")
            modified |= not refused
        return constants.remove_unused() or modified


@dataclass(frozen=True)
class Normalization:
    """A batch norm with running statistics; `result` is its normalized output."""

    node: Node
    result: Node
    weight: Any
    bias: Any
    mean: Any
    variance: Any
    epsilon: float


def normalization(node: Any) -> Normalization | None:
    """The node as a batch norm whose statistics do not change; None if it is none."""
    if not isinstance(node, Node) or node.target not in _NORMALIZATIONS:
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
    return Normalization(
        node, result, args["weight"], args["bias"], args["running_mean"], args["running_var"], args["eps"]
    )


def _fold(program: ExportedProgram, constants: Constants, norm: Normalization) -> str:
    """Folds one batch norm; returns the reason if it is refused, else an empty string."""
    layer = layer_of(norm.node.args[0])
    if layer is None or (layer.is_linear and value_of(layer.node).dim() != 2):
        return "no convolution or linear layer precedes it"
    if len(layer.node.users) != 1:
        return "something else reads the layer before it"
    if len(layer.weight.users) != 1:
        return "the layer's weight has other readers"
    weight = constants.get(layer.weight)
    affine = affine_of(norm, constants, layer.bias)
    if weight is None or affine is None:
        return "weights or statistics are not constant"
    if value_of(norm.result).dtype != weight.dtype:
        return "it changes the dtype"
    scale, shift = affine
    if shift.shape != scale.shape:
        return "the layer's bias is not one value per channel"
    name = constants.name_of(layer.weight)
    of_bias = constants.name_of(layer.bias) if layer.bias is not None else sibling(name)
    give(
        layer,
        constants.add(scaled(weight, scale, layer), name),
        constants.add(shift.to(weight.dtype), of_bias),
    )
    replace(program, norm.result, layer.node)
    if norm.node is not norm.result:
        norm.node.graph.erase_node(norm.node)
    return ""


def affine_of(
    norm: Normalization, constants: Constants, bias: Any = None
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The factors and offsets by which a batch norm changes x, with x + bias as its input: both float64
    [channels]. None if they are not constant."""
    read = (norm.mean, norm.variance, *(n for n in (norm.weight, norm.bias, bias) if n is not None))
    if any(constants.get(n) is None for n in read):
        return None

    def wide(node: Any, missing: float) -> torch.Tensor:
        found = constants.get(node)
        return torch.tensor(missing, dtype=torch.float64) if found is None else found.detach().double()

    scale = wide(norm.weight, 1.0) * torch.rsqrt(wide(norm.variance, 1.0) + norm.epsilon)
    shift = (wide(bias, 0.0) - wide(norm.mean, 0.0)) * scale + wide(norm.bias, 0.0)
    return scale, shift
