# SPDX-License-Identifier: BSD-3-Clause
"""The comparison of speed runs, in one command, with those who are there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

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
