# SPDX-License-Identifier: BSD-3-Clause
"""Bad programs are refused or run; none of them brings the process down.

RUSHLIGHT_FUZZ is how many there are of each kind. For a module that was built with
-fsanitize=address,undefined: LD_PRELOAD=$(gcc -print-file-name=libasan.so) and
ASAN_OPTIONS=detect_leaks=0,allocator_may_return_null=1,max_allocation_size_mb=4096.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from rushlight import process

INTEROP = Path(__file__).parents[2] / "interop"
COUNT = int(os.environ.get("RUSHLIGHT_FUZZ", "250"))
SCRIPT = Path(__file__).with_name("fuzzing.py")

# Programs that jump may be mutated into endless loops, which a program is free to have.
LOOPS = {"cond_sum", "scan"}
PROGRAMS = [
    "channels_last_conv",
    "cond_sum",
    "const_out",
    "dtype_bool",
    "dynamic_mlp",
    "list_split_cat",
    "multi_method",
    "mutable_counter",
    "scan",
]


def survive(source: str | Path, seed: int, count: int, endless: int = 0) -> None:
    """Runs `count` programs of the source; up to `endless` of them may run without end."""
    first, killed = 0, []
    while first < count:
        command = [sys.executable, SCRIPT, source, str(seed), str(first), str(count)]
        result = process.run(command, timeout=600)
        lines = result.stdout.split()
        if lines[-1:] == ["end"]:
            break
        assert result.returncode == -signal.SIGPROF, (
            f"number {lines[-1:]} of seed {seed}: exit status {result.returncode}\n{result.stderr[-4000:]}"
        )
        killed.append(int(lines[-1]))
        assert len(killed) <= endless, f"numbers {killed} of seed {seed} do not end"
        first = killed[-1] + 1


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_damaged_program_crashes_or_hangs(name: str, seed: int) -> None:
    survive(INTEROP / name / "model.pte", seed, COUNT, endless=5 if name in LOOPS else 0)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_no_program_of_random_calls_crashes(seed: int) -> None:
    survive("random", seed, 4 * COUNT, endless=1 + COUNT // 50)
