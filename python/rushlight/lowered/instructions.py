# SPDX-License-Identifier: BSD-3-Clause
"""The lowered form of a method: instructions over operands, tensors over storages.

Operands are compared by identity: two tensors of the same shape are two values of the program.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rushlight.program.dtypes import element_size


class MemoryKind(enum.Enum):
    """The location of a storage's bytes. PLANNED: in the arena for its lifetime. MUTABLE: in the arena for
    the life of the method, with initial bytes if it has data. CONSTANT: in the file. CALLER: in the
    caller's memory."""

    PLANNED = "planned"
    MUTABLE = "mutable"
    CONSTANT = "constant"
    CALLER = "caller"


@dataclass(eq=False)
class Storage:
    """Bytes that one or more tensors share. `data` has the bytes of a constant or the initial bytes of
    MUTABLE, in the form that the emitter's pool accepts; `external` means they are in a data file under
    `name`. `bank` fixes the memory id."""

    name: str
    nbytes: int
    kind: MemoryKind = MemoryKind.PLANNED
    data: Any = None
    external: bool = False
    bank: int | None = None
    note: str = ""


@dataclass(eq=False)
class TensorOperand:
    """A tensor in a storage, starting at byte `offset`.

    If `is_dynamic`, `sizes` are upper bounds and `symbols` the sizes as expressions: tensors with equal
    symbols have equal shapes in every execution.
    """

    dtype: str
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    storage: Storage
    is_dynamic: bool = False
    offset: int = 0
    symbols: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        count = 1
        for size in self.sizes:
            count *= size
        return count * element_size(self.dtype)


@dataclass(eq=False)
class NumberOperand:
    """An int, float or bool that instructions write."""

    kind: type
    initial: int | float | bool = 0


# An operand of an instruction: one of the classes above, a constant None, bool, int, float or str, or a list
# of those.
Operand = Any


@dataclass(eq=False)
class Origin:
    """The origin of an instruction, for errors and the debug record: a node of the exporter's graph, or the
    index of an instruction in the converted file."""

    node: Any = None
    handle: int = 0


@dataclass(eq=False)
class Call:
    """A kernel call: the row's full name, and its arguments with the outs in schema order.

    `kinds` are the schema's arguments, `results` the operands that the call writes.
    """

    row: str
    arguments: list[Operand]
    kinds: list[Any]
    results: list[Operand]
    origin: Origin


@dataclass(eq=False)
class DelegateCall:
    """A backend call with a flat list of operands, outputs last."""

    module: Any
    arguments: list[Operand]
    results: list[Operand]
    origin: Origin


@dataclass(eq=False)
class Move:
    """Copies the value of `source` to `destination`, a scalar."""

    source: Operand
    destination: NumberOperand
    origin: Origin


@dataclass(eq=False)
class Label:
    """A jump target; it emits no instruction."""

    name: str = ""


@dataclass(eq=False)
class JumpFalse:
    """Jumps to `target` if `condition` (a scalar, a bool tensor with one element, or False) is false."""

    condition: Operand
    target: Label
    origin: Origin


Instruction = Call | DelegateCall | Move | Label | JumpFalse


@dataclass(eq=False)
class LoweredMethod:
    """A method before memory planning."""

    name: str
    code: list[Instruction] = field(default_factory=list)
    inputs: list[Operand] = field(default_factory=list)
    outputs: list[Operand] = field(default_factory=list)
    mutable: list[TensorOperand] = field(default_factory=list)
    in_spec: str = ""
    out_spec: str = ""

    def reads_and_writes(self, instruction: Instruction) -> tuple[list[Operand], list[Operand]]:
        """(reads, writes): the tensors and scalars that an instruction reads and writes."""
        match instruction:
            case Call() | DelegateCall():
                written = {id(result) for result in instruction.results}
                flat = list(leaves(instruction.arguments))
                return [leaf for leaf in flat if id(leaf) not in written], list(instruction.results)
            case Move():
                return [instruction.source], [instruction.destination]
            case JumpFalse():
                return [instruction.condition], []
        return [], []


def leaves(operand: Operand) -> Iterator[Operand]:
    """The operands in nested lists, flattened."""
    if isinstance(operand, (list, tuple)):
        for item in operand:
            yield from leaves(item)
    else:
        yield operand
