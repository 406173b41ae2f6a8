# SPDX-License-Identifier: BSD-3-Clause
"""Which numbers of a method may be fractional when it runs, whatever kind the file gives them: a number that
is written stays a number, but may change from int to double."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rushlight.program import Method
from rushlight.program.dtypes import FLOATING
from rushlight.program.model import KernelCall, Kind, Move

_NUMBERS = (Kind.INT, Kind.BOOL, Kind.DOUBLE)
_ALWAYS = {"truediv", "sym_float"}
_NEVER = {"sym_size", "sym_numel", "sym_stride", "eq", "ne", "lt", "le", "gt", "ge"}


def fractional_numbers(method: Method) -> frozenset[int]:
    """Indices of the numbers that may be fractional: doubles, and what is computed from such."""
    found = {index for index, value in enumerate(method.values) if value.kind is Kind.DOUBLE}
    writes = list(_writes(method))
    while True:
        new = {
            written
            for name, read, written in writes
            if name in _ALWAYS or any(index in found or _holds_floats(method, index) for index in read)
        }
        if new <= found:
            return frozenset(found)
        found |= new


def _writes(method: Method) -> Iterator[tuple[str, Sequence[int], int]]:
    """What writes a number: the operator's name without namespace and overload (empty for a move), the values
    that it reads, and the one that it writes. Operators on values of any kind have that last."""
    for instruction in method.instructions:
        if isinstance(instruction, Move):
            yield "", (instruction.source,), instruction.destination
        elif isinstance(instruction, KernelCall) and instruction.arguments:
            name = method.operators[instruction.operator].split("::")[-1].split(".")[0]
            *read, written = instruction.arguments
            if name not in _NEVER and method.values[written].kind in _NUMBERS:
                yield name, read, written


def _holds_floats(method: Method, index: int) -> bool:
    return any(tensor.dtype in FLOATING for tensor in method.tensors_of(method.values[index]))
