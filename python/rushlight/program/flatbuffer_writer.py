# SPDX-License-Identifier: BSD-3-Clause
"""Writes flatbuffers by the names of their schema, for flatbuffer.py to read; equal strings and vectors are
stored once.

The buffer grows from its end to its start, so that targets are written before references. A position is a
distance from the end, which later bytes do not change; the buffer's length is a multiple of the largest
alignment inside, so positions aligned to the end are also aligned to the start.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.program.model import Segment
from rushlight.program.schema import Field, FileSchema

_OFFSET = "@"  # the form of a reference to a string, vector or table
_WORD = 4  # bytes of an offset and of a vector's length
_MOST = 2**31 - 1  # the largest buffer that readers accept
_WIDTHS = {"b": 1, "B": 1, "?": 1, "i": 4, "I": 4, _OFFSET: 4, "q": 8, "Q": 8, "d": 8}


_Stored = tuple[int, str, str, Any]  # slot, name for errors, form, value


class FlatbufferWriter:
    """Builds one flatbuffer from its leaves to its root; the methods return positions to refer to."""

    def __init__(self, schema: FileSchema) -> None:
        self._schema = schema
        self._pieces: list[bytes | memoryview] = []  # in reverse: the end of the buffer first
        self._size = 0
        self._alignment = _WORD
        self._shared: dict[tuple[object, ...], int] = {}

    def shared(self, key: tuple[object, ...], write: Callable[[], int]) -> int:
        """The result of `write` for this key; calls it only the first time."""
        position = self._shared.get(key)
        if position is None:
            position = self._shared[key] = write()
        return position

    def string(self, text: str) -> int:
        """Writes a string; equal ones share a position."""
        return self.shared(("string", text), lambda: self._string(text.encode()))

    def name(self, text: str, what: str) -> int:
        """Writes a string that the runtime reads up to a zero byte. Errors: InvalidArgument if it contains
        one."""
        if "\0" in text:
            raise InvalidArgument(f"{what}: expected a name without zero bytes, got {text!r}")
        return self.string(text)

    def numbers(self, table: str, field: str, values: Sequence[Any], name: str) -> int:
        """Writes a vector of numbers with the type of a table's field; equal ones share a position. Errors:
        InvalidArgument, with `name` in front."""
        form = self._schema.tables[table][field].form
        try:
            packed = struct.pack(f"<{len(values)}{form}", *values)
        except struct.error as error:
            raise InvalidArgument(f"{name}: {error}; got {list(values)[:12]}") from None
        key = ("numbers", form, packed)
        return self.shared(key, lambda: self._vector(packed, len(values), _WIDTHS[form]))

    def blob(self, data: memoryview, alignment: int = 1) -> int:
        """Writes a vector of bytes without copying them; the first byte is at a multiple of `alignment`."""
        return self._vector(data, len(data), alignment)

    def offsets(self, targets: Sequence[int]) -> int:
        """Writes a vector of offsets to tables."""
        first = self._start(_WORD * len(targets), _WORD)
        distances = (first - _WORD * i - target for i, target in enumerate(targets))
        return self._vector(struct.pack(f"<{len(targets)}I", *distances), len(targets), _WORD)

    def table(self, table: str, what: str = "", /, **values: Any) -> int:
        """Writes a table of the schema. Values are numbers, or positions for all other fields; fields that
        are 0 are omitted. Errors: InvalidArgument for a number that its field cannot hold, with `what` in
        front."""
        fields = self._schema.tables[table]
        return self._table([_stored(fields[name], what, value) for name, value in values.items()])

    def union(self, table: str, field: str, kind: str, content: int) -> int:
        """Writes a table whose only field is a union of that kind, with its content's position."""
        union = self._schema.tables[table][field]
        number = 1 + self._schema.unions[union.type].index(kind)
        return self._table([(union.slot, field, _OFFSET, content), (union.slot - 1, "type", "B", number)])

    def _table(self, fields: Sequence[_Stored]) -> int:
        # 0.0 is written, because it may be -0.0.
        present = [field for field in fields if field[3] != 0 or field[2] == "d"]
        # After the 4 bytes of the vtable offset, fields in this order leave no gap.
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
        """The whole buffer, with `header_bytes` zeros after the identifier for the file's own header."""
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
        """Writes a vtable for a table of `size` bytes; tables with equal offsets and size share it."""
        words = (2 * (2 + len(offsets)), size, *offsets)
        return self.shared(("vtable", *words), lambda: self._put(struct.pack(f"<{len(words)}H", *words), 2))

    def _start(self, size: int, alignment: int, lead: int = 0) -> int:
        """The start of `size` bytes whose content after `lead` bytes is aligned."""
        end = self._size + size - lead
        return end + -end % alignment + lead

    def _put(self, data: bytes | memoryview, alignment: int, lead: int = 0) -> int:
        """Prepends bytes; returns their start."""
        start = self._start(len(data), alignment, lead)
        if start > _MOST:
            raise InvalidArgument(f"flatbuffer: expected at most {_MOST} bytes, got at least {start}")
        self._pieces += [bytes(start - self._size - len(data)), data]
        self._size = start
        self._alignment = max(self._alignment, alignment)
        return start


def _stored(field: Field, what: str, value: Any) -> _Stored:
    form = _OFFSET if field.is_vector else field.form or _OFFSET
    return field.slot, f"{what}: {field.name}" if what else field.name, form, value


def write_segment(flat: FlatbufferWriter, segment: Segment) -> int:
    """Writes the table with a segment's offset and size, the same in programs and data files."""
    return flat.table("DataSegment", offset=segment.offset, size=segment.size)
