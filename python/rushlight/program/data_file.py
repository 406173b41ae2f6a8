# SPDX-License-Identifier: BSD-3-Clause
"""Reads data files (.ptd): tensors and other data by name, separate from programs."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from rushlight.errors import InvalidArgument, InvalidProgram
from rushlight.program.arrays import as_array, read_layout, tensor_bytes
from rushlight.program.container import bytes_of, check_identifier
from rushlight.program.flatbuffer import Buffer, Table
from rushlight.program.model import Segment
from rushlight.program.schema import DATA_FILE

if TYPE_CHECKING:
    import numpy as np

IDENTIFIER = DATA_FILE.identifier
HEADER_MAGIC = b"FH01"
HEADER_OFFSET = 8
HEADER_LENGTH = 40
_VERSION = 0


@dataclass(frozen=True)
class DataEntry:
    """A key and its bytes. `dtype` is None for data that is no tensor; `sizes` and `dim_order` belong to
    tensors. `segment` is the index of the segment in the file, which several keys may share."""

    key: str
    data: memoryview = field(repr=False)
    dtype: str | None = None
    sizes: tuple[int, ...] = ()
    dim_order: tuple[int, ...] = ()
    segment: int = 0

    def array(self) -> np.ndarray:
        """The tensor as a read-only array of shape `sizes`.

        Errors: InvalidArgument for data that is no tensor.
        """
        if self.dtype is None:
            raise InvalidArgument(
                f"'{self.key}': expected a tensor, got {len(self.data)} bytes without a dtype"
            )
        return as_array(self.data, self.dtype, self.sizes, self.dim_order)


@dataclass(frozen=True)
class DataFile:
    """The entries of a data file, in file order."""

    version: int
    entries: tuple[DataEntry, ...]
    segments: tuple[Segment, ...]
    file_bytes: int

    @cached_property
    def _by_key(self) -> dict[str, DataEntry]:
        # The first of several equal keys wins, as in the runtime.
        return {entry.key: entry for entry in reversed(self.entries)}

    def keys(self) -> tuple[str, ...]:
        """The keys of all entries."""
        return tuple(entry.key for entry in self.entries)

    def entry(self, key: str) -> DataEntry:
        """The entry with that key. Errors: InvalidArgument, which lists known keys."""
        if key in self._by_key:
            return self._by_key[key]
        listed = ", ".join(self.keys()[:12]) or "none"
        raise InvalidArgument(f"key '{key}': expected one of {listed}, got an unknown key")


def read_data_file(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> DataFile:
    """Reads a data file from a path or from its bytes. Checks every offset and layout.

    Errors: InvalidProgram naming the defect with the expected and actual value; InvalidArgument for a file
    that cannot be opened.
    """
    data = bytes_of(source)
    directory_size, base, data_size = _read_header(data)
    root = Buffer(data[:directory_size]).root(DATA_FILE, "data file")
    version = root.number("version")
    if version != _VERSION:
        raise InvalidProgram(f"data file: expected schema version {_VERSION}, got {version}")
    segments = root.tables("segments", lambda table: _segment(table, base, data_size))
    return DataFile(
        version=version,
        entries=root.tables("named_data", lambda table: _entry(table, segments, data)),
        segments=segments,
        file_bytes=len(data),
    )


def _read_header(data: memoryview) -> tuple[int, int, int]:
    """The end of the directory, the start of the data, and the data's size, in bytes."""
    check_identifier(data, IDENTIFIER, "data file")
    size = len(data)
    if size < HEADER_OFFSET + HEADER_LENGTH:
        raise InvalidProgram(
            f"data file: expected a header of {HEADER_OFFSET + HEADER_LENGTH} bytes, got a file of {size}"
        )
    magic, length, offset, flat, base, held = struct.unpack_from("<4sIQQQQ", data, HEADER_OFFSET)
    if magic != HEADER_MAGIC:
        raise InvalidProgram(f"data file: expected the header {HEADER_MAGIC!r} at byte 8, got {magic!r}")
    if length < HEADER_LENGTH:
        raise InvalidProgram(f"data file: expected a header of at least {HEADER_LENGTH} bytes, got {length}")
    if offset + flat > size:
        raise InvalidProgram(
            f"data file: expected {flat} bytes of directory at {offset}, got a file of {size}"
        )
    if base + held > size:
        raise InvalidProgram(f"data file: expected {held} bytes of data at {base}, got a file of {size}")
    return offset + flat, base, held


def _segment(table: Table, base: int, data_size: int) -> Segment:
    offset, size = table.number("offset"), table.number("size")
    if offset + size > data_size:
        raise InvalidProgram(
            f"{table.what}: expected to end within {data_size} bytes of data, got {offset + size}"
        )
    return Segment(base + offset, size)


def _entry(table: Table, segments: tuple[Segment, ...], data: memoryview) -> DataEntry:
    key, index = table.string("key"), table.number("segment_index")
    if index >= len(segments):
        raise InvalidProgram(f"'{key}': expected one of {len(segments)} segments, got index {index}")
    segment = segments[index]
    held = data[segment.offset : segment.offset + segment.size]
    layout = table.table("tensor_layout")
    if layout is None:
        return DataEntry(key, held, segment=index)
    dtype, sizes, order = read_layout(layout)
    if (needed := tensor_bytes(dtype, sizes)) > segment.size:
        raise InvalidProgram(f"'{key}': expected {needed} bytes of tensor, got {segment.size}")
    return DataEntry(key, held, dtype, sizes, order, index)
