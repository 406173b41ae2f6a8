# SPDX-License-Identifier: BSD-3-Clause
"""Views that need no kernel: the same bytes under another shape.

A view of a tensor whose place and shape are known takes no instruction at all. One with sizes that are
known at run time, or of a tensor that the caller places, is an `et_view`.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import Node

from rushlight.export.graph.nodes import arguments_of, input_of, value_of
from rushlight.export.lower.builder import Builder, Environment
from rushlight.export.lower.instructions import Operand, Place, TensorOperand
from rushlight.export.lower.operands import (
    dtype_name,
    is_symbolic,
    stored_order,
    symbols_of,
    upper_bound,
)
from rushlight.program.dtypes import element_size

aten = torch.ops.aten

_RESHAPES = {
    aten.view.default,
    aten._unsafe_view.default,
    aten.view_copy.default,
    aten.reshape.default,
    aten.squeeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.squeeze_copy.default,
    aten.squeeze_copy.dim,
    aten.squeeze_copy.dims,
    aten.unsqueeze.default,
    aten.unsqueeze_copy.default,
    aten.flatten.using_ints,
}
_PERMUTES = {aten.permute.default, aten.permute_copy.default}
_SLICES = {aten.slice.Tensor, aten.slice_copy.Tensor, aten.select.int, aten.select_copy.int}
_UNBINDS = {aten.unbind.int, aten.unbind_copy.int}
_SPLITS = {
    aten.split.Tensor,
    aten.split_copy.Tensor,
    aten.split_with_sizes.default,
    aten.split_with_sizes_copy.default,
    *_UNBINDS,
}
# What kernels may ask of the address of a tensor's first element.
_ALIGNMENT = 16


def elided(builder: Builder, node: Node, environment: Environment) -> Operand | None:
    """The operand of a view node without a kernel call; None where it takes one."""
    target = node.target
    if (
        target not in _RESHAPES
        and target not in _PERMUTES
        and target not in _SLICES
        and target not in _SPLITS
    ):
        return None
    source = environment.get(input_of(node))
    value = value_of(node)
    if not isinstance(source, TensorOperand):
        return None
    if target in _PERMUTES and stored_order(node) is not None and not _is_row_major_both(source, node):
        return _permuted(node, source)
    if not _is_row_major(source):
        return None
    if target in _SLICES:
        return _slice(node, source, value)
    if target in _SPLITS:
        return _split(node, source, value)
    if target in _PERMUTES and not _keeps_order(source, node.args[1]):
        return None
    if stored_order(node) not in (None, tuple(range(value.dim()))):
        return None
    if _is_placed(source) and not source.is_dynamic and not any(map(is_symbolic, value.shape)):
        return _alias(source, value.shape, source.offset)
    return _et_view(builder, node, source, value, environment) if target in _RESHAPES else None


def _is_row_major(tensor: TensorOperand) -> bool:
    return tensor.dim_order == tuple(range(len(tensor.sizes)))


def _is_row_major_both(source: TensorOperand, node: Node) -> bool:
    order = stored_order(node)
    return _is_row_major(source) and order == tuple(range(len(source.sizes)))


def _permuted(node: Node, source: TensorOperand) -> TensorOperand | None:
    """The source's bytes under permuted dimensions, where that is the order that the result has."""
    rank = len(source.sizes)
    dims = [dim % rank for dim in arguments_of(node)[1]]
    order = tuple(dims.index(dim) for dim in source.dim_order)
    if order != stored_order(node) or not _is_placed(source) or source.is_dynamic:
        return None
    sizes = tuple(source.sizes[dim] for dim in dims)
    return TensorOperand(source.dtype, sizes, order, source.storage, offset=source.offset)


def _is_placed(tensor: TensorOperand) -> bool:
    """Whether other tensors may lie in the same bytes: a data file has one layout for each name."""
    return tensor.storage.place is not Place.CALLER and not tensor.storage.external


def _alias(source: TensorOperand, shape: Any, offset: int) -> TensorOperand:
    sizes = tuple(int(size) for size in shape)
    return TensorOperand(source.dtype, sizes, tuple(range(len(sizes))), source.storage, offset=offset)


def _keeps_order(source: TensorOperand, dims: Any) -> bool:
    """Whether a permutation moves only dimensions of size 1."""
    rank = len(source.sizes)
    order = [dim % rank for dim in dims] if rank else []
    moved = [dim for dim in order if source.sizes[dim] != 1]
    return moved == sorted(moved) and not source.is_dynamic


def _et_view(
    builder: Builder, node: Node, source: TensorOperand, value: Any, environment: Environment
) -> Operand | None:
    sizes = _sizes_argument(builder, node, value, environment)
    if sizes is None:
        return None
    bounds = tuple(upper_bound(size) for size in value.shape)
    is_dynamic = any(map(is_symbolic, value.shape))
    view = TensorOperand(
        dtype_name(value.dtype),
        bounds,
        tuple(range(len(bounds))),
        source.storage,
        is_dynamic,
        source.offset,
        symbols_of(value),
    )
    if view.nbytes > source.nbytes:
        return None  # bounds of products may be looser than the source's
    builder.emit("executorch_prim::et_view.default", [source, sizes, view], [view], node)
    return view


def _sizes_argument(builder: Builder, node: Node, value: Any, environment: Environment) -> list[Any] | None:
    """The sizes for et_view: constants, numbers that the graph has, one -1."""
    if node.target in (aten.view.default, aten._unsafe_view.default, aten.view_copy.default):
        written: list[Any] = builder.operand(list(arguments_of(node)[1]), environment)
        return written
    sizes = [-1 if is_symbolic(size) else int(size) for size in value.shape]
    return sizes if sizes.count(-1) <= 1 else None


def _slice(node: Node, source: TensorOperand, value: Any) -> Operand | None:
    """A part that is one piece of the source's bytes: a slice of the outermost dimension above 1."""
    if source.is_dynamic or not _is_placed(source) or any(map(is_symbolic, value.shape)):
        return None
    rank = len(source.sizes)
    args: tuple[Any, ...] = arguments_of(node)
    options: dict[str, Any] = node.kwargs
    dim = (args[1] if len(args) > 1 else options.get("dim", 0)) % max(rank, 1)
    is_select = node.target in (aten.select.int, aten.select_copy.int)
    start = args[2] if len(args) > 2 else options.get("index" if is_select else "start")
    step = 1 if is_select or len(args) < 5 else args[4]
    start = 0 if start is None else start
    if not isinstance(start, int) or not isinstance(step, int) or step != 1:
        return None
    size = source.sizes[dim]
    start = min(max(start + size if start < 0 else start, 0), size)
    return _piece(source, dim, start, value.shape)


def _split(node: Node, source: TensorOperand, values: Any) -> Operand | None:
    """All parts of a split without a kernel, if each is one piece of the source's bytes."""
    if source.is_dynamic or not _is_placed(source) or not isinstance(values, (tuple, list)):
        return None
    is_unbind = node.target in _UNBINDS
    position = 1 if is_unbind else 2
    args: tuple[Any, ...] = arguments_of(node)
    options: dict[str, Any] = node.kwargs
    dim = args[position] if len(args) > position else options.get("dim", 0)
    dim %= max(len(source.sizes), 1)
    pieces, start = [], 0
    for value in values:
        if any(map(is_symbolic, value.shape)):
            return None
        piece = _piece(source, dim, start, value.shape)
        if piece is None:
            return None
        pieces.append(piece)
        start += 1 if is_unbind else int(value.shape[dim])
    return pieces


def _piece(source: TensorOperand, dim: int, start: int, shape: Any) -> TensorOperand | None:
    """`shape` elements from `start` of `dim` on, if they lie together and at an aligned address."""
    if math.prod(source.sizes[:dim]) != 1:
        return None
    step = math.prod(source.sizes[dim + 1 :]) * element_size(source.dtype)
    offset = source.offset + start * step
    return _alias(source, shape, offset) if offset % _ALIGNMENT == 0 else None
