# SPDX-License-Identifier: BSD-3-Clause
"""Removes calls of view_copy whose result can alias their input."""

from __future__ import annotations

from rushlight.convert.reading import VIEW, ReadMethod
from rushlight.lowered.instructions import Call, LoweredMethod, MemoryKind, TensorOperand
from rushlight.lowered.uses import StorageUses, move_tensors, storage_uses
from rushlight.program.dim_order import is_row_major


def elide_views(method: ReadMethod) -> None:
    """Removes views of planned tensors whose bytes do not change."""
    lowered = method.lowered
    uses = storage_uses(lowered)
    for call in [each for each in lowered.code if isinstance(each, Call) and each.row == VIEW]:
        source, result = call.arguments[0], call.results[0]
        if _may_share(method, lowered, source, result):
            _share(lowered, call, uses)


def _may_share(
    method: ReadMethod, lowered: LoweredMethod, source: TensorOperand, result: TensorOperand
) -> bool:
    """True if both are planned, static, row-major and of the same size, and neither is written again."""
    fixed = method.fixed
    planned = source.storage.kind is MemoryKind.PLANNED and result.storage.kind is MemoryKind.PLANNED
    static = not source.is_dynamic and not result.is_dynamic
    plain = is_row_major(result.dim_order) and is_row_major(source.dim_order)
    same = (
        source.nbytes == result.nbytes == result.storage.nbytes and source.storage.bank == result.storage.bank
    )
    free = result.storage not in fixed and source.storage not in method.written_again
    return planned and static and plain and same and free


def _share(lowered: LoweredMethod, call: Call, uses: dict[int, StorageUses]) -> None:
    source, result = call.arguments[0], call.results[0]
    theirs, mine = uses[id(source.storage)], uses[id(result.storage)]
    offset = source.offset
    move_tensors(mine, source.storage)
    for tensor in mine.tensors.values():
        tensor.offset += offset
    theirs.tensors.update(mine.tensors)
    lowered.code.remove(call)
