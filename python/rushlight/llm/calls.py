# SPDX-License-Identifier: BSD-3-Clause
"""Writes a method call by call, without a graph: tensors, constants, state and calls of operators of the
table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rushlight.codegen.table import Operator
from rushlight.errors import ExportFailed
from rushlight.lowered.instructions import (
    Call,
    LoweredMethod,
    MemoryKind,
    NumberOperand,
    Operand,
    Origin,
    Storage,
    TensorOperand,
)
from rushlight.program.dim_order import row_major
from rushlight.program.dtypes import NUMBERS, element_size

SEQUENCE = "s"
"""The symbol for the number of tokens in a call."""


class CallWriter:
    """A method under construction. `longest` is the maximum of SEQUENCE, its only dynamic size."""

    def __init__(self, name: str, operators: Mapping[str, Operator], longest: int) -> None:
        self.method = LoweredMethod(name)
        self.longest = longest
        self._operators = operators
        self._constants: dict[int, tuple[Any, TensorOperand]] = {}

    def tensor(
        self,
        name: str,
        dtype: str,
        sizes: Sequence[int | str],
        kind: MemoryKind = MemoryKind.PLANNED,
        data: Any = None,
    ) -> TensorOperand:
        """A tensor with its own storage; a size may be SEQUENCE."""
        bounds = tuple(self.longest if size == SEQUENCE else int(size) for size in sizes)
        nbytes = element_size(dtype) * int(np.prod(bounds, dtype=np.int64))
        storage = Storage(name, nbytes, kind, data)
        symbols = tuple(map(str, sizes))
        return TensorOperand(
            dtype, bounds, row_major(len(bounds)), storage, SEQUENCE in sizes, symbols=symbols
        )

    def input(self, name: str, dtype: str, sizes: Sequence[int | str]) -> TensorOperand:
        """An input of the method, in planned memory."""
        made = self.tensor(name, dtype, sizes)
        self.method.inputs.append(made)
        return made

    def constant(self, name: str, array: Any) -> TensorOperand:
        """A constant of the program; the same array becomes the same constant."""
        known = self._constants.get(id(array))
        if known is None:
            made = self.tensor(name, array.dtype.name, array.shape, MemoryKind.CONSTANT, array)
            known = self._constants[id(array)] = (array, made)
        return known[1]

    def state(self, name: str, dtype: str, sizes: Sequence[int], initial: Any = None) -> TensorOperand:
        """Memory that keeps its content between calls; without `initial` the program stores no bytes for
        it."""
        made = self.tensor(name, dtype, sizes, MemoryKind.MUTABLE, initial)
        self.method.mutable.append(made)
        return made

    def number(self, row: str, /, **arguments: Any) -> NumberOperand:
        """The integer that a call returns."""
        made = NumberOperand(int)
        self._write(row, made, arguments)
        return made

    def call(self, row: str, out: TensorOperand, /, **arguments: Any) -> TensorOperand:
        """Writes a call of an operator of the table into `out`, and returns `out`. Missing arguments get the
        schema's defaults by their type: None, False, alpha 1."""
        self._write(row, out, arguments)
        return out

    def _write(self, row: str, out: Operand, arguments: dict[str, Any]) -> None:
        operator = self._operators.get(row)
        if operator is None:
            raise ExportFailed(f"operator {row}: expected a row in the table of operators, got none")
        kinds = list(operator.schema.arguments)
        values = [out if kind.name == "out" else self._value(kind, arguments) for kind in kinds]
        if arguments:
            raise ExportFailed(f"operator {row}: expected its own arguments, got {sorted(arguments)}")
        self.method.code.append(Call(row, values, kinds, [out], Origin(handle=len(self.method.code))))

    @staticmethod
    def _value(kind: Any, arguments: dict[str, Any]) -> Any:
        if kind.name in arguments:
            found = arguments.pop(kind.name)
            return NUMBERS[found] if kind.base == "ScalarType" else found
        if kind.optional:
            return None
        return {"bool": False, "Scalar": 1}[kind.base]
