# SPDX-License-Identifier: BSD-3-Clause
"""The computed RAM is enough on the target, and one byte less is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight import targets
from rushlight.build import build
from rushlight.program import method_memory, read_program

pytestmark = pytest.mark.device

MODEL = Path(__file__).parents[1] / "interop" / "model_dscnn" / "model.pte"
[PLAN] = read_program(MODEL).plans
OUT_OF_MEMORY = 0x21


@pytest.fixture(scope="module", params=["host", "linux-armhf", "cortex-m4", "rv32imac"])
def runner(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """Runs the model on ones, with memory sizes from the arguments: (status, output)."""
    target = targets.get(request.param)
    if missing := target.requirements():
        pytest.skip(f"missing: {', '.join(m.name for m in missing)}")
    folder = tmp_path_factory.mktemp(request.param)
    defines = {"RUSHLIGHT_LOG_LEVEL": "error"}
    # For all calls, so that kernels can fall back to code that needs no scratch memory.
    built = build(MODEL, target=target.name, output=folder, calls="all", defines=defines)

    def run(*arguments: str) -> tuple[int, str]:
        where = () if target.kind == "bare-metal" else (f"--model_path={MODEL}",)
        result = target.run(built.executable, [*where, *arguments], cwd=folder, timeout=120)
        return result.returncode, result.stdout + result.stderr

    bits = 64 if target.name == "host" else 32
    return run, method_memory(PLAN).method_arena[bits]


def test_the_computed_sizes_are_enough(runner) -> None:
    run, arena = runner
    [planned] = PLAN.buffer_sizes[1:]
    status, output = run(f"--method_arena_bytes={arena}", f"--planned_bytes={planned}")
    assert (status, output.strip()) == (0, "forward")


def test_kernels_do_without_scratch(runner) -> None:
    run, _ = runner
    status, output = run("--temporary_bytes=0")
    # Host kernels fall back to a slower algorithm and report the scratch they wanted; board kernels want
    # none.
    assert status == 0 and output.strip().splitlines()[0] == "forward"


def test_one_byte_less_is_said_to_be_one_byte_short(runner) -> None:
    run, arena = runner
    for short in (f"--method_arena_bytes={arena - 1}", f"--planned_bytes={PLAN.buffer_sizes[1] - 1}"):
        status, output = run(short)
        assert status == OUT_OF_MEMORY and "1 short" in output, output


def test_planned_memory_may_lie_in_the_fast_bank(runner) -> None:
    run, _ = runner
    status, output = run("--planned_banks=1")
    assert (status, output.strip()) == (0, "forward")
    assert run("--planned_banks=2")[0] == 0x12
