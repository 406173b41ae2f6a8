# SPDX-License-Identifier: BSD-3-Clause
"""Writes flatbuffers by slot number, as flatbuffer.py reads them; equal strings and vectors share a place."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from rushlight.errors import InvalidArgument, MissingDependency
from rushlight.program.model import Segment

OFFSET = "@"
"""The form of a field that points to a string, vector or table."""

Field = tuple[int, str, str, Any]
"""Slot, name, form (a struct character or OFFSET) and value of a table's field. Fields that are 0, and
offsets of 0, are left out; put the wide ones first, so that no space is lost between them."""


class FlatbufferWriter:
    """Builds one flatbuffer from its leaves to its root; what is returned are offsets to refer to."""

    def __init__(self) -> None:
        try:
            from flatbuffers import Builder
        except ImportError as error:
            raise MissingDependency("flatbuffers", "build") from error
        self._builder = Builder(4096)
        self._shared: dict[tuple[object, ...], int] = {}
        builder = self._builder
        self._number: dict[str, Callable[..., None]] = {
            "b": builder.PrependInt8Slot,
            "B": builder.PrependUint8Slot,
            "?": builder.PrependBoolSlot,
            "i": builder.PrependInt32Slot,
            "I": builder.PrependUint32Slot,
            "q": builder.PrependInt64Slot,
            "Q": builder.PrependUint64Slot,
        }

    def shared(self, key: tuple[object, ...], write: Callable[[], int]) -> int:
        """What `write` gave for this key the first time."""
        offset = self._shared.get(key)
        if offset is None:
            offset = self._shared[key] = write()
        return offset

    def string(self, text: str) -> int:
        """A string; equal ones share their place."""
        return self.shared(("string", text), lambda: self._builder.CreateString(text))

    def numbers(self, form: str, values: Sequence[Any], name: str) -> int:
        """A vector of numbers of a struct form; equal ones share their place. Errors: InvalidArgument."""
        try:
            packed = struct.pack(f"<{len(values)}{form}", *values)
        except struct.error as error:
            raise InvalidArgument(f"{name}: {error}; got {list(values)[:12]}") from None
        size = struct.calcsize(f"<{form}")
        return self.shared(("numbers", form, packed), lambda: self._vector(packed, size, len(values), size))

    def blob(self, data: memoryview, alignment: int = 1) -> int:
        """A vector of bytes whose first one is at a multiple of `alignment` of the buffer."""
        return self._vector(data, 1, len(data), alignment)

    def offsets(self, targets: Sequence[int]) -> int:
        """A vector of offsets to tables."""
        builder, count = self._builder, len(targets)
        builder.StartVector(4, count, 4)
        end = builder.Offset() + 4 * count
        self._place(struct.pack(f"<{count}I", *(end - 4 * i - target for i, target in enumerate(targets))))
        return int(builder.EndVector())

    def table(self, *fields: Field) -> int:
        """A table. Errors: InvalidArgument for a number that its field cannot hold."""
        builder = self._builder
        builder.StartObject(1 + max((field[0] for field in fields), default=-1))
        for slot, name, form, value in fields:
            if form == OFFSET:
                builder.PrependUOffsetTRelativeSlot(slot, value, 0)
            elif form == "d":
                builder.PrependFloat64Slot(slot, value, None)  # 0 may be -0
            else:
                self._put(slot, name, form, value)
        return int(builder.EndObject())

    def finish(self, root: int, identifier: bytes, header_bytes: int = 0) -> bytearray:
        """The whole buffer, with so many zeros behind its identifier for the file's own header; they must
        be a multiple of the largest alignment inside."""
        self._builder.Finish(root, identifier)
        flat = self._builder.Output()
        (offset,) = struct.unpack_from("<I", flat)
        begin = struct.pack("<I4s", offset + header_bytes, identifier)
        return bytearray(b"".join([begin, bytes(header_bytes), memoryview(flat)[8:]]))

    def _put(self, slot: int, name: str, form: str, value: Any) -> None:
        try:
            self._number[form](slot, value, 0)
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"{name}: {error}") from None

    def _vector(self, data: bytes | memoryview, item_size: int, count: int, alignment: int) -> int:
        self._builder.StartVector(item_size, count, alignment)
        self._place(data)
        return int(self._builder.EndVector())

    def _place(self, data: bytes | memoryview) -> None:
        """Puts bytes in front of what is there; StartVector made room."""
        builder = self._builder
        builder.head -= len(data)
        builder.Bytes[builder.head : builder.head + len(data)] = data


def write_segment(flat: FlatbufferWriter, place: Segment) -> int:
    """The table that says where a segment is, in programs and data files alike."""
    return flat.table((0, "offset", "Q", place.offset), (1, "size", "Q", place.size))
