# SPDX-License-Identifier: BSD-3-Clause
"""Cases × targets: what is refused before anything is built, and how tables show what came out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rushlight.run import conformance
from rushlight.run.conformance import Conformance, Entry, Status, find_cases, run_conformance
from support.foreign_delegates import FOREIGN, foreign_file

INTEROP = Path(__file__).parents[2] / "interop"

TABLE = Conformance(
    [
        Entry("a/model.pte", "host", Status.PASSED, "", 0.0, 0.5),
        Entry("b/model.pte", "host", Status.FAILED, "call 0: output 0: <1 of 2 differ>", 1.0, 0.1),
        Entry("c/model.pte", "host", Status.REFUSED, "BackendNotFound: X"),
        Entry("a/model.pte", "board", Status.DOES_NOT_FIT, "9 bytes"),
        Entry("b/model.pte", "board", Status.PASSED),
        Entry("c/model.pte", "board", Status.REFUSED, "BackendNotFound: X"),
    ],
    {"board": 1.23456},
)


def test_a_delegate_is_refused_and_nothing_is_built_for_it(tmp_path: Path) -> None:
    shutil.copytree(INTEROP / "model_mlp", tmp_path / "model_mlp")
    models = [foreign_file(tmp_path / "model_mlp")]
    out = tmp_path / "out"
    out.mkdir()
    found = run_conformance(models, ["cortex-m55"], out, root=tmp_path)
    if found.entries[0].status is Status.SKIPPED:
        assert found.entries[0].reason.startswith("this machine has no ")
        return
    assert [(entry.case, entry.status, entry.reason) for entry in found.entries] == [
        ("model_mlp/model_xnnpack.pte", Status.REFUSED, f"BackendNotFound: {FOREIGN}")
    ]
    assert found.passed and not found.build_seconds and not list(out.iterdir())


@pytest.mark.heavy
def test_a_case_brings_the_data_outside_its_program(tmp_path: Path) -> None:
    found = run_conformance([INTEROP / "external_ptd" / "model.pte"], ["host"], tmp_path, root=INTEROP)
    assert [(entry.case, entry.status) for entry in found.entries] == [
        ("external_ptd/model.pte", Status.PASSED)
    ]


@pytest.mark.heavy
def test_the_host_runs_in_this_process(tmp_path: Path) -> None:
    found = run_conformance([INTEROP / "cond_sum" / "model.pte"], ["host"], tmp_path, root=INTEROP)
    assert [(entry.case, entry.status) for entry in found.entries] == [("cond_sum/model.pte", Status.PASSED)]


def test_a_wrong_expectation_fails(tmp_path: Path) -> None:
    folder = tmp_path / "wrong"
    shutil.copytree(INTEROP / "softplus", folder)
    shutil.copy(INTEROP / "softmax_neginf" / "model.pte", folder / "model.pte")
    found = run_conformance([folder / "model.pte"], ["host"], tmp_path)
    assert not found.passed and found.entries[0].reason


def test_cases_are_programs_with_a_case_beside_them() -> None:
    names = [path.relative_to(INTEROP).as_posix() for path in find_cases(INTEROP)]
    assert "model_mlp/model_xnnpack.pte" in names
    assert "bundled/model.pte" not in names


def test_the_table_has_a_row_a_case_and_a_column_a_target() -> None:
    lines = TABLE.to_markdown().splitlines()
    assert lines[0] == "| case | host | board |"
    assert "| a/model.pte | pass | does not fit |" in lines
    assert "| all | 1/3 pass | 1/3 pass |" in lines
    assert "- c/model.pte (host, board): refused: BackendNotFound: X" in lines
    assert not TABLE.passed


def test_the_page_escapes_what_it_shows() -> None:
    page = TABLE.to_html()
    assert "&lt;1 of 2 differ&gt;" in page
    assert '<td class="fail">FAIL' in page and '<td class="does">does not fit' in page


def test_json_has_every_entry() -> None:
    described = TABLE.to_json()
    assert len(described["entries"]) == 6 and described["build_seconds"] == {"board": 1.235}
    assert described["entries"][1]["status"] == "failed"


def test_what_does_not_fit_is_said_in_bytes() -> None:
    from rushlight import targets

    reason = conformance._needs(INTEROP / "model_mlp" / "model.pte", targets.get("cortex-m55"))
    assert reason.startswith("806976 bytes of planned memory and 816296 bytes of program; bank ")
