# SPDX-License-Identifier: BSD-3-Clause
"""Commands that take quantized programs convert them, unless --no-integers is given."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rushlight import targets
from rushlight.build.pipeline import _converted
from rushlight.build.request import BuildRequest
from rushlight.cli.main import main
from rushlight.cli.matrix import matrix_command
from rushlight.codegen.table import OperatorTable, load_table
from rushlight.errors import InvalidArgument
from rushlight.matrix import cell as cell_module
from rushlight.matrix.cell import Conditions, run_cell
from rushlight.matrix.plan import Cell, Model, Option, read_plan
from rushlight.matrix.store import key_of
from rushlight.package import bake_package
from rushlight.program import read_program
from rushlight.program.debug import (
    DebugRecord,
    Frame,
    InstructionOrigin,
    MethodOrigins,
    debug_record_path,
    fingerprint,
)
from rushlight.run.check import check
from rushlight.sources import source_root
from support.official_int8 import model

DSCNN, FLOAT = model("model_dscnn_int8"), model("model_dscnn")
CONVOLUTION = "rushlight::quantized_convolution.out"


def operators(path: Path) -> set[str]:
    return {name for plan in read_program(path.read_bytes()).plans for name in plan.operators}


@pytest.mark.parametrize("integers", [True, False])
def test_a_package_has_the_converted_program(integers: bool, tmp_path: Path) -> None:
    baked = bake_package(DSCNN, "cmake", tmp_path / "package", integers=integers)
    assert (CONVOLUTION in baked.operators) is integers
    assert max(baked.planned.values()) == (16_000 if integers else 141_824)
    readme = (tmp_path / "package" / "README.md").read_text()
    assert "the first case of case.json" in readme  # a case of the model, not of its converted form


def test_the_command_that_bakes_a_package_can_keep_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for flag, planned in (("--integers", "16,000 B"), ("--no-integers", "141.8 kB")):
        with pytest.raises(SystemExit) as ended:
            main(["bake", str(DSCNN), "--package", "cmake", "-o", str(tmp_path / flag), flag])
        assert ended.value.code == 0
        assert f"arenas {planned}" in capsys.readouterr().out


def test_a_runner_that_is_given_files_takes_either_form(tmp_path: Path) -> None:
    request = BuildRequest("host", (DSCNN, FLOAT), integers=True)
    made = _converted(request, targets.get("host"), tmp_path)
    assert made.models == (DSCNN, FLOAT, tmp_path / "integers" / "model.pte")
    assert CONVOLUTION in operators(made.models[2])
    kept = replace(request, integers=False)
    assert _converted(kept, targets.get("host"), tmp_path) == kept


def test_several_programs_of_one_name_have_a_folder_each(tmp_path: Path) -> None:
    request = BuildRequest("cortex-m4", (DSCNN, model("model_resnet8_int8")), integers=True)
    made = _converted(request, targets.get("cortex-m4"), tmp_path)
    assert len(set(made.models)) == 4 and all(path.is_file() for path in made.models)


def test_a_board_gets_the_converted_form_alone(tmp_path: Path) -> None:
    request = BuildRequest("cortex-m4", (DSCNN,), integers=True)
    assert _converted(request, targets.get("cortex-m4"), tmp_path).models == (
        tmp_path / "integers" / "model.pte",
    )


@pytest.mark.parametrize("integers", [True, False])
def test_a_cell_of_a_matrix_builds_the_converted_program(
    integers: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked: list[BuildRequest] = []

    def build(request: BuildRequest, *_: Any, **__: Any) -> Any:
        asked.append(request)
        raise InvalidArgument("enough")

    monkeypatch.setattr(cell_module, "run_request", build)
    run_cell(Cell(Model("m", DSCNN), "host", Option(integers=integers)), tmp_path / "cell", Conditions())
    ((program,),) = (request.models for request in asked)
    assert (CONVOLUTION in operators(program)) is integers


def test_a_matrix_file_and_a_flag_keep_programs_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "matrix.yaml"
    file.write_text(f"models: {{m: {DSCNN}}}\ntargets: host\noptions: {{a: , b: {{integers: false}}}}")
    cells = read_plan(file)
    assert [cell.option.integers for cell in cells] == [True, False]
    assert key_of(cells[0], Conditions()) != key_of(
        replace(cells[0], option=Option("a", integers=False)), Conditions()
    )
    seen: list[Cell] = []

    def run_matrix(given: list[Cell], *_: Any, **__: Any) -> Any:
        seen.extend(given)
        raise InvalidArgument("enough")

    monkeypatch.setattr("rushlight.cli.matrix.run_matrix", run_matrix)
    CliRunner().invoke(matrix_command, [str(file), "-o", str(tmp_path / "out"), "--no-integers"])
    assert [cell.option.integers for cell in seen] == [False, False]
    file.write_text(f"models: {{m: {DSCNN}}}\ntargets: host\noptions: {{a: {{integers: 3}}}}")
    with pytest.raises(InvalidArgument, match="options: a: integers: expected true or false, got 3"):
        read_plan(file)


def test_a_check_says_what_computes_converted(capsys: pytest.CaptureFixture[str]) -> None:
    def printed(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["check", *words])
        assert ended.value.code == 0
        return capsys.readouterr().out

    text = printed(str(DSCNN))
    assert "forward: 11 operators in integers" in text and "planned memory 16,000 B" in text
    plain = printed(str(DSCNN), "--no-integers")
    assert "in integers" not in plain and "planned memory 141.8 kB" in plain
    assert "in integers" not in printed(str(FLOAT))
    (told,) = json.loads(printed(str(DSCNN), "--json"))["conversion"]
    assert len(told["in_integers"]) == 11 and told["planned_after"] == 16_000


def test_a_check_says_what_stays_in_float() -> None:
    rows = dict(load_table(source_root() / "kernels" / "ops.yaml").operators)
    rows.pop("rushlight::quantized_add.out")
    report = check(model("model_resnet8_int8"), table=OperatorTable(Path("ops.yaml"), rows))
    assert report.runs
    reasons = {each["reason"] for each in report.conversion[0]["in_float"]}
    assert reasons == {"no kernel adds int8"}


def test_findings_of_a_converted_program_name_the_files_instructions(tmp_path: Path) -> None:
    """The build has no convolution of integers; the record has the line of the file's instruction."""
    path = tmp_path / "model.pte"
    path.write_bytes(DSCNN.read_bytes())
    program = read_program(path.read_bytes())
    (plan,) = program.plans
    names = [name for name, _ in plan.calls()]
    origins = tuple(
        InstructionOrigin(index, name, frames=(Frame(f"{name}.py", index, ""),))
        for index, name in enumerate(names)
    )
    record = DebugRecord(fingerprint(program), (MethodOrigins(plan.name, origins),))
    record.save(debug_record_path(path))
    known = {name: ["int8", "uint8", "int32", "float32"] for name in check(path).operators}
    del known[CONVOLUTION]
    report = check(path, built=known)
    found = [finding for finding in report.findings if finding.instruction is not None]
    assert len(found) == 9 and {finding.operator for finding in found} == {CONVOLUTION}
    for finding in found:
        assert finding.instruction is not None
        assert finding.source.startswith(f"{names[finding.instruction]}.py:{finding.instruction}")
