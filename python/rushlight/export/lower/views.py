# SPDX-License-Identifier: BSD-3-Clause
"""Views that need no kernel: the same bytes under another shape.

A view of planned memory with static shapes takes no instruction. A view with symbolic sizes, or of a
tensor in the caller's memory, becomes an `et_view`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

from rushlight.export.graph.nodes import arguments_of, input_of, named_argument, permutation_of, value_of
from rushlight.export.lower.builder import Builder, Environment
from rushlight.export.lower.operands import dtype_name, is_symbolic, symbols_of, upper_bound
from rushlight.export.order.orders import stored_order
from rushlight.lowered.instructions import MemoryKind, Operand, TensorOperand
from rushlight.program.dim_order import is_row_major, permuted, row_major
from rushlight.program.dtypes import element_size

# Rows without the trait `view` whose results may alias all or some bytes of their input.
_VIEW, _PERMUTE = "aten::view_copy.out", "aten::permute_copy.out"
_SLICE, _SELECT = "aten::slice_copy.Tensor_out", "aten::select_copy.int_out"
_UNBIND = "aten::unbind_copy.int_out"
_SPLITS = (_UNBIND, "aten::split_copy.Tensor_out", "aten::split_with_sizes_copy.out")
# The alignment in bytes that kernels may require of a tensor's first element.
_ALIGNMENT = 16


def elided(builder: Builder, node: Node, environment: Environment) -> Operand | None:
    """The operand of a view node without a kernel call; None if the node needs one."""
    row = builder.library.whole.find(node.target)
    is_view = "view" in builder.library.traits(node.target)
    if not is_view and row not in (_PERMUTE, _SLICE, _SELECT, *_SPLITS):
        return None
    source = environment.get(input_of(node))
    value, order = value_of(node), stored_order(node)
    if not isinstance(source, TensorOperand):
        return None
    is_plain = is_row_major(source.dim_order)
    if row == _PERMUTE and order is not None and not (is_plain and is_row_major(order)):
        return _permuted(node, source)
    if not is_plain:
        return None
    if row in (_SLICE, _SELECT):
        return _slice(node, source, value, row == _SELECT)
    if row in _SPLITS:
        return _split(node, source, value, row == _UNBIND)
    if row == _PERMUTE and not _keeps_order(source, permutation_of(node)):
        return None
    if order is not None and not is_row_major(order):
        return None
    if _is_in_program_memory(source) and not source.is_dynamic and not any(map(is_symbolic, value.shape)):
        return _alias(source, value.shape, source.offset)
    if not is_view:
        return None
    return _et_view(builder, node, source, environment, row == _VIEW)


def _permuted(node: Node, source: TensorOperand) -> TensorOperand | None:
    """The source's bytes with permuted dimensions, if the result has exactly that dim order; else None."""
    dims = permutation_of(node)
    order = permuted(source.dim_order, dims)
    if order != stored_order(node) or not _is_in_program_memory(source) or source.is_dynamic:
        return None
    sizes = tuple(source.sizes[dim] for dim in dims)
    return TensorOperand(source.dtype, sizes, order, source.storage, offset=source.offset)


def _is_in_program_memory(tensor: TensorOperand) -> bool:
    """True if other tensors may alias the storage. External constants may not: a data file has one layout per
    name."""
    return tensor.storage.kind is not MemoryKind.CALLER and not tensor.storage.external


def _alias(source: TensorOperand, shape: Any, offset: int) -> TensorOperand:
    sizes = tuple(int(size) for size in shape)
    return TensorOperand(source.dtype, sizes, row_major(len(sizes)), source.storage, offset=offset)


def _keeps_order(source: TensorOperand, dims: Sequence[int]) -> bool:
    """True if the permutation moves only dimensions of size 1."""
    moved = [dim for dim in dims if source.sizes[dim] != 1]
    return moved == sorted(moved) and not source.is_dynamic


def _et_view(
    builder: Builder, node: Node, source: TensorOperand, environment: Environment, has_sizes: bool
) -> Operand | None:
    """A view created at run time; with `has_sizes` the node's second argument has its sizes."""
    value = value_of(node)
    sizes = builder.operand(list(arguments_of(node)[1]), environment) if has_sizes else _known_sizes(value)
    if sizes is None:
        return None
    bounds = tuple(upper_bound(size) for size in value.shape)
    is_dynamic = any(map(is_symbolic, value.shape))
    view = TensorOperand(
        dtype_name(value.dtype),
        bounds,
        row_major(len(bounds)),
        source.storage,
        is_dynamic,
        source.offset,
        symbols_of(value),
    )
    if view.nbytes > source.nbytes:
        return None  # the bound of a product may exceed the source's
    builder.emit("executorch_prim::et_view.default", [source, sizes, view], [view], node)
    return view


def _known_sizes(value: torch.Tensor) -> list[int] | None:
    """The sizes as ints, -1 for a symbolic one; None if several are symbolic."""
    sizes = [-1 if is_symbolic(size) else int(size) for size in value.shape]
    return sizes if sizes.count(-1) <= 1 else None


def _slice(node: Node, source: TensorOperand, value: Any, is_select: bool) -> Operand | None:
    """A slice as an alias, if it is contiguous in the source: of the outermost dimension with size above
    1."""
    if source.is_dynamic or not _is_in_program_memory(source) or any(map(is_symbolic, value.shape)):
        return None
    dim = named_argument(node, "dim") % max(len(source.sizes), 1)
    start = named_argument(node, "index" if is_select else "start")
    start, step = 0 if start is None else start, 1 if is_select else named_argument(node, "step")
    if not isinstance(start, int) or not isinstance(step, int) or step != 1:
        return None
    size = source.sizes[dim]
    start = min(max(start + size if start < 0 else start, 0), size)
    return _piece(source, dim, start, value.shape)


def _split(node: Node, source: TensorOperand, values: Any, is_unbind: bool) -> Operand | None:
    """All parts of a split as aliases, if each is contiguous in the source; else None."""
    if source.is_dynamic or not _is_in_program_memory(source) or not isinstance(values, (tuple, list)):
        return None
    dim = named_argument(node, "dim") % max(len(source.sizes), 1)
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
    """An alias of shape `shape` that starts at index `start` of `dim`, if it is contiguous and aligned; else
    None."""
    if math.prod(source.sizes[:dim]) != 1:
        return None
    step = math.prod(source.sizes[dim + 1 :]) * element_size(source.dtype)
    offset = source.offset + start * step
    return _alias(source, shape, offset) if offset % _ALIGNMENT == 0 else None
