# SPDX-License-Identifier: BSD-3-Clause
"""The view of flatbuffers, which does not trust what vtables say of their tables; what is written shares a
vtable only between tables that are alike."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.devtools.profile import read_events
from rushlight.errors import InvalidArgument, InvalidProgram
from rushlight.program import (
    parts_of,
    read_data_file,
    read_model,
    read_program,
    write_bundled_program,
    write_data_file,
    write_program,
)
from rushlight.program.bundled import BundledSuite, read_bundled_program
from rushlight.program.bundled_writer import bundled_case
from rushlight.program.flatbuffer import Buffer, Table
from rushlight.program.flatbuffer_writer import OFFSET, FlatbufferWriter

INTEROP = Path(__file__).parents[2] / "interop"
PROGRAMS = sorted([*INTEROP.glob("*/*.pte"), *INTEROP.glob("of_versions/files/*.pte")])


def written(*fields: tuple[int, str, str, object]) -> bytearray:
    """A file whose root has these fields."""
    flat = FlatbufferWriter()
    return flat.finish(flat.table(*fields), b"TEST")


def root(data: bytes | bytearray) -> Table:
    return Buffer(memoryview(data)).root("root")


def vtable_of(data: bytearray) -> int:
    """Where the root's is."""
    return root(data).vtable


def all_kinds() -> bytearray:
    """Slots 0 to 6: numbers of 1, 4 and 8 bytes, a text, vectors of 1, 4 and 8 bytes."""
    flat = FlatbufferWriter()
    targets = [
        flat.string("text"),
        *(flat.numbers(form, (1, 2, 3), "numbers") for form in "BiQ"),
    ]
    numbers = ((0, "b", "b", -5), (1, "I", "I", 77), (2, "q", "q", -(2**40)))
    table = flat.table(*numbers, *((3 + i, "@", OFFSET, target) for i, target in enumerate(targets)))
    return flat.finish(table, b"TEST")


def read_all(data: bytes | bytearray) -> tuple[object, ...]:
    """The seven fields."""
    table = root(data)
    numbers = (table.number(i, "number", form) for i, form in enumerate("bIq"))
    vectors = (table.numbers(4 + i, "numbers", form) for i, form in enumerate("BiQ"))
    return (*numbers, table.string(3, "text"), *vectors)


ALL = (-5, 77, -(2**40), "text", (1, 2, 3), (1, 2, 3), (1, 2, 3))


@pytest.mark.parametrize("stated", [0, 4, 5, 8, 0xFFFF])
def test_fields_behind_the_size_that_a_vtable_states_are_read(stated: int) -> None:
    data = all_kinds()
    struct.pack_into("<H", data, vtable_of(data) + 2, stated)
    assert read_all(data) == ALL


def test_fields_are_held_to_the_bounds_of_the_data() -> None:
    data = written((0, "number", "I", 77))
    behind = len(data) - root(data).position
    place = vtable_of(data) + 4
    struct.pack_into("<H", data, place, behind - 4)
    root(data).number(0, "number", "I")
    for offset in (behind - 3, behind, behind + 4, 0xFFFC, 1, 2, 3):
        struct.pack_into("<H", data, place, offset)
        with pytest.raises(InvalidProgram, match=r"root\.number"):
            root(data).number(0, "number", "I")


def test_fields_may_overlap() -> None:
    data = all_kinds()
    entries = vtable_of(data) + 4
    (offset,) = struct.unpack_from("<H", data, entries + 2)
    struct.pack_into("<H", data, entries, offset + 1)
    assert read_all(data) == (0, *ALL[1:])


@pytest.mark.parametrize(("slot", "step"), [(1, 2), (2, 4), (3, 1), (6, 2)])
def test_fields_that_are_not_aligned_are_refused(slot: int, step: int) -> None:
    data = all_kinds()
    entry = vtable_of(data) + 4 + 2 * slot
    struct.pack_into("<H", data, entry, struct.unpack_from("<H", data, entry)[0] + step)
    with pytest.raises(InvalidProgram, match="a multiple of"):
        read_all(data)


def test_a_text_without_its_zero_is_refused() -> None:
    flat = FlatbufferWriter()
    text = flat.string("wordword")
    data = flat.finish(flat.table((0, "text", OFFSET, text)), b"TEST")
    assert root(data).string(0, "text") == "wordword"
    data[data.index(b"wordword") + 8] = 1
    with pytest.raises(InvalidProgram, match=r"root\.text: a zero byte"):
        root(data).string(0, "text")


def test_a_union_without_a_value_or_without_a_type_is_refused() -> None:
    for kind, filled in ((0, True), (1, False)):
        flat = FlatbufferWriter()
        content = flat.table() if filled else 0
        fields = ((0, "type", "B", kind), (1, "value", OFFSET, content))
        data = flat.finish(flat.table(*fields), b"TEST")
        with pytest.raises(InvalidProgram, match=r"root\.value: .* without a"):
            root(data).union(0, "value", 1)


@contextmanager
def noted_fields(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[tuple[int, int], int]]:
    """By buffer and vtable, how far the fields reach that are read meanwhile."""
    reach: dict[tuple[int, int], int] = {}
    stated: dict[tuple[int, int], int] = {}
    kept = []
    original = Table._field

    def field(self: Table, slot: int, name: str, size: int) -> int:
        position = original(self, slot, name, size)
        key = (id(self.buffer), self.vtable)
        kept.append(self.buffer)  # so that no other one has its id
        stated[key] = self.buffer.number("H", self.vtable + 2, "stated size")
        if position:
            reach[key] = max(reach.get(key, 0), position - self.position + size)
            assert self.position + stated[key] <= self.buffer.size
        return position

    with monkeypatch.context() as patched:
        patched.setattr(Table, "_field", field)
        yield reach
    assert len(reach) > 1
    assert all(stated[key] >= reached for key, reached in reach.items())


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_written_programs_state_sizes_that_their_fields_fit_into(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_program(parts_of(read_model(path))).tobytes()
    with noted_fields(monkeypatch):
        read_program(data)


def test_written_data_files_state_sizes_that_their_fields_fit_into(monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_data_file(read_data_file(INTEROP / "external_ptd" / "weights.ptd").entries).tobytes()
    with noted_fields(monkeypatch):
        assert read_data_file(data).entries


def test_written_bundles_state_sizes_that_their_fields_fit_into(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [bundled_case([np.ones((2, 3), np.float32), 3, True, 0.5], [np.int64(range(4))]) for _ in "ab"]
    program = (INTEROP / "softplus" / "model.pte").read_bytes()
    data = write_bundled_program(program, [BundledSuite("forward", tuple(cases))]).tobytes()
    with noted_fields(monkeypatch):
        assert len(read_bundled_program(data).suites[0].cases) == 2


def test_written_events_state_sizes_that_their_fields_fit_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = rushlight.load(INTEROP / "softplus" / "model.pte", enable_etdump=True)
    program.forward(np.ones((1, 4), np.float32))
    program.write_etdump_result_to_file(tmp_path / "events.etdp")
    with noted_fields(monkeypatch):
        assert read_events(tmp_path / "events.etdp")


def test_tables_with_fields_at_the_same_offsets_share_a_vtable_only_if_they_end_alike() -> None:
    flat = FlatbufferWriter()
    numbers = (("I", 1), ("I", 2), ("Q", 3), ("b", 4), ("d", 5.0))
    tables = [flat.table((0, "n", form, value)) for form, value in numbers]
    fields = [(i, "child", OFFSET, table) for i, table in enumerate(tables)]
    parent = root(flat.finish(flat.table(*fields), b"TEST"))
    children = [parent.table(i, "child") for i in range(5)]
    first, second, wide, narrow, double = (child.vtable for child in children if child)
    assert first == second and wide == double and len({first, wide, narrow}) == 3


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 15, 16, 33])
@pytest.mark.parametrize("alignment", [1, 4, 16, 64])
def test_bytes_begin_where_they_are_asked_to(size: int, alignment: int) -> None:
    flat = FlatbufferWriter()
    blob, number = flat.blob(memoryview(bytes(range(size))), alignment), flat.numbers("Q", (1,), "n")
    table = flat.table((0, "blob", OFFSET, blob), (1, "n", OFFSET, number), (2, "flag", "?", True))
    data = flat.finish(table, b"TEST", 12)
    assert root(data).bytes(0, "blob") == bytes(range(size))
    assert root(data).numbers(1, "n", "Q") == (1,) and root(data).number(2, "flag", "B") == 1
    assert len(data) % alignment == 0 and data[4:20] == b"TEST" + bytes(12)
    assert not size or root(data)._vector(0, "blob", 1)[0] % alignment == 0


@pytest.mark.parametrize(
    ("form", "value"), [("i", 2**31), ("I", -1), ("b", 128), ("q", 0.5), ("Q", None), ("d", "text")]
)
def test_a_number_that_its_field_cannot_hold_is_refused_by_name(form: str, value: object) -> None:
    with pytest.raises(InvalidArgument, match=r"^the field: "):
        written((0, "the field", form, value))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_fields_lie_without_gaps_in_whatever_order_they_are_given(order: tuple[int, ...]) -> None:
    fields = ((0, "a", "b", 1), (1, "b", "q", 2), (2, "c", "i", 3))
    data = written(*(fields[i] for i in order))
    table = root(data)
    assert [table.number(i, "n", form) for i, form in enumerate("bqi")] == [1, 2, 3]
    assert struct.unpack_from("<H", data, table.vtable + 2)[0] == 4 + 1 + 8 + 4

