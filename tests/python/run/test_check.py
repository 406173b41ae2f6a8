# SPDX-License-Identifier: BSD-3-Clause
"""Faults that keep programs from running are found and named without running them."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.codegen.table import OperatorTable, load_table
from rushlight.errors import InvalidArgument, InvalidProgram, NotRunnable, UnknownTarget
from rushlight.program import (
    DataEntry,
    DebugRecord,
    Device,
    Method,
    ProgramParts,
    operator_uses,
    parts_of,
    read_model,
    write_data_file,
    write_program,
)
from rushlight.program.debug import Frame, InstructionOrigin, MethodOrigins, Module, fingerprint
from rushlight.run.capacity import MAX_PLANNED_BUFFERS
from rushlight.run.check import CheckReport, check
from rushlight.sources import source_root
from support.foreign_delegates import FOREIGN, foreign_file

INTEROP = Path(__file__).parents[2] / "interop"
TABLE = load_table(source_root() / "kernels" / "ops.yaml")
DSCNN = INTEROP / "model_dscnn" / "model.pte"
PTD = INTEROP / "external_ptd" / "model.pte"
PROGRAMS = sorted([*INTEROP.glob("*/*.pte"), *INTEROP.glob("*/*.bpte")])
# One for each: networks, control flow, lists, prim operators, quantized ones, state, dtypes.
VARIED = [
    "model_dscnn",
    "cond_sum",
    "list_split_cat",
    "scan",
    "model_dscnn_int8",
    "mutable_counter",
    "dtype_int8",
]


def without(name: str, dtype: str | None = None) -> OperatorTable:
    """The operator table less a row, or less a dtype of it."""
    rows = dict(TABLE.operators)
    row = rows.pop(name)
    if dtype:
        rows[name] = dataclasses.replace(row, dtypes=row.dtypes - {dtype})
    return OperatorTable(TABLE.path, rows)


def rewritten(source: Path, path: Path, **changes: Any) -> Path:
    """A program with its first method changed."""
    parts = parts_of(read_model(source))
    methods = (dataclasses.replace(parts.methods[0], **changes), *parts.methods[1:])
    write_program(dataclasses.replace(parts, methods=methods)).save(path)
    return path


def message(report: CheckReport) -> str:
    """The message that a user gets."""
    with pytest.raises(NotRunnable) as caught:
        report.raise_if_any()
    assert caught.value.exit_code == 29 and caught.value.findings == report.findings
    return caught.value.message


def _case(path: Path) -> Any:
    """A program as a parameter; lowered programs need the compiled runtime."""
    marks = [pytest.mark.heavy] if "xnnpack" in path.name else []
    return pytest.param(path, id=f"{path.parent.name}/{path.name}", marks=marks)


@pytest.mark.parametrize("path", [_case(path) for path in PROGRAMS])
def test_official_programs_can_run(path: Path) -> None:
    report = check(path, integers=False)
    assert report.runs and not report.delegates
    if "xnnpack" in path.name:
        assert sum(each["delegates"] for each in report.conversion) > 0
        return
    methods = read_model(path).plans
    assert report.operators == sorted({name for method in methods for name in method.operators})
    assert report.calls == sum(len(list(method.calls())) for method in methods)


@pytest.mark.parametrize("name", VARIED)
def test_each_operator_that_is_dropped_from_the_table_is_missed(name: str) -> None:
    path = INTEROP / name / "model.pte"
    for operator in operator_uses(read_model(path)):
        report = check(path, table=without(operator), integers=False)
        assert {(f.operator, f.reason) for f in report.findings} == {(operator, "operator")}
        assert all(isinstance(finding.instruction, int) for finding in report.findings)
        assert operator in message(report)


@pytest.mark.parametrize("name", VARIED)
def test_each_dtype_that_is_dropped_from_a_row_is_missed(name: str) -> None:
    path = INTEROP / name / "model.pte"
    for operator, dtypes in operator_uses(read_model(path)).items():
        if any(argument.base == "Any" for argument in TABLE.operators[operator].schema.arguments):
            continue
        for dtype in dtypes:
            report = check(path, table=without(operator, dtype), integers=False)
            assert {(f.operator, f.reason) for f in report.findings} == {(operator, "dtype")}
            assert f"{operator} has no {dtype}" in message(report)


def test_the_instructions_that_cannot_run_are_listed() -> None:
    calls = list(read_model(DSCNN).plans[0].calls())
    expected = [index for index, (name, _) in enumerate(calls) if name == "aten::convolution.out"]
    report = check(DSCNN, table=without("aten::convolution.out"))
    assert [finding.instruction for finding in report.findings] == expected
    text = message(report)
    assert text.count("no kernel library has aten::convolution.out") == 1
    assert f"    forward, instruction {expected[0]}\n" in text and f"and {len(expected) - 8} more" in text


def test_with_a_debug_record_each_place_has_its_source_line(tmp_path: Path) -> None:
    model = tmp_path / "model.pte"
    shutil.copy(DSCNN, model)
    lines = [Frame("net.py", 40, "forward", "x = self.conv(x)")]
    origins = [
        InstructionOrigin(index, frames=tuple(lines), modules=(Module("stem.conv", "Conv2d"),))
        for index in range(40)
    ]
    record = DebugRecord(fingerprint(read_model(model)), (MethodOrigins("forward", tuple(origins)),))
    record.save(tmp_path / "model.debug.json")
    report = check(model, table=without("aten::convolution.out"))
    assert report.has_record
    assert report.findings[0].source == "net.py:40: x = self.conv(x), in stem.conv (Conv2d)"
    assert (
        f"instruction {report.findings[0].instruction}: net.py:40: x = self.conv(x), in stem.conv (Conv2d)"
        in message(report)
    )
    assert check(DSCNN).has_record is False


def test_an_operator_that_is_listed_and_not_called_is_looked_for_too(tmp_path: Path) -> None:
    operators = (*read_model(DSCNN).plans[0].operators, "mine::left_over.out")
    (finding,) = check(rewritten(DSCNN, tmp_path / "model.pte", operators=operators)).findings
    assert (finding.operator, finding.instruction) == ("mine::left_over.out", None)


def test_delegates_are_named_unless_their_backend_is_there(tmp_path: Path) -> None:
    path = foreign_file(tmp_path)
    report = check(path)
    assert report.delegates == [FOREIGN]
    assert {(f.operator, f.reason) for f in report.findings} == {(FOREIGN, "delegate")}
    assert f"backend '{FOREIGN}' is missing" in message(report)
    assert check(path, backends=[FOREIGN]).runs


def test_a_build_has_the_operators_and_dtypes_of_its_selection() -> None:
    built = {name: sorted(dtypes) for name, dtypes in operator_uses(read_model(DSCNN)).items()}
    assert check(DSCNN, built=built).runs
    less = {name: dtypes for name, dtypes in built.items() if name != "aten::convolution.out"}
    assert "aten::convolution.out is not selected in this build" in message(check(DSCNN, built=less))
    other = built | {"aten::convolution.out": ["float16"]}
    assert "is built for float16, not for float32" in message(check(DSCNN, built=other))


def test_data_files_have_to_have_the_tensors(tmp_path: Path) -> None:
    assert check(PTD).external == ["0.bias", "0.weight", "2.bias", "2.weight"]
    assert check(PTD, data_files=[PTD.with_name("weights.ptd")]).runs
    few = tmp_path / "few.ptd"
    write_data_file([DataEntry("0.bias", bytes(4), "float32", (1,), (0,))]).save(few)
    report = check(PTD, data_files=[few])
    assert {finding.reason for finding in report.findings} == {"data"} and len(report.findings) == 4
    assert "'0.weight' is in no data file" in message(report)
    assert "'0.bias': float32 [32] expected, the data file has float32 [1]" in message(report)


def test_memory_elsewhere_than_on_the_cpu_is_told(tmp_path: Path) -> None:
    path = rewritten(DSCNN, tmp_path / "model.pte", buffer_devices={1: Device(1, 2)})
    assert "memory on cuda:2 is asked for" in message(check(path))


def sized(path: Path, planned: int, constants: int = 0) -> Path:
    """A program that does nothing, with `planned` bytes of planned memory and `constants` constant bytes."""
    method = Method("forward", (), (), (), ((),), (), (), (0, planned))
    write_program(ProgramParts((method,), [bytes(constants)])).save(path)
    return path


def test_a_target_has_to_have_the_memory(tmp_path: Path) -> None:
    megabyte = 1 << 20
    fits = sized(tmp_path / "fits.pte", 15 * megabyte)
    assert check(fits, target="cortex-m4").runs and check(DSCNN, target="cortex-m4").runs
    report = check(sized(tmp_path / "planned.pte", 17 * megabyte), target="cortex-m4")
    assert {finding.reason for finding in report.findings} == {"memory"}
    assert "planned memory and method arena in bank psram of 16,777,216 B of mps2-an386" in message(report)
    assert check(tmp_path / "planned.pte", target="host").runs
    # The two are in one bank there, and in different ones on the Cortex-M55's board.
    both = sized(tmp_path / "both.pte", 3 * megabyte, 14 * megabyte)
    assert "short" in message(check(both, target="cortex-m4"))
    assert check(both, target="cortex-m55").runs
    assert "isram" in message(check(fits, target="cortex-m55"))


def test_data_files_are_linked_in_beside_the_model(tmp_path: Path) -> None:
    big = tmp_path / "big.ptd"
    write_data_file([DataEntry("unused", bytes(17 << 20))]).save(big)
    assert "for the model" in message(check(DSCNN, target="cortex-m4", data_files=[big]))


def test_an_address_has_32_bits_on_small_machines(tmp_path: Path) -> None:
    path = sized(tmp_path / "model.pte", 1 << 32)
    assert "linux-armhf addresses 4,294,967,296" in message(check(path, target="linux-armhf"))
    assert check(path, target="linux-aarch64").runs


def test_a_runner_hands_out_so_many_planned_buffers(tmp_path: Path) -> None:
    header = (source_root() / "runtime" / "runner" / "memory_options.h").read_text()
    assert f"kMaxPlannedBuffers = {MAX_PLANNED_BUFFERS};" in header
    path = rewritten(DSCNN, tmp_path / "model.pte", buffer_sizes=(0, 1 << 16, *(MAX_PLANNED_BUFFERS * [8])))
    assert "17 planned buffers, the runner has 16" in message(check(path, target="host"))
    assert check(path).runs


def test_what_is_no_program_or_target_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="no such file"):
        check(tmp_path / "gone.pte")
    with pytest.raises(UnknownTarget):
        check(DSCNN, target="cortex-m99")


SMALL = [path.read_bytes() for path in PROGRAMS if path.stat().st_size < 4000]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_altered_programs_are_checked_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    altered = bytearray(data.draw(st.sampled_from(SMALL)))
    for _ in range(data.draw(st.integers(1, 4))):
        altered[data.draw(st.integers(0, len(altered) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("altered") / "model.pte"
    path.write_bytes(altered)
    try:
        json.dumps(check(path, target="cortex-m4", table=TABLE).to_json())
    except InvalidProgram as error:
        assert error.message
