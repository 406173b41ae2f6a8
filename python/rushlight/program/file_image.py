# SPDX-License-Identifier: BSD-3-Clause
"""A file that is to be written: pieces in order, none of them copied."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.files import writing
from rushlight.program.model import Segment


def bytes_view(data: Any, what: str) -> memoryview:
    """The bytes of anything that has some (bytes, arrays of any dtype), without a copy.

    Errors: InvalidArgument for what has no bytes, or not in one piece.
    """
    try:
        view = memoryview(data)
    except (TypeError, ValueError, BufferError):
        try:
            view = memoryview(data.reshape(-1).view("uint8"))  # arrays of dtypes that buffers cannot name
        except (AttributeError, TypeError, ValueError):
            found = type(data).__name__
            raise InvalidArgument(f"{what}: an object with bytes expected, got {found}") from None
    if not view.c_contiguous:
        raise InvalidArgument(f"{what}: bytes in one piece expected, got strides {view.strides}")
    return view.cast("B") if view.nbytes else memoryview(b"")


def padding(position: int, alignment: int) -> int:
    """Bytes from `position` to the next multiple of `alignment`."""
    return -position % alignment


def check_alignment(what: str, alignment: int) -> None:
    """Errors: InvalidArgument unless it is a power of 2."""
    if alignment < 1 or alignment & (alignment - 1):
        raise InvalidArgument(f"{what} alignment: a power of 2 expected, got {alignment}")


class FileImage:
    """The pieces of a file. They are the caller's own bytes: they must not change before it is written."""

    def __init__(self, pieces: Iterable[bytes | bytearray | memoryview] = ()) -> None:
        self._pieces: list[memoryview] = []
        self.nbytes = 0
        for piece in pieces:
            self.append(piece)

    def append(self, data: bytes | bytearray | memoryview) -> None:
        """Adds bytes at the end."""
        view = memoryview(data)
        self._pieces.append(view)
        self.nbytes += len(view)

    def align(self, alignment: int) -> None:
        """Adds zeros up to the next multiple of `alignment`."""
        if count := padding(self.nbytes, alignment):
            self.append(bytes(count))

    def extend(self, other: FileImage) -> None:
        """Adds the pieces of another file."""
        for piece in other.pieces():
            self.append(piece)

    def pieces(self) -> Iterator[memoryview]:
        """The bytes, piece by piece."""
        return iter(self._pieces)

    def tobytes(self) -> bytes:
        """The whole file in memory."""
        return b"".join(self._pieces)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file; one that was there is replaced when all is written.

        Error: FileFailed for a path that cannot be written.
        """
        with writing(path) as file:
            for piece in self._pieces:
                file.write(piece)


class SegmentList:
    """The data behind a program: segments at aligned offsets, counted from the first one."""

    def __init__(self, alignment: int) -> None:
        self.image = FileImage()
        self.places: list[Segment] = []
        self._alignment = alignment
        self._by_size: dict[int, list[tuple[int, memoryview]]] = {}

    def add(self, content: FileImage | memoryview) -> int:
        """Appends a segment; its index."""
        self.image.align(self._alignment)
        before = self.image.nbytes
        if isinstance(content, FileImage):
            self.image.extend(content)
        else:
            self.image.append(content)
        self.places.append(Segment(before, self.image.nbytes - before))
        return len(self.places) - 1

    def add_once(self, content: memoryview) -> int:
        """The index of a segment with these bytes, which is appended unless there is one already."""
        alike = self._by_size.setdefault(len(content), [])
        for index, other in alike:
            if other == content:
                return index
        alike.append((self.add(content), content))
        return alike[-1][0]
