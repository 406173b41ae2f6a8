# SPDX-License-Identifier: BSD-3-Clause
"""The content of a file to write: pieces in order, without copies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.files import writing
from rushlight.program.model import Segment


def bytes_view(data: Any, what: str) -> memoryview:
    """The bytes of an object with a buffer (bytes, arrays of any dtype), without a copy.

    Errors: InvalidArgument for an object without bytes, or with non-contiguous ones.
    """
    try:
        view = memoryview(data)
    except (TypeError, ValueError, BufferError):
        try:
            view = memoryview(data.reshape(-1).view("uint8"))  # dtypes that the buffer protocol cannot name
        except (AttributeError, TypeError, ValueError):
            found = type(data).__name__
            raise InvalidArgument(f"{what}: expected an object with bytes, got {found}") from None
    if not view.c_contiguous:
        raise InvalidArgument(f"{what}: expected contiguous bytes, got strides {view.strides}")
    return view.cast("B") if view.nbytes else memoryview(b"")


def padding(position: int, alignment: int) -> int:
    """The bytes from `position` to the next multiple of `alignment`."""
    return -position % alignment


def check_alignment(what: str, alignment: int) -> None:
    """Errors: InvalidArgument unless `alignment` is a power of 2."""
    if alignment < 1 or alignment & (alignment - 1):
        raise InvalidArgument(f"{what} alignment: expected a power of 2, got {alignment}")


class FileImage:
    """The pieces of a file. They refer to the caller's bytes, which must not change until the file is
    written."""

    def __init__(self, pieces: Iterable[bytes | bytearray | memoryview] = ()) -> None:
        self._pieces: list[memoryview] = []
        self.nbytes = 0
        for piece in pieces:
            self.append(piece)

    def append(self, data: bytes | bytearray | memoryview) -> None:
        """Appends bytes."""
        view = memoryview(data)
        self._pieces.append(view)
        self.nbytes += len(view)

    def align(self, alignment: int) -> None:
        """Appends zeros up to the next multiple of `alignment`."""
        if count := padding(self.nbytes, alignment):
            self.append(bytes(count))

    def extend(self, other: FileImage) -> None:
        """Appends the pieces of another file."""
        for piece in other.pieces():
            self.append(piece)

    def pieces(self) -> Iterator[memoryview]:
        """The pieces in order."""
        return iter(self._pieces)

    def tobytes(self) -> bytes:
        """The whole file as one bytes object."""
        return b"".join(self._pieces)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file; an existing file is replaced only after everything is written.

        Errors: FileFailed for a path that cannot be written.
        """
        with writing(path) as file:
            for piece in self._pieces:
                file.write(piece)


class SegmentList:
    """The segments after a program, at aligned offsets relative to the first one."""

    def __init__(self, alignment: int) -> None:
        self.image = FileImage()
        self.segments: list[Segment] = []
        self._alignment = alignment
        self._by_size: dict[int, list[tuple[int, memoryview]]] = {}

    def add(self, content: FileImage | memoryview) -> int:
        """Appends a segment; returns its index."""
        self.image.align(self._alignment)
        before = self.image.nbytes
        if isinstance(content, FileImage):
            self.image.extend(content)
        else:
            self.image.append(content)
        self.segments.append(Segment(before, self.image.nbytes - before))
        return len(self.segments) - 1

    def add_once(self, content: memoryview) -> int:
        """The index of a segment with these bytes; appends it if it is new."""
        alike = self._by_size.setdefault(len(content), [])
        for index, other in alike:
            if other == content:
                return index
        alike.append((self.add(content), content))
        return alike[-1][0]
