# SPDX-License-Identifier: BSD-3-Clause
"""Reads bundled programs (.bpte): a program with inputs for its methods and expected outputs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rushlight.errors import InvalidProgram
from rushlight.program.arrays import as_array, read_layout, tensor_bytes
from rushlight.program.container import bytes_of, check_identifier
from rushlight.program.flatbuffer import Buffer, Table
from rushlight.program.schema import BUNDLED_PROGRAM

if TYPE_CHECKING:
    import numpy as np

IDENTIFIER = BUNDLED_PROGRAM.identifier
VERSION = 2


@dataclass(frozen=True)
class BundledTensor:
    """A tensor of a test case; `data` is stored in `dim_order`."""

    dtype: str
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    data: memoryview = field(repr=False)

    def array(self) -> np.ndarray:
        """The tensor as a read-only array of shape `sizes`. Errors: as for `as_array`."""
        return as_array(self.data, self.dtype, self.sizes, self.dim_order)


BundledValue = BundledTensor | int | bool | float


@dataclass(frozen=True)
class BundledCase:
    """One call: its inputs and expected outputs (empty if unknown)."""

    inputs: tuple[BundledValue, ...]
    outputs: tuple[BundledValue, ...]


@dataclass(frozen=True)
class BundledSuite:
    """The cases of one method."""

    method: str
    cases: tuple[BundledCase, ...]


@dataclass(frozen=True)
class BundledProgram:
    """A bundled program; `program` has the bytes of the .pte inside, for `read_program`."""

    version: int
    suites: tuple[BundledSuite, ...]
    program: memoryview = field(repr=False)
    file_bytes: int


def is_bundled_program(data: bytes | bytearray | memoryview) -> bool:
    """True if the bytes have the identifier of a bundled program."""
    return bytes(data[4:8]) == IDENTIFIER


def read_bundled_program(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> BundledProgram:
    """Reads a bundled program from a path or from its bytes. Checks every value except the program inside.

    Errors: InvalidProgram naming the defect with the expected and actual value; InvalidArgument for a file
    that cannot be opened.
    """
    data = bytes_of(source)
    check_identifier(data, IDENTIFIER, "bundled program")
    root = Buffer(data).root(BUNDLED_PROGRAM, "bundled program")
    version = root.number("version")
    if version != VERSION:
        raise InvalidProgram(f"bundled program: expected schema version {VERSION}, got {version}")
    program = root.bytes("program")
    if not program:
        raise InvalidProgram("bundled program: expected a program inside, got none")
    return BundledProgram(
        version=version,
        suites=root.tables("method_test_suites", _suite),
        program=program,
        file_bytes=len(data),
    )


def _suite(table: Table) -> BundledSuite:
    return BundledSuite(table.name("method_name"), table.tables("test_cases", _case))


def _case(table: Table) -> BundledCase:
    return BundledCase(table.tables("inputs", _value), table.tables("expected_outputs", _value))


def _value(table: Table) -> BundledValue:
    kind, content = table.union("val")
    if content is None:
        raise InvalidProgram(f"{table.what}: expected a value, got none")
    match kind:
        case "Tensor":
            return _tensor(content)
        case "Int":
            return content.number("int_val")
        case "Bool":
            return bool(content.number("bool_val"))
    return content.double("double_val")


def _tensor(table: Table) -> BundledTensor:
    dtype, sizes, order = read_layout(table)
    data = table.bytes("data")
    if (needed := tensor_bytes(dtype, sizes)) != len(data):
        raise InvalidProgram(f"{table.what}: expected {needed} bytes of data, got {len(data)}")
    return BundledTensor(dtype, sizes, order, data)
