# SPDX-License-Identifier: BSD-3-Clause
"""A runner without logs leaves numbers that say what failed and where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process
from rushlight.devtools import failures

MODEL = Path(__file__).parents[1] / "interop" / "f64_add" / "model.pte"
OFF = ["-DEXECUTORCH_SELECT_ALL_OPS=OFF", "-DRUSHLIGHT_LOG_LEVEL=off"]


@pytest.mark.slow
def test_a_runner_without_logs_leaves_what_failed(build: Callable[..., Path], tmp_path: Path) -> None:
    runner = build(*OFF, targets=["executor_runner"]) / "executor_runner"
    damaged = tmp_path / "damaged.pte"
    content = bytearray(MODEL.read_bytes())
    content[:4] = b"\xff\xff\xff\x7f"
    damaged.write_bytes(content)
    result = process.run([runner, f"--model_path={damaged}"])
    assert result.returncode == 0x23
    [failure] = failures.in_output(result.stdout + result.stderr)
    assert failure.file == "runtime/program/flatbuffer.cpp"
    assert failure.message == "flatbuffer: damaged at byte %lu of %lu"
