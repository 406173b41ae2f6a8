# SPDX-License-Identifier: BSD-3-Clause
"""Merges parallel convolutions whose results are added (RepVGG: Ding et al., 2021).

    conv(x, W) + conv(x, V) = conv(x, W + V)

A smaller kernel is padded with zeros to the size of the larger one. A batch norm of the input
counts as a convolution of one tap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.nn.functional import pad

from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import arguments_of, value_of
from rushlight.export.graph.rewrite import insert_before, replace
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.passes.base import Pass, PassContext
from rushlight.export.passes.fold_batch_norm import affine_of, normalization

aten = torch.ops.aten


@dataclass(frozen=True)
class _Branch:
    """A convolution of an input: node is its result; weight, float64, is [outputs, inputs of a group,
    taps...]; settings are strides, dilation and groups."""

    node: Node
    source: Node
    weight: torch.Tensor
    bias: torch.Tensor
    padding: Sequence[int]
    settings: tuple[Sequence[int], Sequence[int], int]


class MergeConvolutions(Pass):
    """Merges two branches if nothing else reads their results and one kernel covers the other."""

    name = "merge_convolutions"
    requires = frozenset({"views are copies", "batch norms are folded"})
    ensures = frozenset({"parallel convolutions are merged"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        constants, modified = Constants(program), False
        for node in list(program.graph.nodes):
            if node.target is aten.add.Tensor and not node.kwargs:
                modified |= _merge(program, node, constants)
        return constants.remove_unused() or modified


def _merge(program: ExportedProgram, node: Node, constants: Constants) -> bool:
    first, second = arguments_of(node)
    for one, other in ((first, second), (second, first)):
        large = _convolution(one, constants)
        if large is None or not isinstance(other, Node):
            continue
        small = _convolution(other, constants) or _normalized(other, large, constants)
        place = None if small is None else _place(small, large)
        if small is None or place is None or not same_sizes(value_of(one).shape, value_of(other).shape):
            continue
        margins = zip(place, small.weight.shape[2:], large.weight.shape[2:], strict=True)
        ends = [(start, whole - own - start) for start, own, whole in margins]
        padded = pad(small.weight, [each for pair in reversed(ends) for each in pair])
        weight = large.weight + padded
        _give(program, node, large, weight, large.bias + small.bias, constants)
        return True
    return False


def _convolution(node: Any, constants: Constants) -> _Branch | None:
    """The node as a branch; None if it is something else."""
    if not isinstance(node, Node) or node.target is not aten.convolution.default or len(node.users) != 1:
        return None
    source, weight, bias, stride, padding, dilation, transposed, _, groups = arguments_of(node)
    values, added = constants.get(weight), constants.get(bias)
    if values is None or not values.is_floating_point() or transposed or (added is None) != (bias is None):
        return None
    values = values.detach().double()
    shift = values.new_zeros(len(values)) if added is None else added.detach().double()
    settings = (list(stride), list(dilation), groups)
    return _Branch(node, source, values, shift, list(padding), settings)


def _normalized(node: Node, like: _Branch, constants: Constants) -> _Branch | None:
    """A batch norm of the input of `like`, as a convolution of one tap."""
    norm = normalization(node.args[0] if node.op == "call_function" and node.args else None)
    if norm is None or norm.result is not node or len(node.users) != 1:
        return None
    found = affine_of(norm, constants)
    stride, _, groups = like.settings
    if found is None or norm.node.args[0] is not like.source or any(step != 1 for step in stride):
        return None
    scale, shift = found
    channels = len(scale)
    group, taps = like.weight.shape[1], like.weight.dim() - 2
    if channels != len(like.weight) or group * groups != channels:
        return None
    weight = like.weight.new_zeros(channels, group, *[1] * taps)
    rows = torch.arange(channels)
    weight.flatten(1)[rows, rows % group] = scale  # a view: each filter has one tap
    return _Branch(node, like.source, weight, shift, [0] * taps, like.settings)


def _place(small: _Branch, large: _Branch) -> list[int] | None:
    """The taps of the large kernel at which the small one starts; None if it does not lie within it."""
    if small.source is not large.source or small.settings != large.settings:
        return None
    if small.weight.shape[:2] != large.weight.shape[:2]:
        return None
    place = []
    sizes = zip(small.weight.shape[2:], large.weight.shape[2:], strict=True)
    for (own, whole), less, more, step in zip(
        sizes, small.padding, large.padding, large.settings[1], strict=True
    ):
        start, rest = divmod(more - less, step)
        if rest or start < 0 or start + own > whole:
            return None
        place.append(start)
    return place


def _give(
    program: ExportedProgram,
    node: Node,
    branch: _Branch,
    weight: torch.Tensor,
    bias: torch.Tensor,
    constants: Constants,
) -> None:
    """Replaces a sum by one convolution."""
    given: Sequence[Any] = branch.node.args
    own = value_of(given[1]).dtype
    name = constants.name_of(given[1])
    made = [constants.add(each.to(own), name) for each in (weight, bias)]
    args = (given[0], *made, *given[3:])
    whole = insert_before(node, aten.convolution.default, args, value=value_of(node), origin=branch.node)
    replace(program, node, whole)
