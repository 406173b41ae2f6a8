# SPDX-License-Identifier: BSD-3-Clause
"""Removes copies: the instruction that computes a tensor writes directly to the copy's target.

This moves the new value of a buffer into the buffer, and the result of a branch into the result of its
`cond`. A copy is removed only if no instruction between reads or writes the target, which the storage uses
of the method show. Cost: quadratic in the code's length for methods with many copies.
"""

from __future__ import annotations

from dataclasses import dataclass

from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.lowered.in_place import is_alike
from rushlight.lowered.instructions import (
    Call,
    JumpFalse,
    Label,
    LoweredMethod,
    MemoryKind,
    TensorOperand,
    leaves,
)
from rushlight.lowered.uses import StorageUses, move_tensors, replace_operand, storage_uses

_PUT, _PUT_IN_PLACE = "aten::index_put.out", "aten::index_put_"


@dataclass(frozen=True)
class _Copy:
    """A copy at `position` of the tensor that the call at `made` wrote."""

    position: int
    made: int
    source: TensorOperand
    target: TensorOperand


def forward_copies(method: LoweredMethod, library: OperatorLibrary) -> int:
    """Removes copies; returns their number. All other instructions keep their order."""
    taken = 0
    position = 0
    while position < len(method.code):
        copy = _copy_at(method, position)
        if copy is not None and _forward(method, copy, library):
            taken += 1
        else:
            position += 1
    return taken


def _copy_at(method: LoweredMethod, position: int) -> _Copy | None:
    """The copy at `position`, if the code before it computes the source without a jump in between."""
    call = method.code[position]
    if not isinstance(call, Call):
        return None
    if call.row == "aten::copy_":
        target, source = call.arguments[:2]
    elif call.row == "aten::clone.out":
        source, _, target = call.arguments
    else:
        return None
    if not isinstance(source, TensorOperand) or not is_alike(source, target):
        return None
    for made in range(position - 1, -1, -1):
        before = method.code[made]
        if isinstance(before, (Label, JumpFalse)):
            return None
        if isinstance(before, Call) and any(result is source for result in before.results):
            return _Copy(position, made, source, target)
    return None


def _forward(method: LoweredMethod, copy: _Copy, library: OperatorLibrary) -> bool:
    uses = storage_uses(method)
    mine, theirs = uses[id(copy.source.storage)], uses[id(copy.target.storage)]
    storage = copy.source.storage
    if storage.kind is not MemoryKind.PLANNED or mine.is_input or copy.source.nbytes != storage.nbytes:
        return False
    if mine.writes != [copy.made] or not _is_free(theirs, copy) or copy.target.offset:
        return False
    if copy.target.storage.kind is MemoryKind.CALLER and len(mine.tensors) > 1:
        return False  # only one tensor can refer to the caller's memory
    if _is_used_after(mine, copy) and not _stays(method, theirs, copy):
        return False
    maker = method.code[copy.made]
    assert isinstance(maker, Call)
    if copy.made in theirs.reads and not _may_overwrite(maker, copy, library):
        return False
    del method.code[copy.position]
    if maker.row == _PUT and maker.arguments[0] is copy.target:
        maker.row = _PUT_IN_PLACE
        maker.kinds = list(library.schema(_PUT_IN_PLACE).arguments)
        maker.arguments = maker.arguments[:-1]
    replace_operand(method, copy.source, copy.target)
    maker.results = [copy.target if result is copy.source else result for result in maker.results]
    mine.tensors.pop(id(copy.source), None)
    move_tensors(mine, copy.target.storage)
    return True


def _is_free(theirs: StorageUses, copy: _Copy) -> bool:
    """True if no instruction between the maker and the copy touches the target."""
    touched = [*theirs.reads, *theirs.writes]
    return (
        not any(copy.made < position < copy.position for position in touched)
        and copy.made not in theirs.writes
    )


def _is_used_after(mine: StorageUses, copy: _Copy) -> bool:
    return mine.at_end or any(position > copy.position for position in mine.reads)


def _stays(method: LoweredMethod, theirs: StorageUses, copy: _Copy) -> bool:
    """True if nothing overwrites the target after the copy and no loop repeats the copy."""
    is_last = not any(position > copy.position for position in theirs.writes)
    repeats = any(isinstance(instruction, Label) for instruction in method.code)
    return is_last and not repeats


def _may_overwrite(maker: Call, copy: _Copy, library: OperatorLibrary) -> bool:
    """True if the maker, which reads the target, may also write to it."""
    same = [
        leaf
        for leaf in leaves(maker.arguments)
        if isinstance(leaf, TensorOperand) and leaf.storage is copy.target.storage
    ]
    if any(leaf is not copy.target for leaf in same):
        return False
    if maker.row == _PUT:
        return same == [maker.arguments[0]] and _PUT_IN_PLACE in library.operators
    return library.has_trait(maker.row, "in_place")
