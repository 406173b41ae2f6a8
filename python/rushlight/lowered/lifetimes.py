# SPDX-License-Identifier: BSD-3-Clause
"""Computes the lifetime of each storage in a method's code."""

from __future__ import annotations

from dataclasses import dataclass

from rushlight.lowered.instructions import (
    JumpFalse,
    Label,
    LoweredMethod,
    MemoryKind,
    Storage,
    TensorOperand,
    leaves,
)


@dataclass
class Lifetime:
    """The positions of the first and last instruction that use a storage, and the number of uses.

    Position 0 is before the first instruction, when inputs are set; the last position is where outputs are
    read.
    """

    storage: Storage
    first: int
    last: int
    uses: int = 0


def lifetimes(method: LoweredMethod) -> list[Lifetime]:
    """The lifetimes of all storages to plan, in order of first use."""
    found: dict[int, Lifetime] = {}
    end = len(method.code) + 1

    def use(storage: Storage, position: int) -> None:
        if storage.kind not in (MemoryKind.PLANNED, MemoryKind.MUTABLE):
            return
        life = found.setdefault(id(storage), Lifetime(storage, position, position))
        life.first, life.last = min(life.first, position), max(life.last, position)
        life.uses += 1

    for tensor in method.mutable:
        use(tensor.storage, 0)
        use(tensor.storage, end)
    for tensor in _tensors(method.inputs):
        use(tensor.storage, 0)
    for position, instruction in enumerate(method.code, 1):
        reads, writes = method.reads_and_writes(instruction)
        for tensor in _tensors([*reads, *writes]):
            use(tensor.storage, position)
    for tensor in _tensors(method.outputs):
        use(tensor.storage, end)
    _extend_over_loops(method, list(found.values()))
    return list(found.values())


def _tensors(operands: list[object]) -> list[TensorOperand]:
    return [leaf for leaf in leaves(operands) if isinstance(leaf, TensorOperand)]


def loops(method: LoweredMethod) -> list[tuple[int, int]]:
    """The first and last position of each loop: a backward jump and its target."""
    labels = {id(i): position for position, i in enumerate(method.code, 1) if isinstance(i, Label)}
    return [
        (labels[id(i.target)], position)
        for position, i in enumerate(method.code, 1)
        if isinstance(i, JumpFalse) and labels[id(i.target)] < position
    ]


def _extend_over_loops(method: LoweredMethod, found: list[Lifetime]) -> None:
    """Extends lifetimes over loops: a storage that a loop uses and that was written before it lives until the
    loop ends."""
    regions = sorted(loops(method), key=lambda region: region[1] - region[0])  # inner loops first
    for start, stop in regions:
        for life in found:
            if life.first < start <= life.last:
                life.last = max(life.last, stop)
            elif start <= life.first <= stop < life.last:
                life.first = start  # written in an iteration, read after the loop
