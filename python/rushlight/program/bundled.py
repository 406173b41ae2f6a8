# SPDX-License-Identifier: BSD-3-Clause
"""Bundled programs (.bpte): a program with inputs for its methods and the outputs they should give."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rushlight.errors import InvalidProgram
from rushlight.program.arrays import as_array, read_layout, tensor_bytes
from rushlight.program.container import bytes_of, check_identifier
from rushlight.program.flatbuffer import Buffer, Table

if TYPE_CHECKING:
    import numpy as np

IDENTIFIER = b"BP08"
VERSION = 2


@dataclass(frozen=True)
class BundledTensor:
    """A tensor of a case; `data` lies in `dim_order`."""

    dtype: str
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    data: memoryview = field(repr=False)

    def array(self) -> np.ndarray:
        """The tensor as a read-only array of its shape."""
        return as_array(self.data, self.dtype, self.sizes, self.dim_order)


BundledValue = BundledTensor | int | bool | float


@dataclass(frozen=True)
class BundledCase:
    """One call: inputs, and the outputs to expect (empty: none are known)."""

    inputs: tuple[BundledValue, ...]
    outputs: tuple[BundledValue, ...]


@dataclass(frozen=True)
class BundledSuite:
    """The cases of one method."""

    method: str
    cases: tuple[BundledCase, ...]


@dataclass(frozen=True)
class BundledProgram:
    """`program` has the bytes of the .pte inside; read_program reads them."""

    version: int
    suites: tuple[BundledSuite, ...]
    program: memoryview = field(repr=False)
    file_bytes: int


def is_bundled_program(data: bytes | bytearray | memoryview) -> bool:
    """Whether the bytes say that they are a bundled program."""
    return bytes(data[4:8]) == IDENTIFIER


def read_bundled_program(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> BundledProgram:
    """Read a bundled program from a path or from its bytes; every value is checked, the program inside is
    not.

    Errors: InvalidProgram naming what is wrong, with what was expected and found; InvalidArgument for a
    file that cannot be opened.
    """
    data = bytes_of(source)
    check_identifier(data, IDENTIFIER, "bundled program")
    root = Buffer(data).root("bundled program")
    version = root.number(0, "version", "I")
    if version != VERSION:
        raise InvalidProgram(f"bundled program: schema version {VERSION} expected, found {version}")
    program = root.bytes(2, "program")
    if not program:
        raise InvalidProgram("bundled program: a program inside expected, found none")
    return BundledProgram(
        version=version,
        suites=root.tables(1, "method_test_suites", _suite),
        program=program,
        file_bytes=len(data),
    )


def _suite(table: Table) -> BundledSuite:
    return BundledSuite(table.name(0, "method_name"), table.tables(1, "test_cases", _case))


def _case(table: Table) -> BundledCase:
    return BundledCase(table.tables(0, "inputs", _value), table.tables(1, "expected_outputs", _value))


def _value(table: Table) -> BundledValue:
    kind, content = table.union(0, "val", 4)
    if content is None:
        raise InvalidProgram(f"{table.what}: a value expected, found none")
    if kind == 1:
        return _tensor(content)
    if kind == 2:
        return content.number(0, "int_val", "q")
    if kind == 3:
        return bool(content.number(0, "bool_val", "B"))
    return content.double(0, "double_val")


def _tensor(table: Table) -> BundledTensor:
    dtype, sizes, order = read_layout(table, 0, 1, 3)
    data = table.bytes(2, "data")
    if (needed := tensor_bytes(dtype, sizes)) != len(data):
        raise InvalidProgram(f"{table.what}: {needed} bytes of data expected, found {len(data)}")
    return BundledTensor(dtype, sizes, order, data)
