# SPDX-License-Identifier: BSD-3-Clause
"""Reads GGUF files: metadata and tensors, memory-mapped.

This module replaces the package `gguf`, whose reader trusts the lengths of lists: a file of 100 bytes can
keep it busy forever. Here every count is compared with the remaining bytes before it is used. Reference:
github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import math
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.errors import FileFailed, InvalidArgument
from rushlight.printable import one_line

_SCALARS = {
    0: "<u1",
    1: "<i1",
    2: "<u2",
    3: "<i2",
    4: "<u4",
    5: "<i4",
    6: "<f4",
    7: "?",
    10: "<u8",
    11: "<i8",
    12: "<f8",
}
_STRING, _ARRAY = 8, 9
_MOST_DIMENSIONS = 4
_DEFAULT_ALIGNMENT = 32

TYPES = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    30: ("BF16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
}
"""By type number: the type's name, the elements of a block and the bytes of a block."""


@dataclass(frozen=True)
class GgufTensor:
    """A tensor: the name of its type, its sizes (the last is contiguous), and its bytes as uint8 [rows, bytes
    per row]."""

    name: str
    type: str
    sizes: tuple[int, ...]
    data: NDArray[np.uint8] = field(repr=False)


@dataclass(frozen=True)
class GgufFile:
    """Metadata by key (numbers, strings, and lists of them) and tensors by name."""

    path: str
    metadata: dict[str, Any]
    tensors: dict[str, GgufTensor]


def read_gguf(path: str | os.PathLike[str]) -> GgufFile:
    """The file, memory-mapped: bytes of tensors are read when they are used.

    Errors: FileFailed; InvalidArgument for a file that is not GGUF or is truncated, and for unsupported
    types.
    """
    shown = os.fspath(path)
    try:
        if not Path(path).stat().st_size:
            raise InvalidArgument(f"{shown}: expected a GGUF file, got an empty one")
        data = np.memmap(path, np.uint8, "r")
    except OSError as error:
        raise FileFailed.of(error, path) from error
    reader = _Reader(data, shown)
    if bytes(reader.take(4, "the magic number")) != b"GGUF":
        raise InvalidArgument(
            f"{shown}: expected a GGUF file, got bytes {bytes(data[:4])!r} at its beginning"
        )
    version = reader.number("<u4", "the version")
    if version not in (2, 3):
        raise InvalidArgument(f"{shown}: expected GGUF version 2 or 3, got {version}")
    tensors = reader.number("<u8", "the number of tensors")
    keys = reader.number("<u8", "the number of keys")
    metadata: dict[str, Any] = {}
    for _ in range(reader.count(keys, 13, "keys")):
        name = reader.string("a key")
        if name in metadata:
            raise InvalidArgument(f"{shown}: key '{one_line(name)}': expected once, got twice")
        metadata[name] = reader.value(f"key '{one_line(name)}'")
    heads = [reader.tensor_head() for _ in range(reader.count(tensors, 24, "tensors"))]
    return GgufFile(shown, metadata, _tensors(reader, heads, metadata.get("general.alignment")))


@dataclass(frozen=True)
class _Head:
    name: str
    sizes: tuple[int, ...]
    type: int
    offset: int


def _tensors(reader: _Reader, heads: list[_Head], alignment: Any) -> dict[str, GgufTensor]:
    if alignment is None:
        alignment = _DEFAULT_ALIGNMENT
    if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
        raise InvalidArgument(
            f"{reader.shown}: general.alignment: expected a power of 2, got {one_line(str(alignment)[:40])}"
        )
    base = reader.at + -reader.at % alignment
    found: dict[str, GgufTensor] = {}
    for head in heads:
        what = f"{reader.shown}: tensor '{one_line(head.name)}'"
        if head.name in found:
            raise InvalidArgument(f"{what}: expected once, got twice")
        if head.type not in TYPES:
            known = ", ".join(name for name, _, _ in TYPES.values())
            raise InvalidArgument(f"{what}: expected a type of {known}, got type number {head.type}")
        name, numbers, nbytes = TYPES[head.type]
        if head.sizes[-1] % numbers:
            raise InvalidArgument(
                f"{what}: expected rows of a multiple of {numbers} numbers ({name}), got {head.sizes[-1]}"
            )
        row = head.sizes[-1] // numbers * nbytes
        rows = math.prod(head.sizes[:-1])
        start, size = base + head.offset, rows * row
        if start + size > len(reader.data):
            raise InvalidArgument(
                f"{what}: expected {size} bytes at {start}, got a file of {len(reader.data)} bytes"
            )
        found[head.name] = GgufTensor(
            head.name, name, head.sizes, reader.data[start : start + size].reshape(rows, row)
        )
    return found


class _Reader:
    """Reads a file sequentially, with bounds checks."""

    def __init__(self, data: NDArray[np.uint8], shown: str) -> None:
        self.data, self.shown, self.at = data, shown, 0
        self._bytes = data.data

    def take(self, count: int, what: str) -> memoryview:
        """The next bytes."""
        if count > len(self.data) - self.at:
            raise InvalidArgument(
                f"{self.shown}: {what}: expected {count} bytes at {self.at}, got a file of {len(self.data)}"
            )
        self.at += count
        return self._bytes[self.at - count : self.at]

    def number(self, kind: str, what: str) -> Any:
        """The next number, of dtype `kind`."""
        dtype = np.dtype(kind)
        return np.frombuffer(self.take(dtype.itemsize, what), dtype)[0].item()

    def count(self, count: int, least: int, what: str) -> int:
        """Checks a count of items of at least `least` bytes each against the remaining bytes, and returns
        it."""
        if count * least > len(self.data) - self.at:
            raise InvalidArgument(
                f"{self.shown}: expected at most {(len(self.data) - self.at) // least} {what}, got {count}"
            )
        return count

    def string(self, what: str) -> str:
        """The next string."""
        (length,) = struct.unpack("<Q", self.take(8, what))
        data = self.take(length, what)
        try:
            return str(data, "utf-8")
        except UnicodeDecodeError as error:
            raise InvalidArgument(
                f"{self.shown}: {what}: expected UTF-8, got byte {data[error.start]:#x} at {error.start}"
            ) from error

    def value(self, what: str) -> Any:
        """The next value, preceded by its type."""
        return self._typed(self.number("<u4", what), what)

    def _typed(self, kind: int, what: str) -> Any:
        if kind == _STRING:
            return self.string(what)
        if kind == _ARRAY:
            return self._array(what)
        if kind not in _SCALARS:
            raise InvalidArgument(f"{self.shown}: {what}: expected a type up to 12, got {kind}")
        return self.number(_SCALARS[kind], what)

    def _array(self, what: str) -> list[Any]:
        kind = self.number("<u4", what)
        length = self.number("<u8", what)
        if kind in _SCALARS:
            dtype = np.dtype(_SCALARS[kind])
            return list(np.frombuffer(self.take(length * dtype.itemsize, what), dtype).tolist())
        if kind != _STRING:
            raise InvalidArgument(f"{self.shown}: {what}: expected a list of numbers or strings, got {kind}")
        return [self.string(what) for _ in range(self.count(length, 8, f"strings in {what}"))]

    def tensor_head(self) -> _Head:
        """Name, sizes, type and offset of the next tensor."""
        name = self.string("a tensor's name")
        what = f"tensor '{one_line(name)}'"
        rank = self.number("<u4", what)
        if not 1 <= rank <= _MOST_DIMENSIONS:
            raise InvalidArgument(
                f"{self.shown}: {what}: expected 1 to {_MOST_DIMENSIONS} dimensions, got {rank}"
            )
        sizes = tuple(self.number("<u8", what) for _ in range(rank))
        if 0 in sizes:
            raise InvalidArgument(f"{self.shown}: {what}: expected sizes above 0, got {list(sizes)}")
        return _Head(name, sizes[::-1], self.number("<u4", what), self.number("<u8", what))
