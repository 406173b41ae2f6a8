# SPDX-License-Identifier: BSD-3-Clause
"""In-place results: if a kernel reads each element before it writes the same index and nothing reads the
input later, result and input share a storage."""

from __future__ import annotations

from collections.abc import Callable

from rushlight.lowered.instructions import Call, LoweredMethod, MemoryKind, Storage, TensorOperand, leaves
from rushlight.lowered.lifetimes import Lifetime, lifetimes
from rushlight.lowered.uses import move_tensors, storage_uses


def reuse_inputs(method: LoweredMethod, has_trait: Callable[[str, str], bool]) -> int:
    """Merges the storages of results with the storages of inputs whose lifetime ends there, for calls of rows
    with the trait `in_place`. Returns the number of merges."""
    lives = {id(life.storage): life for life in lifetimes(method)}
    uses = storage_uses(method)
    joined = 0
    for position, instruction in enumerate(method.code, 1):
        if not isinstance(instruction, Call) or not has_trait(instruction.row, "in_place"):
            continue
        if len(instruction.results) != 1 or not isinstance(instruction.results[0], TensorOperand):
            continue
        result = instruction.results[0]
        own = lives.get(id(result.storage))
        if own is None or not _begins(own, result, position):
            continue
        over = _ending_input(instruction, result, lives, position)
        if over is None:
            continue
        theirs = uses[id(over)]
        mine = uses[id(result.storage)]
        move_tensors(mine, over)
        theirs.tensors.update(mine.tensors)
        lives[id(over)].last = own.last
        joined += 1
    return joined


def _begins(life: Lifetime, result: TensorOperand, position: int) -> bool:
    storage = result.storage
    return life.first == position and storage.kind is MemoryKind.PLANNED and result.nbytes == storage.nbytes


def _ending_input(
    call: Call, result: TensorOperand, lives: dict[int, Lifetime], position: int
) -> Storage | None:
    """The storage of an input with the result's layout that nothing reads later; else None."""
    tensors = [
        leaf for leaf in leaves(call.arguments) if isinstance(leaf, TensorOperand) and leaf is not result
    ]
    for tensor in tensors:
        storage = tensor.storage
        life = lives.get(id(storage))
        if life is None or life.last != position or storage.kind is not MemoryKind.PLANNED:
            continue
        if storage.bank != result.storage.bank or not is_alike(tensor, result):
            continue
        if tensor.offset or tensor.nbytes != storage.nbytes:
            continue
        if all(other is tensor for other in tensors if other.storage is storage):
            return storage
    return None


def is_alike(a: TensorOperand, b: TensorOperand) -> bool:
    """True if two tensors have the same dtype, layout and sizes in every execution."""
    return all(
        getattr(a, name) == getattr(b, name)
        for name in ("dtype", "sizes", "symbols", "dim_order", "is_dynamic")
    )
