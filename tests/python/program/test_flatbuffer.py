# SPDX-License-Identifier: BSD-3-Clause
"""The view of flatbuffers, which does not trust what vtables say of their tables; what is written shares a
vtable only between tables that are alike."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rushlight
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
from rushlight.program.flatbuffer_writer import FlatbufferWriter
from rushlight.program.schema import FileSchema
from rushlight.trace.profile import read_events

INTEROP = Path(__file__).parents[2] / "interop"
PROGRAMS = sorted([*INTEROP.glob("*/*.pte"), *INTEROP.glob("of_versions/files/*.pte")])


# All: slots 0 to 6 are numbers of 1, 4 and 8 bytes, a text, vectors of 1, 4 and 8 bytes.
SCHEMA = FileSchema(
    "test",
    "",
    b"TEST",
    "",
    "All",
    {
        "All": {
            "b": "int8",
            "I": "uint32",
            "q": "int64",
            "text": "string",
            "bytes": "[uint8]",
            "ints": "[int32]",
            "longs": "[uint64]",
        },
        **{f"One_{name}": {"n": name} for name in ("int8", "int32", "int64", "uint32", "uint64", "double")},
        "Mixed": {"a": "int8", "b": "int64", "c": "int32"},
        "Text": {"text": "string"},
        "Bytes": {"blob": "[uint8]", "n": "[uint64]", "flag": "bool"},
        "Either": {"value": "Choice"},
        "Empty": {},
        "Parent": {
            f"child{i}": f"One_{name}"
            for i, name in enumerate(("uint32", "uint32", "uint64", "int8", "double"))
        },
    },
    unions={"Choice": ("Empty",)},
)


def written(table: str, what: str = "", **fields: object) -> bytearray:
    """A file whose root is such a table."""
    flat = FlatbufferWriter(SCHEMA)
    return flat.finish(flat.table(table, what, **fields), b"TEST")


def root(data: bytes | bytearray, table: str = "All") -> Table:
    return Buffer(memoryview(data)).root(replace(SCHEMA, root=table), "root")


def vtable_of(data: bytearray) -> int:
    """Where the root's is."""
    return root(data).vtable


def all_kinds() -> bytearray:
    """A table of the kind All."""
    flat = FlatbufferWriter(SCHEMA)
    vectors = {name: flat.numbers("All", name, (1, 2, 3), name) for name in ("bytes", "ints", "longs")}
    table = flat.table("All", b=-5, I=77, q=-(2**40), text=flat.string("text"), **vectors)
    return flat.finish(table, b"TEST")


def read_all(data: bytes | bytearray) -> tuple[object, ...]:
    """The seven fields."""
    table = root(data)
    numbers = (table.number(name) for name in "bIq")
    vectors = (table.numbers(name) for name in ("bytes", "ints", "longs"))
    return (*numbers, table.string("text"), *vectors)


ALL = (-5, 77, -(2**40), "text", (1, 2, 3), (1, 2, 3), (1, 2, 3))


@pytest.mark.parametrize("stated", [0, 4, 5, 8, 0xFFFF])
def test_fields_behind_the_size_that_a_vtable_states_are_read(stated: int) -> None:
    data = all_kinds()
    struct.pack_into("<H", data, vtable_of(data) + 2, stated)
    assert read_all(data) == ALL


def test_fields_are_held_to_the_bounds_of_the_data() -> None:
    data = written("One_uint32", n=77)
    behind = len(data) - root(data, "One_uint32").position
    position = vtable_of(data) + 4
    struct.pack_into("<H", data, position, behind - 4)
    root(data, "One_uint32").number("n")
    for offset in (behind - 3, behind, behind + 4, 0xFFFC, 1, 2, 3):
        struct.pack_into("<H", data, position, offset)
        with pytest.raises(InvalidProgram, match=r"root\.n"):
            root(data, "One_uint32").number("n")


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
    flat = FlatbufferWriter(SCHEMA)
    data = flat.finish(flat.table("Text", text=flat.string("wordword")), b"TEST")
    assert root(data, "Text").string("text") == "wordword"
    data[data.index(b"wordword") + 8] = 1
    with pytest.raises(InvalidProgram, match=r"root\.text: expected a zero byte"):
        root(data, "Text").string("text")


def test_a_union_without_a_value_or_without_a_type_is_refused() -> None:
    for slot in (0, 1):
        flat = FlatbufferWriter(SCHEMA)
        data = flat.finish(flat.union("Either", "value", "Empty", flat.table("Empty")), b"TEST")
        assert root(data, "Either").union("value")[0] == "Empty"
        struct.pack_into("<H", data, root(data, "Either").vtable + 4 + 2 * slot, 0)
        with pytest.raises(InvalidProgram, match=r"root\.value: .* without a"):
            root(data, "Either").union("value")


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


@pytest.mark.heavy
def test_written_events_state_sizes_that_their_fields_fit_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = rushlight.load(INTEROP / "softplus" / "model.pte", enable_etdump=True)
    program.forward(np.ones((1, 4), np.float32))
    program.write_etdump_result_to_file(tmp_path / "events.etdp")
    with noted_fields(monkeypatch):
        assert read_events(tmp_path / "events.etdp")


def test_tables_with_fields_at_the_same_offsets_share_a_vtable_only_if_they_end_alike() -> None:
    flat = FlatbufferWriter(SCHEMA)
    numbers = (("uint32", 1), ("uint32", 2), ("uint64", 3), ("int8", 4), ("double", 5.0))
    tables = {f"child{i}": flat.table(f"One_{name}", n=value) for i, (name, value) in enumerate(numbers)}
    parent = root(flat.finish(flat.table("Parent", **tables), b"TEST"), "Parent")
    children = [parent.table(name) for name in tables]
    first, second, wide, narrow, double = (child.vtable for child in children if child)
    assert first == second and wide == double and len({first, wide, narrow}) == 3


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 15, 16, 33])
@pytest.mark.parametrize("alignment", [1, 4, 16, 64])
def test_bytes_begin_where_they_are_asked_to(size: int, alignment: int) -> None:
    flat = FlatbufferWriter(SCHEMA)
    blob, number = flat.blob(memoryview(bytes(range(size))), alignment), flat.numbers("Bytes", "n", (1,), "n")
    data = flat.finish(flat.table("Bytes", blob=blob, n=number, flag=True), b"TEST", 12)
    table = root(data, "Bytes")
    assert table.bytes("blob") == bytes(range(size))
    assert table.numbers("n") == (1,) and table.number("flag") == 1
    assert len(data) % alignment == 0 and data[4:20] == b"TEST" + bytes(12)
    assert not size or table._vector(SCHEMA.tables["Bytes"]["blob"], 1)[0] % alignment == 0


@pytest.mark.parametrize(
    ("form", "value"),
    [("int32", 2**31), ("uint32", -1), ("int8", 128), ("int64", 0.5), ("uint64", None), ("double", "text")],
)
def test_a_number_that_its_field_cannot_hold_is_refused_by_name(form: str, value: object) -> None:
    with pytest.raises(InvalidArgument, match=r"^the table: n: "):
        written(f"One_{form}", "the table", n=value)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_fields_lie_without_gaps_in_whatever_order_they_are_given(order: tuple[int, ...]) -> None:
    fields = {"a": 1, "b": 2, "c": 3}
    data = written("Mixed", **{list(fields)[i]: list(fields.values())[i] for i in order})
    table = root(data, "Mixed")
    assert [table.number(name) for name in fields] == [1, 2, 3]
    assert struct.unpack_from("<H", data, table.vtable + 2)[0] == 4 + 1 + 8 + 4
