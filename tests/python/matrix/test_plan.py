# SPDX-License-Identifier: BSD-3-Clause
"""Matrix files: the cells that they stand for, and what is wrong with wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight.errors import InvalidArgument, InvalidSelection, RushlightError
from rushlight.matrix.cell import Conditions, case_of
from rushlight.matrix.plan import Cell, Option, read_plan
from rushlight.matrix.store import key_of
from rushlight.run.cases import Tolerance, load_case

INTEROP = Path(__file__).parents[2] / "interop"


def plan(tmp_path: Path, text: str) -> list[Cell]:
    for name in ("a", "b"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "model.pte").write_bytes(b"")
    (tmp_path / "a" / "case.json").write_text("{}")
    (tmp_path / "matrix.yaml").write_text(text)
    return read_plan(tmp_path / "matrix.yaml")


MODELS = "models: {a: a/model.pte, b: b/model.pte}\n"


def test_cells_are_models_times_targets_times_options(tmp_path: Path) -> None:
    cells = plan(tmp_path, MODELS + "targets: [host, cortex-m4]\noptions: {x: , y: {dtypes: all}}")
    assert [cell.name for cell in cells] == [
        f"{model}/{target}/{option}"
        for model in ("a", "b")
        for target in ("host", "cortex-m4")
        for option in ("x", "y")
    ]
    assert cells[1].option == Option("y", dtypes="all")


def test_a_models_tolerance_replaces_its_cases(tmp_path: Path) -> None:
    program, case = INTEROP / "model_mlp" / "model.pte", INTEROP / "model_mlp" / "case.json"
    text = f"models: {{m: {{program: {program}, case: {case}, rtol: 0.5}}}}\ntargets: host"
    (cell,) = plan(tmp_path, text)
    (plain,) = plan(tmp_path, text.replace(", rtol: 0.5", ""))
    assert case_of(cell.model).tolerance == Tolerance(relative=0.5)
    assert case_of(plain.model).tolerance == load_case(case).tolerance
    # A result that was kept under another tolerance is not taken for this one.
    assert key_of(cell, Conditions()) != key_of(plain, Conditions())


def test_without_options_there_is_one(tmp_path: Path) -> None:
    [a, b] = plan(tmp_path, MODELS + "targets: host\ntimeout: 5")
    assert (a.option, b.timeout) == (Option(), 5.0)


def test_a_case_beside_a_program_is_its_own(tmp_path: Path) -> None:
    a, b = plan(tmp_path, MODELS + "targets: host")
    assert (a.model.case, b.model.case) == (tmp_path / "a" / "case.json", None)
    assert a.model.program == tmp_path / "a" / "model.pte"


def test_defines_are_spelled_as_cmake_wants_them(tmp_path: Path) -> None:
    text = "options: {x: {defines: {SWITCH: on, LEVEL: info, SOME: [1, 2]}}}"
    [cell, _] = plan(tmp_path, MODELS + "targets: host\n" + text)
    assert cell.option.defines == (("SWITCH", "ON"), ("LEVEL", "info"), ("SOME", "1;2"))


def test_excluded_cells_are_left_out_and_included_ones_added_once(tmp_path: Path) -> None:
    text = """\
targets: [host, cortex-m4, rv64gc]
exclude:
  - {model: a, target: [cortex-*, rv*]}
  - {target: rv64gc}
include:
  - {model: a, target: rv32imac}
  - {model: b, target: host}
"""
    names = [cell.name for cell in plan(tmp_path, MODELS + text)]
    assert names == ["a/host/default", "b/host/default", "b/cortex-m4/default", "a/rv32imac/default"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("targets: host", "got no cells"),
        ("modles: {}", "got 'modles'"),
        ("[]", "expected keys exclude, include, models"),
        (MODELS + "targets: mars", "unknown target 'mars'"),
        (MODELS + "targets: [1]", "targets: expected a text or a list of texts"),
        ("models: {c: c.pte}\ntargets: host", r"models: c: .*c\.pte: no such file"),
        ("models: {c/d: a/model.pte}\ntargets: host", "expected a name of .* got 'c/d'"),
        ("models: {c: {case: x}}\ntargets: host", "models: c: expected a program"),
        (
            MODELS + "targets: host\noptions: {x: {kind: fried}}",
            "options: x: kind: expected one of interpreter, baked",
        ),
        (MODELS + "targets: host\noptions: {x: {dtypes: some}}", "dtypes: expected one of model, all"),
        (MODELS + "targets: host\nexclude: [{model: z}]", "expected an entry that matches a cell"),
        (
            MODELS + "targets: host\ninclude: [{model: z, target: host}]",
            "include: model: expected one of a, b",
        ),
        (MODELS + "targets: host\ninclude: [{model: a}]", "expected a model and a target"),
        (MODELS + "targets: host\ntimeout: never", "timeout: expected seconds"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_the_entry(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RushlightError, match=message):
        plan(tmp_path, text)


def test_a_file_that_is_no_yaml_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidSelection, match="expected YAML"):
        plan(tmp_path, "models: [")
    with pytest.raises(InvalidArgument, match="no such file"):
        read_plan(tmp_path / "none.yaml")
