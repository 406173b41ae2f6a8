# SPDX-License-Identifier: BSD-3-Clause
"""Reads a program file to a Program and checks every index and extent."""

from __future__ import annotations

import os

from rushlight.errors import InvalidProgram
from rushlight.program.bundled import is_bundled_program, read_bundled_program
from rushlight.program.container import Frame, bytes_of, read_frame
from rushlight.program.flatbuffer import Buffer, Table
from rushlight.program.method import read_method
from rushlight.program.model import Program, Segment, SegmentSlices, Storage, TensorInfo
from rushlight.program.schema import PROGRAM

_VERSION = 0
"""The schema version; later additions have default values."""


def read_program(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Program:
    """Reads a program from a path or from its bytes. The result refers to the bytes without copying them.

    Errors: InvalidProgram naming the defect with the expected and actual value; InvalidArgument for a file
    that cannot be opened.

    Example:
        program = read_program("model.pte")
        [method.name for method in program.plans]
    """
    data = bytes_of(source)
    frame = read_frame(data)
    root = Buffer(data[: frame.program_size]).root(PROGRAM, "program")
    segments = root.tables("segments", lambda table: _segment(table, frame, len(data)))
    inline = root.tables("constant_buffer", lambda table: table.bytes("storage"))
    delegate_data = root.tables("backend_delegate_data", lambda table: table.bytes("data"))
    constants = root.table("constant_segment")
    payloads = {0: delegate_data, 1: tuple(data[s.offset : s.offset + s.size] for s in segments)}
    program = Program(
        version=root.number("version"),
        plans=root.tables("execution_plan", lambda table: read_method(table, payloads)),
        segments=segments,
        constants=_slices(constants, segments) if constants else None,
        inline_constants=inline,
        mutable_groups=root.tables("mutable_data_segments", lambda table: _slices(table, segments)),
        named_data=root.tables("named_data", lambda table: _named(table, segments)),
        data=data,
        program_size=frame.program_size,
    )
    return _checked(program)


def read_model(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Program:
    """Reads a program, or the one inside a bundled program. Errors: as for `read_program` and
    `read_bundled_program`."""
    data = bytes_of(source)
    return read_program(read_bundled_program(data).program if is_bundled_program(data) else data)


def _segment(table: Table, frame: Frame, file_size: int) -> Segment:
    offset, size = table.number("offset"), table.number("size")
    if size and frame.segment_base == 0:
        raise InvalidProgram(
            f"{table.what}: expected an extended header with the start of segments, got none"
        )
    end = frame.segment_base + offset + size
    if end > file_size:
        raise InvalidProgram(f"{table.what}: expected to end within {file_size} bytes of file, got {end}")
    return Segment(frame.segment_base + offset, size)


def _segment_index(table: Table, index: int, segments: tuple[Segment, ...]) -> int:
    if index >= len(segments):
        raise InvalidProgram(f"{table.what}: expected one of {len(segments)} segments, got index {index}")
    return index


def _slices(table: Table, segments: tuple[Segment, ...]) -> SegmentSlices | None:
    offsets, index = table.numbers("offsets"), table.number("segment_index")
    return SegmentSlices(_segment_index(table, index, segments), offsets) if offsets else None


def _named(table: Table, segments: tuple[Segment, ...]) -> tuple[str, int]:
    return table.string("key"), _segment_index(table, table.number("segment_index"), segments)


def _checked(program: Program) -> Program:
    """Checks that the file contains each tensor's bytes; returns the program."""
    if program.version != _VERSION:
        raise InvalidProgram(f"program: expected schema version {_VERSION}, got {program.version}")
    if not program.plans:
        raise InvalidProgram("program: expected at least one method, got none")
    for method in program.plans:
        for index, value in enumerate(method.values):
            tensor = value.data
            if isinstance(tensor, TensorInfo) and tensor.storage in (Storage.CONSTANT, Storage.MUTABLE):
                _check_constant(program, tensor, f"method '{method.name}': tensor {index}")
    return program


def _check_constant(program: Program, tensor: TensorInfo, what: str) -> None:
    index = tensor.buffer_index
    if tensor.storage is Storage.CONSTANT and program.constants is None:
        count = len(program.inline_constants)
        held = len(program.inline_constants[index]) if index < count else 0
    else:
        group = _group(program, tensor, what)
        count = len(group.offsets)
        held = program.segments[group.segment].size - group.offsets[index] if index < count else 0
    if index >= count:
        raise InvalidProgram(f"{what}: expected one of {count} pieces of data, got index {index}")
    if tensor.nbytes > max(held, 0):
        found = max(held, 0)
        raise InvalidProgram(f"{what}: expected {tensor.nbytes} bytes of data, got {found}")


def _group(program: Program, tensor: TensorInfo, what: str) -> SegmentSlices:
    if tensor.storage is Storage.CONSTANT:
        assert program.constants is not None
        return program.constants
    group = None
    if tensor.mutable_group < len(program.mutable_groups):
        group = program.mutable_groups[tensor.mutable_group]
    if group is None:
        raise InvalidProgram(
            f"{what}: mutable data group {tensor.mutable_group} expected, "
            f"the program has {len(program.mutable_groups)}"
        )
    return group
