# SPDX-License-Identifier: BSD-3-Clause
"""Matrices: what is told and written of cells that pass, fail, die and are not reached."""

from __future__ import annotations

import json
import multiprocessing
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rushlight import targets
from rushlight.build import BuildResult
from rushlight.build.baked import BakedBuild
from rushlight.build.sizes import Sizes
from rushlight.cli.matrix import matrix_command
from rushlight.errors import CheckFailed
from rushlight.matrix import cell as cell_module
from rushlight.matrix.cell import Conditions, run_cell
from rushlight.matrix.local import Event, Finished, Started, run_local
from rushlight.matrix.page import to_html
from rushlight.matrix.plan import Cell, Model, Option
from rushlight.matrix.result import BUILT, FAILED, NOT_RUN, PASSED, CellResult, Failure, Memory
from rushlight.matrix.run import MatrixResult, run_matrix
from rushlight.matrix.store import Store
from rushlight.run.case_stream import CallResult, Report
from rushlight.run.cases import Call, Case, compare
from rushlight.run.outcome import CallOutcome, RunOutcome
from support.foreign_delegates import FOREIGN, foreign_file

INTEROP = Path(__file__).parents[2] / "interop"


def cell(name: str, target: str = "host", program: str = "model.pte", option: Option | None = None) -> Cell:
    folder = INTEROP / name
    return Cell(Model(name, folder / program, folder / "case.json"), target, option or Option())


def result_of(cell: Cell, status: str = PASSED) -> CellResult:
    return CellResult(cell.model.name, cell.target, cell.option.name, cell.option.kind, status)


class Pretender:
    """Runs nothing: every cell ends as `ends` says, by the model's name; passed where it says nothing."""

    def __init__(self, **ends: str) -> None:
        self.ends = ends
        self.ran: list[str] = []

    def __call__(self, cells: Sequence[Cell], folder: Path, conditions: Conditions) -> Iterator[Event]:
        for cell in cells:
            yield Started(cell)
            if self.ends.get(cell.model.name) == "interrupt":
                raise KeyboardInterrupt
            self.ran.append(cell.name)
            yield Finished(cell, result_of(cell, self.ends.get(cell.model.name, PASSED)))


CELLS = [cell("softplus"), cell("gru"), cell("scan")]


def test_results_are_in_the_order_of_the_cells_and_one_that_fails_ends_no_other(tmp_path: Path) -> None:
    result = run_matrix(CELLS, tmp_path, executor=Pretender(gru=FAILED))
    assert [c.status for c in result.cells] == [PASSED, FAILED, PASSED]
    assert not result.passed and result.to_json()["failed"] == 1


def test_a_target_that_nothing_runs_is_good_when_built(tmp_path: Path) -> None:
    result = run_matrix(CELLS, tmp_path, executor=Pretender(gru=BUILT))
    assert result.passed and (result.count(BUILT), result.count(PASSED)) == (1, 2)
    again = Pretender()
    assert run_matrix(CELLS, tmp_path, executor=again, resume=True).passed and again.ran == []


def test_an_interrupted_run_keeps_what_it_has_and_is_resumed(tmp_path: Path) -> None:
    result = run_matrix(CELLS, tmp_path, executor=Pretender(gru="interrupt"))
    assert [c.status for c in result.cells] == [PASSED, NOT_RUN, NOT_RUN]
    again = Pretender(scan=FAILED)
    result = run_matrix(CELLS, tmp_path, executor=again, resume=True)
    assert [c.status for c in result.cells] == [PASSED, PASSED, FAILED]
    assert again.ran == ["gru/host/default", "scan/host/default"]
    last = Pretender()
    assert run_matrix(CELLS, tmp_path, executor=last, resume=True).passed
    assert last.ran == ["scan/host/default"]


def test_a_changed_model_or_option_is_run_again(tmp_path: Path) -> None:
    program = tmp_path / "model.pte"
    program.write_bytes((INTEROP / "softplus" / "model.pte").read_bytes())
    one = Cell(Model("one", program), "host", Option())
    run_matrix([one], tmp_path, executor=Pretender())
    program.write_bytes((INTEROP / "gru" / "model.pte").read_bytes())
    changed, other = Pretender(), Pretender()
    run_matrix([one], tmp_path, executor=changed, resume=True)
    run_matrix([Cell(one.model, "host", Option(dtypes="all"))], tmp_path, executor=other, resume=True)
    assert len(changed.ran) == len(other.ran) == 1


def test_a_line_that_was_cut_off_is_left_out_of_the_results(tmp_path: Path) -> None:
    run_matrix(CELLS[:2], tmp_path, executor=Pretender())
    path = tmp_path / "results.jsonl"
    path.write_text(path.read_text()[:-30])
    assert [r.model for r in Store(tmp_path).passed().values()] == ["softplus"]


def test_a_cell_that_cannot_be_built_fails_with_the_error(tmp_path: Path) -> None:
    refused = Cell(Model("foreign", foreign_file(tmp_path)), "host", Option())
    result = run_cell(refused, tmp_path / "cell", Conditions())
    assert result.status == FAILED and result.failure is not None
    assert result.failure.type == "BackendNotFound" and FOREIGN in result.failure.message


def test_a_cell_whose_process_dies_fails_and_the_others_go_on(tmp_path: Path) -> None:
    refused = Cell(Model("foreign", foreign_file(tmp_path)), "host", Option())
    results = []
    before = set(multiprocessing.active_children())  # from other tests
    for event in run_local([refused, refused], tmp_path, Conditions(), jobs=1):
        if isinstance(event, Started) and not results:
            [child] = set(multiprocessing.active_children()) - before
            child.kill()
        if isinstance(event, Finished):
            results.append(event.result)
    assert [r.failure.type for r in results if r.failure] == ["ProcessDied", "BackendNotFound"]
    assert results[0].failure is not None and "signal 9" in results[0].failure.message


def test_the_page_shows_numbers_failures_and_no_markup_of_theirs() -> None:
    memory = Memory(static=100, method_arena=200, planned=300, temporary=0, stack=400)
    good = CellResult("m", "cortex-m4", "o", "interpreter", PASSED, flash=36_600, memory=memory)
    bad = CellResult(
        "<m>", "host", "o", "interpreter", FAILED, failure=Failure("BuildFailed", "a < b", "see")
    )
    page = to_html(MatrixResult([good, bad], 1.0))
    assert "36.6" in page and "1.0</td>" in page and "a &lt; b" in page and "&lt;m&gt;" in page
    assert "<m>" not in page


OUTPUT = np.array([1.0, 2.0], dtype=np.float32)


@pytest.mark.parametrize("kind", ["interpreter", "baked"])
@pytest.mark.parametrize(
    ("outputs", "status", "words"),
    [
        ([OUTPUT, OUTPUT], PASSED, None),
        ([OUTPUT + 1, OUTPUT], FAILED, r"call 0 \(forward\): output 0: at \[0\]: expected 1, got 2"),
        ([OUTPUT, OUTPUT + 1], FAILED, r"call 1 \(forward\): output 0: at \[0\]: expected 1, got 2"),
        ([OUTPUT, OUTPUT * np.nan], FAILED, r"call 1 \(forward\): output 0: NaN or infinity on one side"),
        ([OUTPUT, OUTPUT[:1]], FAILED, r"call 1 \(forward\): output 0: expected shape \[2\], got \[1\]"),
    ],
)
def test_a_cell_passes_when_all_outputs_are_those_of_the_case_only(
    kind: str,
    outputs: list[np.ndarray],
    status: str,
    words: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Builds nothing: a runner is simulated, and its outputs are compared with the case's."""
    sizes = Sizes(flash=1000, ram=10, model=0, sections={})
    built = BuildResult("host", tmp_path, tmp_path / "runner", None, {}, sizes, 1.0)
    monkeypatch.setattr(cell_module, "run_request", lambda *_words, **_options: built)
    monkeypatch.setattr(cell_module, "build_baked", lambda *_words, **_options: BakedBuild(built, ()))
    asked = Case("asked", 1e-5, [Call("forward", [OUTPUT], [OUTPUT]) for _ in outputs])
    monkeypatch.setattr(cell_module, "case_of", lambda _model: asked)

    def run(_program: Path, case: Case, **_options: object) -> RunOutcome:
        calls = [
            CallOutcome(
                call.method, CallResult([output], 7, 9), compare([output], call.expected, case.tolerance)
            )
            for call, output in zip(case.calls, outputs, strict=True)
            if call.expected is not None
        ]
        return RunOutcome("host", calls, Report(1, 2, 3, 4, 5, 6, 7, 8), built, 1.0)

    monkeypatch.setattr(cell_module, "run", run)
    result = run_cell(cell("softplus", option=Option(name="o", kind=kind)), tmp_path / "cell", Conditions())
    assert (result.status, result.compared) == (status, True)
    assert (result.failure is None) == (words is None)
    if words is not None:
        assert result.failure is not None and result.failure.type == "CheckFailed"
        assert re.match(words, result.failure.message)


@pytest.mark.device
@pytest.mark.cortex_m55
@pytest.mark.heavy
def test_the_command_runs_a_matrix_and_its_exit_status_tells_of_a_failure(tmp_path: Path) -> None:
    if missing := targets.get("cortex-m55").requirements():
        pytest.skip("cortex-m55: missing " + ", ".join(item.name for item in missing))
    (tmp_path / "matrix.yaml").write_text(
        f"models:\n  softplus: {INTEROP}/softplus/model.pte\n"
        f"  delegated: {foreign_file(tmp_path)}\ntargets: [cortex-m55]\n"
    )
    words = [str(tmp_path / "matrix.yaml"), "-o", str(tmp_path / "out"), "-j", "2", "--cold"]
    words += ["--json", str(tmp_path / "out.json"), "--html", str(tmp_path / "out.html")]
    ended = CliRunner().invoke(matrix_command, words)
    assert isinstance(ended.exception, CheckFailed) and "1 passed, 1 failed" in ended.exception.message
    written = json.loads((tmp_path / "out.json").read_text())
    softplus, delegated = written["cells"]
    assert (written["schema"], softplus["status"], delegated["failure"]["type"]) == (
        1,
        "passed",
        "BackendNotFound",
    )
    assert softplus["compared"] and softplus["flash"] > 10_000 and softplus["instructions"] > 1000
    assert softplus["memory"]["stack"] > 0 and softplus["memory"]["planned"] > 0
    assert softplus["operators"]["aten::exp.out"] == ["float32"]
    if softplus["build"]["cache"] == "ccache":
        assert softplus["cold"]["hits"] == softplus["build"]["misses"] == 0
    assert "softplus" in (tmp_path / "out.html").read_text()
    assert (tmp_path / "out/cells/softplus/cortex-m55/default/executor_runner.elf").is_file()
