# SPDX-License-Identifier: BSD-3-Clause
"""A bounds-checked view of flatbuffers: every read is inside the data, or raises InvalidProgram.

Reads are paid for from a budget in proportion to the file, so that data which points at itself a
million times over ends in an error as well.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar

from rushlight.errors import InvalidProgram

T = TypeVar("T")

_SIZE = {"b": 1, "B": 1, "H": 2, "i": 4, "I": 4, "q": 8, "Q": 8, "d": 8}
_TABLE_COST = 8
_UNITS_PER_BYTE = 8
_MAX_UNITS = 40_000_000


class Buffer:
    """The bytes of one flatbuffer and what may still be read of them."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.size = len(data)
        self.units = min(_UNITS_PER_BYTE * self.size + 4096, _MAX_UNITS)

    def root(self, what: str) -> Table:
        """The table that the buffer begins with."""
        return Table(self, self.follow(0, what), what)

    def charge(self, units: int, what: str) -> None:
        """Pay for a read. Errors: InvalidProgram when the data is read over and over."""
        self.units -= units
        if self.units < 0:
            raise InvalidProgram(f"{what}: refers to the same bytes too many times over")

    def check(self, position: int, size: int, what: str) -> None:
        """Errors: InvalidProgram unless [position, position + size) is in the data."""
        if position < 0 or size < 0 or position + size > self.size:
            raise InvalidProgram(
                f"{what}: bytes {position} to {position + size} expected, the data ends at {self.size}"
            )

    def number(self, form: str, position: int, what: str) -> int:
        """One little-endian integer of a struct form character."""
        self.check(position, _SIZE[form], what)
        value: int = struct.unpack_from("<" + form, self.data, position)[0]
        return value

    def follow(self, position: int, what: str) -> int:
        """Where the offset at `position` points to."""
        return position + self.number("I", position, what)


class Table:
    """One table; fields are named by their slot, the place in the schema counted from 0."""

    def __init__(self, buffer: Buffer, position: int, what: str) -> None:
        self.buffer, self.position, self.what = buffer, position, what
        buffer.charge(_TABLE_COST, what)
        self.vtable = position - buffer.number("i", position, what)
        self.vtable_size = buffer.number("H", self.vtable, f"{what}, vtable")
        if self.vtable_size < 4 or self.vtable_size % 2:
            raise InvalidProgram(f"{what}: even vtable size from 4 expected, found {self.vtable_size}")
        buffer.check(self.vtable, self.vtable_size, f"{what}, vtable")
        self.size = buffer.number("H", self.vtable + 2, f"{what}, vtable")
        buffer.check(position, self.size, what)

    def _field(self, slot: int, name: str, size: int) -> int:
        """The position of a field of `size` bytes, 0 when it is absent."""
        entry = 4 + 2 * slot
        if entry >= self.vtable_size:
            return 0
        offset = self.buffer.number("H", self.vtable + entry, self.what)
        if offset == 0:
            return 0
        if offset < 4 or offset + size > self.size:
            raise InvalidProgram(
                f"{self.what}.{name}: {size} bytes at {offset} of a table of {self.size} bytes"
            )
        return self.position + offset

    def number(self, slot: int, name: str, form: str, default: int = 0) -> int:
        """An integer field, `default` when absent."""
        position = self._field(slot, name, _SIZE[form])
        return self.buffer.number(form, position, self.what) if position else default

    def double(self, slot: int, name: str) -> float:
        """A double field, 0 when absent."""
        position = self._field(slot, name, 8)
        return float(self.buffer.number("d", position, self.what)) if position else 0.0

    def table(self, slot: int, name: str) -> Table | None:
        """The table a field points to, None when absent."""
        position = self._field(slot, name, 4)
        what = f"{self.what}.{name}"
        return Table(self.buffer, self.buffer.follow(position, what), what) if position else None

    def union(self, slot: int, name: str, count: int) -> tuple[int, Table | None]:
        """A union at slots `slot` (its type, 0 none, at most `count`) and `slot` + 1 (its table)."""
        kind = self.number(slot, f"{name} type", "B")
        if kind > count:
            raise InvalidProgram(f"{self.what}.{name}: type at most {count} expected, found {kind}")
        table = self.table(slot + 1, name)
        if kind and table is None:
            raise InvalidProgram(f"{self.what}.{name}: type {kind} without a value")
        return kind, table

    def _vector(self, slot: int, name: str, item_size: int) -> tuple[int, int]:
        """(position of the first item, count) of a vector within the data; (0, 0) when absent."""
        field = self._field(slot, name, 4)
        if not field:
            return 0, 0
        what = f"{self.what}.{name}"
        start = self.buffer.follow(field, what)
        count = self.buffer.number("I", start, what)
        self.buffer.check(start + 4, count * item_size, f"{what}, {count} items")
        return start + 4, count

    def has(self, slot: int, name: str) -> bool:
        """Whether an offset field is there."""
        return self._field(slot, name, 4) != 0

    def numbers(self, slot: int, name: str, form: str) -> tuple[int, ...]:
        """A vector of numbers, empty when absent."""
        start, count = self._vector(slot, name, _SIZE[form])
        self.buffer.charge(count, f"{self.what}.{name}")
        return struct.unpack_from(f"<{count}{form}", self.buffer.data, start) if count else ()

    def doubles(self, slot: int, name: str) -> tuple[float, ...]:
        """A vector of doubles, empty when absent."""
        return tuple(map(float, self.numbers(slot, name, "d")))

    def bytes(self, slot: int, name: str) -> memoryview:
        """A vector of bytes as a view, empty when absent."""
        start, count = self._vector(slot, name, 1)
        return self.buffer.data[start : start + count]

    def string(self, slot: int, name: str) -> str:
        """A string, empty when absent."""
        start, count = self._vector(slot, name, 1)
        self.buffer.charge(count, f"{self.what}.{name}")
        try:
            return bytes(self.buffer.data[start : start + count]).decode()
        except UnicodeDecodeError as error:
            raise InvalidProgram(f"{self.what}.{name}: UTF-8 text expected, {error.reason}") from None

    def tables(self, slot: int, name: str, read: Callable[[Table], T]) -> tuple[T, ...]:
        """`read` of each table of a vector of tables, empty when absent."""
        start, count = self._vector(slot, name, 4)
        what = f"{self.what}.{name}"
        items = []
        for index in range(count):
            label = f"{what}[{index}]"
            items.append(read(Table(self.buffer, self.buffer.follow(start + 4 * index, label), label)))
        return tuple(items)
