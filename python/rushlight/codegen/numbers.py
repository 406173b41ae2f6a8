# SPDX-License-Identifier: BSD-3-Clause
"""Finds the scalars of a method that may be fractional at run time, whatever kind they have in the file: an
instruction that writes an int value may change it to a double."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rushlight.program import Method
from rushlight.program.dtypes import FLOATING
from rushlight.program.model import KernelCall, Kind, Move

_NUMBERS = (Kind.INT, Kind.BOOL, Kind.DOUBLE)
_ALWAYS = {"truediv", "sym_float"}
_NEVER = {"sym_size", "sym_numel", "sym_stride", "eq", "ne", "lt", "le", "gt", "ge"}


def fractional_scalars(method: Method) -> frozenset[int]:
    """The indices of the scalars that may be fractional: doubles, and scalars computed from them."""
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
    """The writes of scalars: the operator's name without namespace and overload (empty for a move), the
    values that it reads, and the value that it writes. Operators on values of any kind write their last
    argument."""
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
