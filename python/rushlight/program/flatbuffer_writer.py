# SPDX-License-Identifier: BSD-3-Clause
"""Writes flatbuffers by the names of their schema, as flatbuffer.py reads them; equal strings and vectors
share a place.

The buffer grows from its end to its start, so that what is pointed at is written first. A place in it is a
distance to the end, which later bytes do not change; the buffer's length is made a multiple of the largest
alignment inside, so that places aligned to the end are aligned to the start too.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.program.model import Segment
from rushlight.program.schema import Field, FileSchema

_OFFSET = "@"  # the form of what leads to a string, vector or table
_WORD = 4  # bytes of offsets and of a vector's length
_MOST = 2**31 - 1  # what readers take
_WIDTHS = {"b": 1, "B": 1, "?": 1, "i": 4, "I": 4, _OFFSET: 4, "q": 8, "Q": 8, "d": 8}


_Stored = tuple[int, str, str, Any]  # slot, name for errors, form, value


class FlatbufferWriter:
    """Builds one flatbuffer from its leaves to its root; what is returned are places to refer to."""

    def __init__(self, schema: FileSchema) -> None:
        self._schema = schema
        self._pieces: list[bytes | memoryview] = []  # the last one of the buffer first
        self._size = 0
        self._alignment = _WORD
        self._shared: dict[tuple[object, ...], int] = {}

    def shared(self, key: tuple[object, ...], write: Callable[[], int]) -> int:
        """What `write` gave for this key the first time."""
        place = self._shared.get(key)
        if place is None:
            place = self._shared[key] = write()
        return place

    def string(self, text: str) -> int:
        """A string; equal ones share their place."""
        return self.shared(("string", text), lambda: self._string(text.encode()))

    def name(self, text: str, what: str) -> int:
        """A string that the runtime reads up to a zero byte. Errors: InvalidArgument for one with such."""
        if "\0" in text:
            raise InvalidArgument(f"{what}: a name without zero bytes expected, got {text!r}")
        return self.string(text)

    def numbers(self, table: str, field: str, values: Sequence[Any], name: str) -> int:
        """A vector of numbers as a table's field takes it; equal ones share their place. `name` is said in
        errors: InvalidArgument."""
        form = self._schema.tables[table][field].form
        try:
            packed = struct.pack(f"<{len(values)}{form}", *values)
        except struct.error as error:
            raise InvalidArgument(f"{name}: {error}; got {list(values)[:12]}") from None
        key = ("numbers", form, packed)
        return self.shared(key, lambda: self._vector(packed, len(values), _WIDTHS[form]))

    def blob(self, data: memoryview, alignment: int = 1) -> int:
        """A vector of bytes, which are not copied, the first one at a multiple of `alignment`."""
        return self._vector(data, len(data), alignment)

    def offsets(self, targets: Sequence[int]) -> int:
        """A vector of offsets to tables."""
        first = self._start(_WORD * len(targets), _WORD)
        distances = (first - _WORD * i - target for i, target in enumerate(targets))
        return self._vector(struct.pack(f"<{len(targets)}I", *distances), len(targets), _WORD)

    def table(self, table: str, what: str = "", /, **values: Any) -> int:
        """A table of the schema; numbers are given as they are, all else by its place. Fields that are 0 are
        left out. Errors: InvalidArgument for a number that its field cannot hold, with `what` in front."""
        fields = self._schema.tables[table]
        return self._table([_stored(fields[name], what, value) for name, value in values.items()])

    def union(self, table: str, field: str, kind: str, content: int) -> int:
        """A table whose only field is a union, of that kind and place."""
        union = self._schema.tables[table][field]
        number = 1 + self._schema.unions[union.type].index(kind)
        return self._table([(union.slot, field, _OFFSET, content), (union.slot - 1, "type", "B", number)])

    def _table(self, fields: Sequence[_Stored]) -> int:
        # 0.0 is written: it may be -0.0.
        present = [field for field in fields if field[3] != 0 or field[2] == "d"]
        # Behind the 4 bytes that lead to the vtable, fields in this order leave no gap.
        present.sort(key=lambda field: (_WORD, 8, 1).index(_WIDTHS[field[2]]))
        offsets, size = [0] * (1 + max((field[0] for field in present), default=-1)), _WORD
        wide = 0
        for slot, _, form, _ in present:
            if _WIDTHS[form] == 8 and not wide:
                wide = size
            offsets[slot] = size
            size += _WIDTHS[form]
        vtable = self._vtable(offsets, size)
        start = self._start(size, 8 if wide else _WORD, wide)
        content = struct.pack("<i", vtable - start)
        for slot, name, form, value in present:
            if form == _OFFSET:
                form, value = "I", start - offsets[slot] - value
            try:
                content += struct.pack(f"<{form}", value)
            except struct.error as error:
                raise InvalidArgument(f"{name}: {error}; got {value!r}") from None
        return self._put(content, 8 if wide else _WORD, wide)

    def finish(self, root: int, identifier: bytes, header_bytes: int = 0) -> bytearray:
        """The whole buffer, with so many zeros behind its identifier for the file's own header."""
        size = _WORD + len(identifier) + header_bytes
        start = self._start(size, self._alignment)
        self._put(struct.pack("<I4s", start - root, identifier) + bytes(header_bytes), self._alignment)
        return bytearray(b"".join(reversed(self._pieces)))

    def _string(self, text: bytes) -> int:
        return self._vector(text + b"\0", len(text), 1)

    def _vector(self, data: bytes | memoryview, count: int, alignment: int) -> int:
        alignment = max(_WORD, alignment)
        self._put(data, alignment)
        return self._put(struct.pack("<I", count), _WORD)

    def _vtable(self, offsets: Sequence[int], size: int) -> int:
        """Where the fields of a table of `size` bytes are; tables alike in both share it."""
        words = (2 * (2 + len(offsets)), size, *offsets)
        return self.shared(("vtable", *words), lambda: self._put(struct.pack(f"<{len(words)}H", *words), 2))

    def _start(self, size: int, alignment: int, lead: int = 0) -> int:
        """Where `size` bytes will begin that are aligned behind their first `lead`."""
        end = self._size + size - lead
        return end + -end % alignment + lead

    def _put(self, data: bytes | memoryview, alignment: int, lead: int = 0) -> int:
        """Puts bytes in front of what is there; where they begin."""
        start = self._start(len(data), alignment, lead)
        if start > _MOST:
            raise InvalidArgument(f"flatbuffer: at most {_MOST} bytes expected, got {start} and more")
        self._pieces += [bytes(start - self._size - len(data)), data]
        self._size = start
        self._alignment = max(self._alignment, alignment)
        return start


def _stored(field: Field, what: str, value: Any) -> _Stored:
    form = _OFFSET if field.is_vector else field.form or _OFFSET
    return field.slot, f"{what}: {field.name}" if what else field.name, form, value


def write_segment(flat: FlatbufferWriter, place: Segment) -> int:
    """The table that says where a segment is, in programs and data files alike."""
    return flat.table("DataSegment", offset=place.offset, size=place.size)
