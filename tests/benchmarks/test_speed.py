# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of speed runs, in one command, with those who are there."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

from rushlight import process

ROOT = Path(__file__).resolve().parents[2]
SUBJECTS = ("mlp", "mm 64", "relu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With report.json, report.html and report.md."""
    folder = tmp_path_factory.mktemp("speed")
    command = [
        sys.executable, ROOT / "benchmarks" / "speed" / "run.py",
        "--only", *SUBJECTS, "--contestants", "rushlight", "torch eager", "copy", "--runs", "1",
        "--work", folder / "work", "--json", folder / "report.json", "--html", folder / "report.html",
        "--markdown", folder / "report.md",
    ]  # fmt: skip
    process.run(command, check=True, timeout=300)
    return folder


@pytest.fixture(scope="module")
def report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text())


def test_every_subject_is_timed_beside_torch(report: dict[str, Any]) -> None:
    assert [row["name"] for row in report["rows"]] == list(SUBJECTS)
    for row in report["rows"]:
        assert row["failures"] == {}
        assert row["fastest_peer"] == "torch eager"
        ours, theirs = (row["timings"][name]["cpu"] for name in ("rushlight", "torch eager"))
        assert row["ratio"] == pytest.approx(ours / theirs)


def test_outputs_agree_with_eager_ones(report: dict[str, Any]) -> None:
    for row in report["rows"]:
        assert all(timing["error"] < 1e-5 for timing in row["timings"].values())


def test_what_moves_data_has_a_copy_beside_it(report: dict[str, Any]) -> None:
    with_copy = [row["name"] for row in report["rows"] if row["ratio_to_copy"] is not None]
    assert with_copy == ["relu"]


def test_operations_are_those_of_the_sizes(report: dict[str, Any]) -> None:
    flops = {row["name"]: row["flops"] for row in report["rows"]}
    assert flops["mm 64"] == 2 * 64**3
    assert flops["mlp"] == 2 * (784 * 256 + 256 * 128 + 128 * 10)


def test_the_report_has_tables_and_plots(folder: Path) -> None:
    markdown, page = (folder / "report.md").read_text(), (folder / "report.html").read_text()
    for name in SUBJECTS:
        assert f"| {name} |" in markdown
        assert name in page
    assert page.count("<svg") == 3


@pytest.fixture
def speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the benchmark's modules importable."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "speed"))


@pytest.mark.parametrize(
    ("got", "expected", "error"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 2.2], [1.0, 2.0], 0.1),
        ([math.nan, math.nan], [1.0, 2.0], math.inf),
        ([1.0, 2.0], [1.0, math.nan], math.inf),
        ([math.nan, 2.0], [math.nan, 2.0], 0.0),
        ([math.inf, 2.0], [math.inf, 2.0], 0.0),
        ([math.inf, 2.0], [-math.inf, 2.0], math.inf),
        ([0.5, 0.0], [0.0, 0.0], 0.5),
    ],
)
def test_nan_and_infinities_are_right_only_where_eager_has_them(
    speed: None, got: list[float], expected: list[float], error: float
) -> None:
    from measuring import relative_error

    assert relative_error([np.float32(got)], [np.float32(expected)]) == pytest.approx(error)


def test_a_wrong_output_is_in_no_ratio(speed: None) -> None:
    from measuring import Timing
    from results import Row, mean_ratio

    def timing(seconds: float, error: float) -> Timing:
        return Timing(seconds, seconds, error, 1, 1)

    times = {"rushlight": timing(2, 0), "ONNX Runtime": timing(1, math.inf), "torch eager": timing(4, 0)}
    row = Row("a", "model", 1.0, 1, times, {})
    assert row.fastest_peer("cpu")[0] == "torch eager"
    assert row.ratio("cpu") == 0.5
    wrong = Row("b", "model", 1.0, 1, {**times, "rushlight": timing(0.1, 0.5)}, {})
    assert wrong.ratio("cpu") is None and wrong.against("torch eager", "cpu") is None
    assert mean_ratio([row, wrong], "cpu") == 0.5


def test_official_programs_leave_inputs_where_they_are(
    speed: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("executorch.exir", reason="executorch is not installed")
    import making

    monkeypatch.setattr(making, "quiet", lambda: None)  # it changes the whole process

    from rushlight.program import read_program

    for file in ("official.pte", "rushlight.pte"):
        making.make_file("relu", tmp_path, file)
        plan = read_program(tmp_path / file).plans[0]
        assert [plan.values[index].data.storage.name for index in plan.inputs] == ["INPUT"], file
