# SPDX-License-Identifier: BSD-3-Clause
"""The program reader on good files, and on files that are none."""

from __future__ import annotations

import contextlib
import json
import struct
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight
from rushlight.cli.main import main
from rushlight.errors import InvalidArgument, InvalidProgram, MethodNotFound
from rushlight.program import Program, describe, operator_uses, read_program
from rushlight.program.flatbuffer import Buffer
from rushlight.program.model import Dynamism, JumpFalse, Move, Storage, TensorInfo
from rushlight.program.schema import FileSchema
from support.programs import Plan, program, scalar, table, tensor, value, vector

INTEROP = Path(__file__).parents[2] / "interop"
PROGRAMS = sorted([*INTEROP.glob("*/*.pte"), *INTEROP.glob("of_versions/files/*.pte")])
SMALL = [path.read_bytes() for path in PROGRAMS if path.stat().st_size < 10_000]


def interop(case: str, name: str = "model.pte") -> Program:
    return read_program(INTEROP / case / name)


def tensors(loaded: Program) -> list[TensorInfo]:
    values = [value.data for method in loaded.plans for value in method.values]
    return [data for data in values if isinstance(data, TensorInfo)]


def visit(data: bytes) -> None:
    """Read all there is, as every user of the reader together does."""
    loaded = read_program(data)
    json.dumps(describe(loaded))
    operator_uses(loaded)
    for info in tensors(loaded):
        if info.storage in (Storage.CONSTANT, Storage.MUTABLE):
            assert len(loaded.constant(info)) == info.nbytes


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_official_program_is_read(path: Path) -> None:
    visit(path.read_bytes())


@pytest.mark.heavy
def test_a_name_ends_at_a_zero_byte_as_it_does_for_the_runtime() -> None:
    data = (INTEROP / "softplus" / "model.pte").read_bytes()
    for name, as_read in ((b"forward", "forward"), (b"for\0ard", "for"), (b"\0orward", "")):
        changed = data.replace(b"forward\0", name + b"\0")
        assert read_program(changed).plans[0].name == as_read
        assert rushlight.load(changed).method_names == [as_read]


def test_inspecting_a_method_whose_name_has_a_zero_byte_ends_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = (INTEROP / "softplus" / "model.pte").read_bytes()
    (tmp_path / "model.pte").write_bytes(data.replace(b"forward\0", b"for\0ard\0"))
    with pytest.raises(SystemExit) as ended:
        main(["inspect", str(tmp_path / "model.pte"), "--json"])
    assert not ended.value.code
    assert json.loads(capsys.readouterr().out)["methods"][0]["name"] == "for"


def test_a_segment_that_ends_beyond_the_file_is_refused() -> None:
    data = (INTEROP / "const_out" / "model.pte").read_bytes()
    (segment,) = read_program(data).segments
    assert segment.offset + segment.size == len(data)
    size = struct.pack("<Q", segment.size)
    assert data.count(size, 0, segment.offset) >= 1
    at = data.rindex(size, 0, segment.offset)  # behind the header, which has the sum of all
    longer = data[:at] + struct.pack("<Q", segment.size + 1) + data[at + 8 :]
    with pytest.raises(InvalidProgram, match=rf"end within {len(data)} bytes of file, got {len(data) + 1}"):
        read_program(longer)


@pytest.mark.parametrize(("form", "size"), [("uint8", 1), ("uint32", 4), ("uint64", 8)])
def test_a_vector_that_ends_beyond_the_data_is_refused(form: str, size: int) -> None:
    """A root table at 12, whose vtable at 4 has one field, a vector at 28 of as many items as follow."""
    items = 24 // size
    data = struct.pack("<I3H2xiI8xI", 12, 6, 8, 4, 8, 12, items) + bytes(24)
    schema = FileSchema(f"vector of {form}", "", b"", "", "Root", {"Root": {"items": f"[{form}]"}})
    assert Buffer(memoryview(data)).root(schema, "x").numbers("items") == (0,) * items
    for missing in (1, size, 4):
        cut = Buffer(memoryview(data[:-missing])).root(schema, "x")
        with pytest.raises(InvalidProgram, match="items"):
            cut.numbers("items")
        with pytest.raises(InvalidProgram, match="items"):
            Buffer(memoryview(data[: len(data) - 24 + items - missing])).root(schema, "x").bytes("items")


def test_the_inputs_and_outputs_are_those_of_the_case() -> None:
    for path in sorted(INTEROP.glob("*/case.json")):
        if not (path.parent / "model.pte").is_file():
            continue
        methods = json.loads(path.read_text())["methods"]
        described = {m["name"]: m for m in describe(read_program(path.parent / "model.pte"))["methods"]}
        for name, (call, *_) in methods.items():
            method = described[name]
            for side in ("inputs", "outputs"):
                assert len(method[side]) == len(call[side]), path
                for found, expected in zip(method[side], call[side], strict=True):
                    if "dtype" in expected and found["kind"] == "tensor":
                        assert found["dtype"] == expected["dtype"], path
                        assert len(found["shape"]) == len(expected["shape"]), path


def test_operators_are_named_with_count_and_dtypes_per_argument() -> None:
    methods = describe(interop("cond_sum"))["methods"]
    operators = {operator["name"]: operator for operator in methods[0]["operators"]}
    assert operators["aten::gt.Scalar_out"]["dtypes"] == {"0": ["float32"], "2": ["bool"]}
    assert operators["dim_order_ops::_to_dim_order_copy.out"]["calls"] == 2
    assert operator_uses(interop("cond_sum"))["aten::gt.Scalar_out"] == {"float32", "bool"}


def test_a_returned_list_is_not_counted_as_an_argument() -> None:
    methods = describe(interop("list_split_cat"))["methods"]
    operators = {operator["name"]: operator["dtypes"] for operator in methods[0]["operators"]}
    assert operators["aten::split_with_sizes_copy.out"] == {"0": ["float32"], "3": ["float32"]}


def test_control_flow_is_read() -> None:
    instructions = interop("cond_sum").method("forward").instructions
    assert any(isinstance(instruction, JumpFalse) for instruction in instructions)
    assert any(isinstance(instruction, Move) for instruction in instructions)


def test_dynamic_shapes_are_told() -> None:
    assert {info.dynamism for info in tensors(interop("dynamic_mlp"))} >= {Dynamism.BOUNDED}


def test_constants_hold_the_weights() -> None:
    described = describe(interop("model_mlp"))["methods"][0]
    assert described["constants"]["bytes"] > 800_000
    assert described["planned_memory"][0]["id"] == 1


def test_delegates_and_named_data_are_described() -> None:
    described = describe(interop("model_dscnn", "model_xnnpack.pte"))
    delegates = described["methods"][0]["delegates"]
    assert {delegate["id"] for delegate in delegates} == {"XnnpackBackend"}
    assert all(delegate["calls"] == 1 and delegate["bytes"] > 0 for delegate in delegates)
    assert described["named_data"]


def test_external_tensors_are_told_by_name() -> None:
    external = describe(interop("external_ptd"))["methods"][0]["external"]
    assert external == ["0.bias", "0.weight", "2.bias", "2.weight"]


def test_an_unknown_method_names_those_there_are() -> None:
    with pytest.raises(MethodNotFound, match=r"'nope'.*forward"):
        interop("f64_add").method("nope")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "program: expected at least 8 bytes, got 0"),
        (b"\x7fELF\x02\x01\x01\x00" * 8, "expected the identifier 'ET12'"),
        (b"\x08\0\0\0BP08" + bytes(64), "a bundled program"),
        (b"\xf0\xff\xff\xffET12" + bytes(64), "root table|program"),
    ],
)
def test_a_foreign_file_is_refused_with_what_it_should_be(data: bytes, message: str) -> None:
    with pytest.raises(InvalidProgram, match=message):
        read_program(data)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"no\.pte"):
        read_program(tmp_path / "no.pte")


def test_a_file_cut_anywhere_is_refused() -> None:
    data = (INTEROP / "cond_sum" / "model.pte").read_bytes()
    for size in range(0, len(data), 7):
        with pytest.raises(InvalidProgram):
            read_program(data[:size])


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(values=[tensor("float32", (1 << 20,))]), "ends at byte 4194304 of .* which has 1048576"),
        (Plan(values=[tensor("float32", memory_id=2)]), "expected a memory id from 1 to 1, got 2"),
        (Plan(values=[tensor("float32", (2, -1))]), r"expected sizes of at least 0, got \[2, -1\]"),
        (Plan(values=[tensor("float32", (2, 2), dim_order=(0, 0))]), r"dim order of 2 .* got \[0, 0\]"),
        (Plan(values=[tensor("float32", (1,) * 17)]), "expected at most 16 dimensions, got 17"),
        (Plan(operators=[("a::b", "")], calls=[(1, [])]), "operator: expected an index from 0 to 0, got 1"),
        (
            Plan(operators=[("a::b", "")], calls=[(0, [3])]),
            "arguments: expected an index from 0 to -1, got 3",
        ),
        (Plan(operators=[("", "")]), "expected an operator name"),
    ],
)
def test_what_cannot_be_is_refused_with_expected_and_found(plan: Plan, message: str) -> None:
    with pytest.raises(InvalidProgram, match=message):
        read_program(program(plan))


def test_bytes_that_are_pointed_at_a_thousand_times_are_refused_in_time() -> None:
    shared: dict[str, int] = {}

    def bool_list(builder: object) -> int:
        if "list" not in shared:
            items = vector(builder, "Uint8", 1, [1] * 100_000)
            shared["list"] = table(builder, 1, {0: ("Offset", items)})
        return shared["list"]

    data = program(Plan(values=[value(9, bool_list)] * 20_000))
    start = time.process_time()
    with pytest.raises(InvalidProgram, match="too many of the same bytes"):
        read_program(data)
    assert time.process_time() - start < 10


def test_a_long_list_named_by_every_instruction_is_refused() -> None:
    plan = Plan(values=[tensor("float32"), scalar(None)], operators=[("a::b", "")])
    plan.values.append(value(10, lambda b: table(b, 1, {0: ("Offset", vector(b, "Int32", 4, [0] * 10_000))})))
    plan.calls = [(0, [2] * 5_000)]
    with pytest.raises(InvalidProgram, match="too many of the same bytes"):
        read_program(program(plan))


@settings(max_examples=400, deadline=2000)
@given(st.data())
def test_mutated_files_are_read_or_refused(data: st.DataObject) -> None:
    mutant = bytearray(data.draw(st.sampled_from(SMALL)))
    for _ in range(data.draw(st.integers(1, 6))):
        position = data.draw(st.integers(0, len(mutant) - 4))
        word = data.draw(
            st.sampled_from([0, 1, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]) | st.integers(0, 4096)
        )
        if data.draw(st.booleans()):
            struct.pack_into("<I", mutant, position & ~3, word)
        else:
            mutant[position] = word & 0xFF
    _read_or_refuse(bytes(mutant))


@settings(max_examples=200, deadline=2000)
@given(st.binary(max_size=400))
def test_random_bytes_behind_a_good_identifier_are_read_or_refused(tail: bytes) -> None:
    _read_or_refuse(b"\x0c\0\0\0ET12" + tail)


def _read_or_refuse(data: bytes) -> None:
    with contextlib.suppress(InvalidProgram):
        visit(data)
