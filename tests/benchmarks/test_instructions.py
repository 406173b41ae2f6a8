# SPDX-License-Identifier: BSD-3-Clause
"""The table of instructions on 64-bit Arm compares with the best peer whose outputs are right."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

SPEED = Path(__file__).resolve().parents[2] / "benchmarks" / "speed"


@pytest.fixture
def instructions(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module."""
    monkeypatch.syspath_prepend(str(SPEED))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return importlib.import_module("instructions")


def test_ratios_leave_out_peers_with_wrong_outputs(instructions: Any) -> None:
    counts = {"rushlight": 900, "ONNX Runtime": 500, "ExecuTorch XNNPACK": 1000}
    errors = {"rushlight": 1e-7, "ONNX Runtime": 0.5, "ExecuTorch XNNPACK": 1e-6}
    row = instructions.Row("mlp", "model", counts, errors)
    assert row.best_peer() == ("ExecuTorch XNNPACK", 1000)
    assert row.ratio("rushlight") == pytest.approx(0.9)
    assert row.ratio("ONNX Runtime") is None


def test_the_table_shows_counts_failures_and_the_mean(instructions: Any) -> None:
    rows = [
        instructions.Row(
            "a", "model", {"rushlight": 1000, "ONNX Runtime": 4000}, {"rushlight": 0.0, "ONNX Runtime": 0.0}
        ),
        instructions.Row(
            "b", "model", {"rushlight": 2000}, {"rushlight": 1.0}, {"ONNX Runtime": "no kernel"}
        ),
    ]
    table = instructions.to_markdown(rows, {"onnxruntime": "1"})
    lines = table.splitlines()
    [first] = [line for line in lines if line.startswith("| a |")]
    assert first.endswith("| 0.25× | ONNX Runtime |")
    [second] = [line for line in lines if line.startswith("| b |")]
    assert "| 2 † |" in second
    assert "- ONNX Runtime does not run b: no kernel" in lines


def test_outputs_of_another_length_are_refused(instructions: Any) -> None:
    with pytest.raises(ValueError, match="outputs: expected 8 bytes, got 4"):
        list(instructions._split(bytes(4), [np.zeros(2, np.float32)]))


def test_counts_are_kept_by_what_was_executed(instructions: Any, tmp_path: Path) -> None:
    files = [tmp_path / "runtime", tmp_path / "model"]
    for each in files:
        each.write_text(each.name)
    kept = tmp_path / "counts.jsonl"
    assert instructions.KeptCounts(kept).get(files, lambda: (7, 0.5)) == (7, 0.5)
    assert instructions.KeptCounts(kept).get(files, lambda: (8, 0.0)) == (7, 0.5)
    files[0].write_text("another runtime")
    assert instructions.KeptCounts(kept).get(files, lambda: (8, 0.0)) == (8, 0.0)
