# SPDX-License-Identifier: BSD-3-Clause
"""ThreadSanitizer finds no data race in the C++ tests of threads, modules and the executor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rushlight import process

ROOT = Path(__file__).parents[2]
TESTS = "*Thread*:*Async*:*Lane*:Module*:Execute*:Prepare*:Fold*"


@pytest.mark.heavy
@pytest.mark.slow
@pytest.mark.exhaustive
def test_threads_have_no_data_races() -> None:
    """Its build folder, build/tsan, is kept: the first build takes some minutes."""
    for command in (["cmake", "--preset", "tsan"], ["cmake", "--build", "--preset", "tsan"]):
        process.run(command, cwd=ROOT, check=True, timeout=1800)
    tests = ROOT / "build" / "tsan" / "tests" / "runtime" / "runtime_tests"
    # Child processes of tests end without threads, so the sanitizer may ignore them.
    environment = {**os.environ, "TSAN_OPTIONS": "halt_on_error=0:exitcode=66:die_after_fork=0"}
    result = process.run([tests, f"--gtest_filter={TESTS}"], env=environment, timeout=300)
    assert "WARNING: ThreadSanitizer" not in result.stdout + result.stderr
    assert result.returncode == 0, result.stdout + result.stderr
