# SPDX-License-Identifier: BSD-3-Clause
"""Limits on instructions and memory: `rushlight run`, and executor_runner."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from rushlight import process
from rushlight.cli.main import main
from support.programs import Plan, jump_false, program, scalar, tensor

pytestmark = pytest.mark.heavy

RUNNER = Path(os.environ.get("RUSHLIGHT_TEST_BUILD", "")) / "executor_runner"


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Adds its input to itself, again and again, in 8 MB of planned memory."""
    plan = Plan(
        values=[tensor("float32"), scalar(1), tensor("float32", offset=64), scalar(False)],
        operators=[("aten::add", "out")],
        calls=[(0, [0, 0, 1, 2]), jump_false(3, 0)],
        buffer_sizes=[0, 8_000_000],
        inputs=[0],
        outputs=[2],
    )
    path = tmp_path / "model.pte"
    path.write_bytes(program(plan))
    return path


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    assert exit_.value.code
    return capsys.readouterr().err


def test_a_run_ends_after_so_many_instructions(endless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "budget of 1000" in refused(["run", str(endless), "--max-instructions", "1000"], capsys)


def test_a_run_on_the_host_ends_in_time(endless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "timed out after 0.5 s: model" in refused(["run", str(endless), "--timeout", "0.5"], capsys)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_run_leaves_the_callers_timer_alone(endless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expired = []
    before = signal.signal(signal.SIGALRM, lambda *_: expired.append(True))
    signal.setitimer(signal.ITIMER_REAL, 100)
    try:
        refused(["run", str(endless), "--timeout", "0.2"], capsys)
        assert 50 < signal.getitimer(signal.ITIMER_REAL)[0] < 100
        assert not expired
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_run_is_refused_more_memory_than_it_may_take(
    endless: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(["run", str(endless), "--max-memory", "1000000"], capsys)
    assert "expected at most 1000000 bytes, needs 800" in message


@pytest.mark.parametrize("words", [["--baked"], ["-t", "cortex-m4"]])
def test_limits_that_nobody_keeps_are_refused(
    endless: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(["run", str(endless), "--max-instructions", "1000", *words], capsys)
    assert "max_instructions" in message


@pytest.mark.skipif(not RUNNER.is_file(), reason="RUSHLIGHT_TEST_BUILD has no executor_runner")
def test_the_runner_keeps_limits(endless: Path) -> None:
    words = [str(RUNNER), f"--model_path={endless}"]
    loop = process.run([*words, "--max_instructions=1000"], timeout=20)
    assert loop.returncode == 0x25 and "budget of 1000" in loop.stdout + loop.stderr
    large = process.run([*words, "--max_instructions=1000", "--max_memory=1000000"], timeout=20)
    assert large.returncode == 0x21
    assert "memory: expected at most 1000000 bytes, needs 80" in large.stdout + large.stderr
    fits = process.run([*words, "--max_instructions=1000", "--max_memory=9000000"], timeout=20)
    assert fits.returncode == 0x25
