# SPDX-License-Identifier: BSD-3-Clause
"""Finds the readers and writers of storages, and replaces operands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rushlight.lowered.instructions import (
    Call,
    DelegateCall,
    JumpFalse,
    LoweredMethod,
    Move,
    Operand,
    Storage,
    TensorOperand,
    leaves,
)


@dataclass
class StorageUses:
    """The tensors in a storage, and the code positions (from 0) that read it and write it. `at_end`: it has
    an output; `is_input`: it has an input or state."""

    tensors: dict[int, TensorOperand] = field(default_factory=dict)
    reads: list[int] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)
    at_end: bool = False
    is_input: bool = False


def storage_uses(method: LoweredMethod) -> dict[int, StorageUses]:
    """The uses of each storage, by `id()`."""
    found: dict[int, StorageUses] = {}

    def of(operands: Iterable[Operand]) -> list[StorageUses]:
        touched = []
        for leaf in leaves(list(operands)):
            if isinstance(leaf, TensorOperand):
                uses = found.setdefault(id(leaf.storage), StorageUses())
                uses.tensors[id(leaf)] = leaf
                touched.append(uses)
        return touched

    for uses in of([*method.inputs, *method.mutable]):
        uses.is_input = True
    for position, instruction in enumerate(method.code):
        reads, writes = method.reads_and_writes(instruction)
        for uses in of(reads):
            uses.reads.append(position)
        for uses in of(writes):
            uses.writes.append(position)
    for uses in of(method.outputs):
        uses.at_end = True
    return found


def replace_operand(method: LoweredMethod, old: Operand, new: Operand) -> None:
    """Replaces every occurrence of `old` by `new`: read, written or returned."""

    def replaced(operand: Operand) -> Operand:
        if isinstance(operand, list):
            return [replaced(item) for item in operand]
        return new if operand is old else operand

    for instruction in method.code:
        match instruction:
            case Call() | DelegateCall():
                if any(leaf is old for leaf in leaves(instruction.arguments)):
                    instruction.arguments = replaced(instruction.arguments)
                    instruction.results = replaced(instruction.results)
            case Move():
                instruction.source = replaced(instruction.source)
            case JumpFalse():
                instruction.condition = replaced(instruction.condition)
    method.outputs = replaced(method.outputs)


def move_tensors(uses: StorageUses, storage: Storage) -> None:
    """Moves all tensors of a storage to another one, at the same offsets."""
    for tensor in uses.tensors.values():
        tensor.storage = storage
