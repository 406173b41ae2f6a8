# SPDX-License-Identifier: BSD-3-Clause
"""The fuzz targets: earlier findings stay fixed, and a short run finds nothing new.

`./dev fuzz` runs them longer. RUSHLIGHT_FUZZ_BUILD is a build of the preset `fuzz`, RUSHLIGHT_FUZZ_COUNT
how many mutants of each target run here, RUSHLIGHT_FUZZ_SECONDS how long libFuzzer takes at most on each.
Mutants and inputs are the same ones each time.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rushlight import process
from rushlight.codegen.table import load_table
from support.fuzz_targets import (
    ENVIRONMENT,
    REGRESSIONS,
    ROOT,
    TARGETS,
    Target,
    replay,
    run_libfuzzer,
    run_mutants,
    run_numbers,
)
from support.recorded_calls import read

BUILDS = {
    "plain": Path(os.environ.get("RUSHLIGHT_TEST_BUILD") or ROOT / "build" / "tests"),
    "sanitized": Path(os.environ.get("RUSHLIGHT_FUZZ_BUILD") or ROOT / "build" / "fuzz"),
}
COUNT = int(os.environ.get("RUSHLIGHT_FUZZ_COUNT", "5000"))
SECONDS = int(os.environ.get("RUSHLIGHT_FUZZ_SECONDS", "300"))

# The semantics of these operators require shared memory.
WITHOUT_CALLS = {"executorch_prim::et_view.default"}

every_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


def build_with(target: Target, kind: str) -> Path:
    """The build of a kind; skips if it is missing."""
    folder = BUILDS[kind]
    if not replay(folder, target).exists():
        preset = "tests" if kind == "plain" else "fuzz"
        pytest.skip(f"no {replay(folder, target)}: cmake --preset {preset}, cmake --build --preset {preset}")
    return folder


@every_target
@pytest.mark.parametrize("kind", BUILDS)
def test_good_files_and_former_findings_run(kind: str, target: Target) -> None:
    program = replay(build_with(target, kind), target)
    files = target.corpus()
    result = process.run([program, *files], env=ENVIRONMENT, timeout=300)
    assert result.returncode == 0, result.stderr[-4000:]
    assert result.stdout == f"{len(files)} inputs\n"


@every_target
def test_mutants_neither_crash_nor_hang(target: Target, tmp_path: Path) -> None:
    run = run_mutants(build_with(target, "sanitized"), target, COUNT, 1, tmp_path)
    assert run.failures == []
    # If no mutant were executed, the run would prove nothing.
    assert sum(run.counts["executed"].values()) > COUNT // 20


@every_target
def test_libfuzzer_finds_nothing(target: Target, tmp_path: Path) -> None:
    build = build_with(target, "sanitized")
    run = run_libfuzzer(build, target, SECONDS, tmp_path, tmp_path / "corpus", seed=1, runs=target.inputs)
    assert run.failures == []
    assert run.executions > 100


def test_every_operator_takes_other_sizes_and_tensors_over_each_other(tmp_path: Path) -> None:
    """Each recorded call, each change of it, each memory plan: see fuzz_calls.cpp."""
    target = next(target for target in TARGETS if target.name == "calls")
    count = len(read())
    run = run_numbers(build_with(target, "sanitized"), target, count, tmp_path)
    assert run.failures == []
    assert sum(run.counts["executed"].values()) == count


def test_every_operator_has_a_recorded_call() -> None:
    called = {name for name, _ in read()}
    rows = load_table(ROOT / "kernels" / "ops.yaml").operators
    assert set(rows) - called == WITHOUT_CALLS
    assert called <= set(rows)


def test_regressions_belong_to_a_target() -> None:
    assert {path.name for path in REGRESSIONS.iterdir() if path.is_dir()} <= {t.name for t in TARGETS}
