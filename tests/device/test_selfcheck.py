# SPDX-License-Identifier: BSD-3-Clause
"""The C++ environment of every target: see selfcheck/selfcheck.cpp."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process
from rushlight.status import CRASH_STATUS
from rushlight.targets import RunResult, Target

pytestmark = pytest.mark.device

SOURCE = Path(__file__).parent / "selfcheck"

Selfcheck = Callable[..., RunResult]


@pytest.fixture
def selfcheck(target: Target, build: Callable[[Target, Path, str], Path], tmp_path: Path) -> Selfcheck:
    """Runs a mode of the program in a separate folder."""
    executable = build(target, SOURCE, "selfcheck")
    return lambda *arguments: target.run(executable, arguments, cwd=tmp_path, timeout=120)


def numbers(result: RunResult) -> list[int]:
    assert result.returncode == 0, result.stdout + result.stderr
    return [int(line) for line in result.stdout.split()]


@pytest.mark.parametrize("mode", ["start", "model", "monotony", "atomic"])
def test_the_program_finds_everything_in_order(target: Target, selfcheck: Selfcheck, mode: str) -> None:
    result = selfcheck(mode)
    assert (result.returncode, result.stdout) == (0, "")


def test_memory_is_what_the_board_has(target: Target, selfcheck: Selfcheck) -> None:
    small = 0 < target.bank_bytes().get(target.banks().get("arena", ""), 0) < 1 << 20
    result = selfcheck("memory", *(["1000", "600"] if small else ["1048576", "131072"]))
    assert (result.returncode, result.stdout) == (0, "")


def test_an_unaligned_access_ends_the_run_where_the_core_has_none(
    target: Target, selfcheck: Selfcheck
) -> None:
    faults = target.name in ("microbit", "cortex-m0plus")
    assert selfcheck("unaligned").returncode == (139 if faults else 0)


def test_a_file_is_read_and_written_whole(target: Target, selfcheck: Selfcheck, tmp_path: Path) -> None:
    content = random.Random(1).randbytes(2_003 if target.name == "microbit" else 100_003)
    (tmp_path / "in put, with commas").write_bytes(content)
    result = selfcheck("copy", "in put, with commas", "out put,,")
    assert (result.returncode, result.stdout) == (0, "")
    assert (tmp_path / "out put,,").read_bytes() == content


def test_a_missing_file_is_an_answer_not_a_crash(target: Target, selfcheck: Selfcheck) -> None:
    result = selfcheck("copy", "nowhere", "out")
    assert (result.returncode, result.stdout) == (1, "input cannot be opened\n")


def test_arguments_arrive_as_they_were_given(target: Target, selfcheck: Selfcheck) -> None:
    given = ["--a=b,c", "two words", "back\\slash", "'quoted'", '"$HOME"', "ends with\\", "x" * 300]
    assert selfcheck("arguments", *given).stdout.splitlines() == given


@pytest.mark.parametrize("status", [0, 1, 7, 128, 255])
def test_the_exit_status_comes_back(target: Target, selfcheck: Selfcheck, status: int) -> None:
    assert selfcheck("status", str(status)).returncode == status


def test_instructions_are_counted_exactly_and_alike_each_time(target: Target, selfcheck: Selfcheck) -> None:
    short, long, _ = numbers(selfcheck("count"))
    if target.kind != "bare-metal":
        assert (short, long) == (0, 0)
        return
    # Two instructions per iteration; the call and the reading around the loop (on ARMv6-M with a 64-bit
    # multiplication), and SysTick's interrupt at each wrap.
    assert 2_000 <= short <= 2_110
    assert 40_000_000 <= long <= 40_000_150
    assert numbers(selfcheck("count"))[:2] == [short, long]


def test_the_clock_goes_with_the_instructions(target: Target, selfcheck: Selfcheck) -> None:
    short, long, elapsed_ns = numbers(selfcheck("count"))
    assert elapsed_ns > 0
    if target.kind == "bare-metal":
        shift = target.description()["icount_shift"]  # type: ignore[attr-defined]
        assert elapsed_ns == pytest.approx((short + long) << shift, rel=1e-3)


def test_the_most_stack_that_was_used_is_known(target: Target, selfcheck: Selfcheck) -> None:
    before, after = numbers(selfcheck("stack"))
    if target.kind != "bare-metal":
        assert (before, after) == (0, 0)
        return
    # The command line's buffer of 1 KiB is on the stack, too.
    assert 1024 < before < 4096
    assert 2_000 < after < 2_200 + before


@pytest.mark.parametrize(
    ("mode", "line", "status"),
    [("fault", "fault: ", 139), ("overflow", "fault: ", 139), ("abort", "aborted", 134)],
)
def test_a_crash_ends_the_run_with_a_status_and_a_line_of_its_own(
    target: Target, selfcheck: Selfcheck, mode: str, line: str, status: int
) -> None:
    result = selfcheck(mode)
    if target.kind == "bare-metal":
        assert (result.returncode, status in CRASH_STATUS) == (status, True)
        assert result.stdout.startswith(line)
    else:
        assert result.returncode == 128 - status


def test_ctest_runs_in_the_emulator(target: Target, build: Callable[[Target, Path, str], Path]) -> None:
    folder = build(target, SOURCE, "selfcheck").parent
    process.run(
        ["ctest", "--test-dir", folder, "--no-tests=error", "--timeout", "120"], check=True, timeout=150
    )


def test_bare_metal_refuses_static_constructors_when_linking(
    target: Target, build: Callable[[Target, Path, str], Path], tmp_path: Path
) -> None:
    build(target, SOURCE, "selfcheck")
    toolchain = [f"-D{name}={value}" for name, value in target.toolchain.items()]
    command = ["cmake", "-S", SOURCE, "-B", tmp_path, "-G", "Ninja", *toolchain]
    process.run([*command, "-DSELFCHECK_STATIC_OBJECT=ON"], check=True, timeout=120)
    result = process.run(["cmake", "--build", tmp_path], timeout=300)
    if target.kind != "bare-metal":
        assert result.returncode == 0
        return
    assert result.returncode != 0
    assert "a static object needs a constructor" in result.stdout + result.stderr
