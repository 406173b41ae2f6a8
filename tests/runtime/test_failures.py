# SPDX-License-Identifier: BSD-3-Clause
"""A runner without logs leaves numbers that say what failed and where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process
from rushlight.run import failures
from rushlight.run.case_stream import decode_outcome
from rushlight.status import Status

MODEL = Path(__file__).parents[1] / "interop" / "f64_add" / "model.pte"
OFF = ["-DEXECUTORCH_SELECT_ALL_OPS=OFF", "-DRUSHLIGHT_LOG_LEVEL=off"]


@pytest.mark.slow
def test_a_runner_without_logs_leaves_what_failed(build: Callable[..., Path], tmp_path: Path) -> None:
    runner = build(*OFF, targets=["executor_runner"]) / "executor_runner"
    damaged = tmp_path / "damaged.pte"
    content = bytearray(MODEL.read_bytes())
    content[:4] = b"\xff\xff\xff\x7f"
    damaged.write_bytes(content)
    result = process.run([runner, f"--model_path={damaged}", f"--outcome={tmp_path / 'outcome'}"])
    assert result.returncode == Status.InvalidProgram
    outcome = decode_outcome((tmp_path / "outcome").read_bytes())
    assert outcome is not None and outcome.code == Status.InvalidProgram
    [failure] = failures.decode(outcome.records)
    assert f"failure: {failure.record:08x}" in (result.stdout + result.stderr).splitlines()
    assert failure.file == "runtime/program/flatbuffer.cpp"
    assert failure.message == "flatbuffer: damaged at byte %lu of %lu"
