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


class Place(enum.Enum):
    """Where a storage's bytes are. PLANNED in memory of the plan; MUTABLE the same, for as long as the
    method lives, with initial bytes if it has data; CONSTANT in the file; CALLER wherever the caller has
    them."""

    PLANNED = "planned"
    MUTABLE = "mutable"
    CONSTANT = "constant"
    CALLER = "caller"


@dataclass(eq=False)
class Storage:
    """Bytes that tensors lie in. `data` is the constant's, or the initial one of MUTABLE, as the pool of the
    emitter takes it; `external` says that they are in a data file under `name`. `bank` is a memory id that
    was chosen."""

    name: str
    nbytes: int
    place: Place = Place.PLANNED
    data: Any = None
    external: bool = False
    bank: int | None = None
    note: str = ""


@dataclass(eq=False)
class TensorOperand:
    """A tensor in a storage, from its byte `offset` on.

    Where `is_dynamic`, `sizes` are upper bounds, and `symbols` are the sizes as expressions: tensors of equal
    ones have equal shapes in every run.
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


# What an instruction works on: these, or a constant None, bool, int, float, str, or a list of them.
Operand = Any


@dataclass(eq=False)
class Origin:
    """What an instruction was made of, for errors and the debug record: a node of the exporter's graph, or
    an index of an instruction in the file that was converted."""

    node: Any = None
    handle: int = 0


@dataclass(eq=False)
class Call:
    """A kernel call: a row's full name, and its arguments with the outs in the schema's order.

    `kinds` are the schema's types of the arguments. `results` are the operands that it writes.
    """

    row: str
    arguments: list[Operand]
    kinds: list[Any]
    results: list[Operand]
    origin: Origin


@dataclass(eq=False)
class DelegateCall:
    """A call of a backend on a flat list of operands, outputs last."""

    module: Any
    arguments: list[Operand]
    results: list[Operand]
    origin: Origin


@dataclass(eq=False)
class Move:
    """Give `destination`, a number, the value of `source`."""

    source: Operand
    destination: NumberOperand
    origin: Origin


@dataclass(eq=False)
class Label:
    """A place to jump to; no instruction of the program."""

    name: str = ""


@dataclass(eq=False)
class JumpFalse:
    """Go on at `target` if `condition` (a number, a bool tensor of one element, or False) is false."""

    condition: Operand
    target: Label
    origin: Origin


Instruction = Call | DelegateCall | Move | Label | JumpFalse


@dataclass(eq=False)
class LoweredMethod:
    """A method before its memory is planned."""

    name: str
    code: list[Instruction] = field(default_factory=list)
    inputs: list[Operand] = field(default_factory=list)
    outputs: list[Operand] = field(default_factory=list)
    mutable: list[TensorOperand] = field(default_factory=list)
    in_spec: str = ""
    out_spec: str = ""

    def reads_and_writes(self, instruction: Instruction) -> tuple[list[Operand], list[Operand]]:
        """The tensors and numbers that an instruction reads, and those that it writes."""
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
    """The operands in nested lists."""
    if isinstance(operand, (list, tuple)):
        for item in operand:
            yield from leaves(item)
    else:
        yield operand
