# SPDX-License-Identifier: BSD-3-Clause
"""Reads the frame of a program file: identifier, extended header, and the start of the segments."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from rushlight.errors import InvalidArgument, InvalidProgram

IDENTIFIER = b"ET12"
HEADER_MAGIC = b"eh00"
HEADER_OFFSET = 8
_HEADER_MIN_LENGTH = 24


@dataclass(frozen=True)
class Frame:
    """The size in bytes of the program part, and the file offset of the segments (0: no segments)."""

    program_size: int
    segment_base: int


def bytes_of(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> memoryview:
    """The bytes of a file, or the given bytes. Errors: InvalidArgument for a file that cannot be opened."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return memoryview(source).cast("B")
    try:
        return memoryview(Path(source).read_bytes())
    except OSError as error:
        raise InvalidArgument(
            f"cannot read {os.fspath(source)}: {error.strerror}", next_step="Check the path."
        ) from error


def check_identifier(data: memoryview, identifier: bytes, what: str) -> None:
    """Errors: InvalidProgram unless the bytes have the identifier of a `what`."""
    if len(data) < 8:
        raise InvalidProgram(f"{what}: expected at least 8 bytes, got {len(data)}")
    found = bytes(data[4:8])
    if found != identifier:
        raise InvalidProgram(
            f"{what}: expected the identifier {identifier.decode()!r} at byte 4, got {_shown(found)}"
        )


def read_frame(data: memoryview) -> Frame:
    """Checks the identifier and reads the extended header. Errors: InvalidProgram."""
    check_identifier(data, IDENTIFIER, "program")
    size = len(data)
    if bytes(data[HEADER_OFFSET : HEADER_OFFSET + 4]) != HEADER_MAGIC:
        return Frame(size, 0)
    return _read_header(data)


def _read_header(data: memoryview) -> Frame:
    size = len(data)
    if size < HEADER_OFFSET + _HEADER_MIN_LENGTH:
        raise InvalidProgram(
            f"extended header: expected {HEADER_OFFSET + _HEADER_MIN_LENGTH} bytes of file, got {size}"
        )
    length, program_size, base = struct.unpack_from("<IQQ", data, HEADER_OFFSET + 4)
    if length < _HEADER_MIN_LENGTH:
        raise InvalidProgram(
            f"extended header: expected a length of at least {_HEADER_MIN_LENGTH}, got {length}"
        )
    if program_size > size:
        raise InvalidProgram(f"truncated: expected {program_size} bytes of program, got {size}")
    if base and not program_size <= base <= size:
        raise InvalidProgram(
            f"segments: expected to begin between {program_size} and the end at {size}, got {base}"
        )
    if length >= 32 and size >= HEADER_OFFSET + 32:
        (data_size,) = struct.unpack_from("<Q", data, HEADER_OFFSET + 24)
        if data_size and base + data_size > size:
            raise InvalidProgram(f"truncated: expected {base + data_size} bytes, got {size}")
    return Frame(program_size, base)


def _shown(found: bytes) -> str:
    """An identifier as text; names the file type if it is a known one."""
    kinds = {
        b"ET12": "a program",
        b"BP08": "a bundled program",
        b"ED00": "an ETDump",
        b"FT01": "a tensor data file (.ptd)",
    }
    name = f" ({kinds[found]})" if found in kinds else ""
    return f"{found!r}{name}"
