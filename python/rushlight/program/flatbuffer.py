# SPDX-License-Identifier: BSD-3-Clause
"""A bounds-checked reader of flatbuffers: every read is inside the data and aligned as the format requires,
or raises InvalidProgram. It accepts what runtime/program/flatbuffer.cpp accepts.

A field is checked against the bounds of the data, not against the table size in its vtable: writers share
a vtable between tables whose fields begin at the same offsets but end at different ones.

Each read is charged to a budget proportional to the file, so that data with millions of references to the
same bytes fails instead of running for hours.
"""

from __future__ import annotations

import builtins
import struct
from collections.abc import Callable
from typing import TypeVar

from rushlight.errors import InvalidProgram
from rushlight.program.schema import Field, FileSchema

T = TypeVar("T")

_SIZE = {"b": 1, "B": 1, "H": 2, "i": 4, "I": 4, "q": 8, "Q": 8, "d": 8}
_BYTE_OF_BOOL = {"?": "B"}  # any byte, which the caller checks
_TABLE_COST = 8
_UNITS_PER_BYTE = 8
_MAX_UNITS = 40_000_000


class Buffer:
    """The bytes of one flatbuffer, and the remaining read budget."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.size = len(data)
        self.units = min(_UNITS_PER_BYTE * self.size + 4096, _MAX_UNITS)

    def root(self, schema: FileSchema, what: str, position: int = 0) -> Table:
        """The root table of a file, referenced by the offset at `position`."""
        return Table(self, self.follow(position, what), what, schema, schema.root)

    def charge(self, units: int, what: str) -> None:
        """Charges a read to the budget. Errors: InvalidProgram if the budget is exhausted."""
        self.units -= units
        if self.units < 0:
            raise InvalidProgram(
                f"{what}: expected reads in proportion to the file, got too many of the same bytes"
            )

    def check(self, position: int, size: int, what: str, alignment: int = 1) -> None:
        """Errors: InvalidProgram unless [position, position + size) is inside the data and position is a
        multiple of `alignment`."""
        if position < 0 or size < 0 or position + size > self.size:
            raise InvalidProgram(
                f"{what}: expected bytes {position} to {position + size}, got data that ends at {self.size}"
            )
        if position % alignment:
            raise InvalidProgram(f"{what}: expected a multiple of {alignment} bytes, got {position}")

    def number(self, form: str, position: int, what: str) -> int:
        """Reads one little-endian integer; `form` is its struct character."""
        self.check(position, _SIZE[form], what, _SIZE[form])
        value: int = struct.unpack_from("<" + form, self.data, position)[0]
        return value

    def follow(self, position: int, what: str) -> int:
        """The target of the offset at `position`."""
        return position + self.number("I", position, what)


class Table:
    """One table; fields are accessed by their names in the schema."""

    def __init__(self, buffer: Buffer, position: int, what: str, schema: FileSchema, type_name: str) -> None:
        self.buffer, self.position, self.what = buffer, position, what
        self._schema, self._fields = schema, schema.tables[type_name]
        buffer.charge(_TABLE_COST, what)
        self.vtable = position - buffer.number("i", position, what)
        self.vtable_size = buffer.number("H", self.vtable, f"{what}, vtable")
        if self.vtable_size < 4 or self.vtable_size % 2:
            raise InvalidProgram(
                f"{what}: expected an even vtable size of at least 4, got {self.vtable_size}"
            )
        buffer.check(self.vtable, self.vtable_size, f"{what}, vtable")

    def _field(self, slot: int, name: str, size: int) -> int:
        """The position of a field of `size` bytes; 0 if it is absent. Fields may overlap."""
        entry = 4 + 2 * slot
        if entry >= self.vtable_size:
            return 0
        offset = self.buffer.number("H", self.vtable + entry, self.what)
        if offset == 0:
            return 0
        if offset < 4:
            raise InvalidProgram(f"{self.what}.{name}: expected an offset of at least 4, got {offset}")
        position = self.position + offset
        self.buffer.check(position, size, f"{self.what}.{name}", size)
        return position

    def number(self, name: str) -> int:
        """An integer field, or its default if absent; a bool as a byte."""
        field = self._fields[name]
        form = _BYTE_OF_BOOL.get(field.form, field.form)
        position = self._field(field.slot, name, _SIZE[form])
        return self.buffer.number(form, position, self.what) if position else field.default

    def double(self, name: str) -> float:
        """A double field; 0 if absent."""
        return float(self.number(name))

    def table(self, name: str) -> Table | None:
        """The table that a field points to; None if absent."""
        field = self._fields[name]
        return self._child(field.slot, name, field.type)

    def _child(self, slot: int, name: str, type_name: str) -> Table | None:
        position = self._field(slot, name, 4)
        what = f"{self.what}.{name}"
        if not position:
            return None
        return Table(self.buffer, self.buffer.follow(position, what), what, self._schema, type_name)

    def union(self, name: str) -> tuple[str, Table | None]:
        """The kind and table of a union: both present, or ("", None)."""
        field = self._fields[name]
        kinds = self._schema.unions[field.type]
        position = self._field(field.slot - 1, f"{name} type", 1)
        kind = self.buffer.number("B", position, self.what) if position else 0
        if kind > len(kinds):
            raise InvalidProgram(f"{self.what}.{name}: expected a type of at most {len(kinds)}, got {kind}")
        # Without a kind the table's type is unknown, so it is not read.
        table = self._child(field.slot, name, kinds[kind - 1])
        if bool(kind) != (table is not None):
            which = f"type {kind} without a value" if kind else "a value without a type"
            raise InvalidProgram(f"{self.what}.{name}: expected both or neither, got {which}")
        return (kinds[kind - 1] if kind else ""), table

    def _vector(self, field: Field, item_size: int, end: int = 0) -> tuple[int, int]:
        """(position of the first item, count) of a vector, after checking `end` bytes past its last item; (0,
        0) if absent."""
        position = self._field(field.slot, field.name, 4)
        if not position:
            return 0, 0
        what = f"{self.what}.{field.name}"
        start = self.buffer.follow(position, what)
        count = self.buffer.number("I", start, what)
        alignment = item_size if count else 1
        self.buffer.check(start + 4, count * item_size + end, f"{what}, {count} items", alignment)
        return start + 4, count

    def numbers(self, name: str) -> tuple[int, ...]:
        """A vector of numbers, empty if absent; bools as bytes."""
        field = self._fields[name]
        form = _BYTE_OF_BOOL.get(field.form, field.form)
        start, count = self._vector(field, _SIZE[form])
        self.buffer.charge(count, f"{self.what}.{name}")
        return struct.unpack_from(f"<{count}{form}", self.buffer.data, start) if count else ()

    def doubles(self, name: str) -> tuple[float, ...]:
        """A vector of doubles, empty if absent."""
        return tuple(map(float, self.numbers(name)))

    def bytes(self, name: str) -> memoryview:
        """A vector of bytes as a view, empty if absent."""
        start, count = self._vector(self._fields[name], 1)
        return self.buffer.data[start : start + count]

    def string(self, name: str) -> str:
        """A string, empty if absent."""
        return self._text(self._string(name), name)

    def name(self, name: str) -> str:
        """A string up to its first zero byte, where this and the official runtime end a name."""
        return self._text(self._string(name).partition(b"\0")[0], name)

    def _string(self, name: str) -> builtins.bytes:
        start, count = self._vector(self._fields[name], 1, end=1)
        self.buffer.charge(count, f"{self.what}.{name}")
        if start and self.buffer.data[start + count]:
            raise InvalidProgram(f"{self.what}.{name}: expected a zero byte after {count} bytes of text")
        return bytes(self.buffer.data[start : start + count])

    def _text(self, data: builtins.bytes, name: str) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise InvalidProgram(f"{self.what}.{name}: expected UTF-8 text, got {error.reason}") from None

    def tables(self, name: str, read: Callable[[Table], T]) -> tuple[T, ...]:
        """`read` applied to each table of a vector, empty if absent."""
        field = self._fields[name]
        start, count = self._vector(field, 4)
        what = f"{self.what}.{name}"
        items = []
        for index in range(count):
            label = f"{what}[{index}]"
            position = self.buffer.follow(start + 4 * index, label)
            items.append(read(Table(self.buffer, position, label, self._schema, field.type)))
        return tuple(items)
