# SPDX-License-Identifier: BSD-3-Clause
"""Operators that move, select or average elements: quantized if their input is, with the input's range."""

from __future__ import annotations

import operator

import torch
from torch.fx import Node
from torchao.quantization.pt2e.quantizer import SharedQuantizationSpec
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from rushlight.quantize.patterns.activation import TABLES
from rushlight.quantize.patterns.base import annotate, is_annotated, is_float, is_quantized, reads_integers
from rushlight.quantize.specs import Specs

aten = torch.ops.aten
_MOVING = {
    aten.adaptive_avg_pool1d.default,
    aten.adaptive_avg_pool2d.default,
    aten.adaptive_avg_pool3d.default,
    aten.alias.default,
    aten.avg_pool1d.default,
    aten.avg_pool2d.default,
    aten.avg_pool3d.default,
    aten.channel_shuffle.default,
    aten.clone.default,
    aten.contiguous.default,
    aten.detach.default,
    aten.dropout.default,
    aten.expand.default,
    aten.flatten.using_ints,
    aten.flip.default,
    aten.max_pool1d.default,
    aten.max_pool2d.default,
    aten.max_pool3d.default,
    aten.movedim.int,
    aten.permute.default,
    aten.pixel_shuffle.default,
    aten.pixel_unshuffle.default,
    aten.repeat.default,
    aten.reshape.default,
    aten.roll.default,
    aten.select.int,
    aten.slice.Tensor,
    aten.squeeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.t.default,
    aten.transpose.int,
    aten.unflatten.int,
    aten.unsqueeze.default,
    aten.upsample_nearest1d.vec,
    aten.upsample_nearest2d.vec,
    aten.view.default,
}
_SPLITTING = {aten.chunk.default, aten.split.Tensor, aten.split.sizes, aten.split_with_sizes.default}
_PADDING = {aten.pad.default, aten.constant_pad_nd.default}


def moving(node: Node, specs: Specs) -> bool:
    """Annotates for static schemes; the input's producer must have been visited before."""
    moves = node.target in _MOVING or _pads_zeros(node)
    if specs.output() is None or not (moves or node.target in _SPLITTING):
        return False
    source = node.args[0]
    if not is_float(source) or not is_quantized(source):
        return True
    if moves:
        annotate(node, {source: SharedQuantizationSpec(source)}, SharedQuantizationSpec((source, node)))
        return True
    annotate(node, {source: SharedQuantizationSpec(source)})
    for part in node.users:
        if part.target is operator.getitem:
            annotate(part, {}, SharedQuantizationSpec((source, node)))
    return True


def moves_elements(node: Node) -> bool:
    """True if the node only moves, selects or averages elements, and so shares its input's quantization."""
    return node.target in _MOVING | _SPLITTING or node.target is operator.getitem or _pads_zeros(node)


def forget_unread(nodes: list[Node]) -> None:
    """Removes the annotations of `moving` and `tabulated` where no quantized operator reads the result: they
    would only add conversions."""
    for node in reversed(nodes):
        if not is_annotated(node) or not (node.target in _MOVING | TABLES or _pads_zeros(node)):
            continue
        if not any(reads_integers(user, node) for user in node.users):
            del node.meta[Q_ANNOTATION_KEY]


def _pads_zeros(node: Node) -> bool:
    """True for padding with zeros: every range contains zero, but perhaps not another value."""
    if node.target not in _PADDING:
        return False
    names = [argument.name for argument in node.target._schema.arguments]
    given = dict(zip(names, node.args, strict=False)) | node.kwargs
    return given.get("mode", "constant") == "constant" and not given.get("value")
