# SPDX-License-Identifier: BSD-3-Clause
"""Times contestants in alternation on one subject."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from contestants import CONTESTANTS, read_arrays
from crew import Failed, WorkerProcess

WARM_UP_SECONDS = 0.15
TURN_SECONDS = 0.06
SLOW_SECONDS = 0.3  # a slower call fills a round, and two rounds suffice
SETTLE_SECONDS = 0.003

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Timing:
    """Medians over rounds, in seconds a call: wall clock and CPU time of the process. `error` is the largest
    difference from eager outputs, relative to their largest magnitude; `calls` are the calls of a round."""

    wall: float
    cpu: float
    error: float
    rounds: int
    calls: int

    def of(self, clock: str) -> float:
        """The time by `clock`, "wall" or "cpu"."""
        return self.wall if clock == "wall" else self.cpu


Timings = dict[str, Timing]
Failures = dict[str, str]


def relative_error(got: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """The largest difference over the largest magnitude, of all outputs. Infinity if shapes differ, or if a
    NaN or infinity is only on one side."""
    worst = 0.0
    if len(got) != len(expected):
        return float("inf")
    for ours, theirs in zip(got, expected, strict=True):
        if ours.shape != theirs.shape:
            return float("inf")
        got_wide, wide = ours.astype(np.float64), theirs.astype(np.float64)
        same = (got_wide == wide) | (np.isnan(got_wide) & np.isnan(wide))
        finite = np.isfinite(got_wide) & np.isfinite(wide)
        if not np.all(same | finite):
            return float("inf")
        scale = float(np.abs(wide[finite]).max(initial=0.0))
        difference = float(np.abs(got_wide[finite] - wide[finite]).max(initial=0.0))
        worst = max(worst, difference / scale if scale else difference)
    return worst


def _calibrated(worker: WorkerProcess) -> int:
    """Warms up and returns the number of calls that fill a round."""
    spent, calls = 0.0, 1
    while True:
        start = time.perf_counter()
        wall = min(wall for wall, _ in worker.ask("run", calls))
        spent += time.perf_counter() - start
        calls = max(1, round(TURN_SECONDS / max(wall, 1e-7)))
        if spent >= WARM_UP_SECONDS:
            return calls


def compete(
    workers: Mapping[str, WorkerProcess], folder: Path, threads: int, rounds: int, spins: bool, tell: Tell
) -> tuple[Timings, Failures]:
    """Times all contestants on the subject in `folder`, one at a time, while the others sleep. With `spins`
    idle threads of a pool may spin for a while, as packages do by default; CPU time would count that."""
    expected = _read(folder / "expected.npz")
    calls: dict[str, int] = {}
    errors: dict[str, float] = {}
    failures: Failures = {}
    for name, worker in workers.items():
        tell(f"{name}: warm-up")
        try:
            worker.ask("load", name, str(folder), threads, spins)
            outputs = worker.ask("outputs")
            # The copy computes nothing.
            errors[name] = relative_error(outputs, expected) if CONTESTANTS[name].computes else 0.0
            calls[name] = _calibrated(worker)
            worker.ask("rest")
        except Failed as error:
            failures[name] = str(error)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for number in range(rounds):
        for name in _rotated(list(calls), number):
            if number >= 2 and taken[name][0][0] > SLOW_SECONDS:
                continue
            tell(f"{name}: round {number + 1} of {rounds}")
            time.sleep(SETTLE_SECONDS)
            batches = workers[name].ask("run", calls[name])
            workers[name].ask("rest")
            taken[name].append(tuple(statistics.median(each) for each in zip(*batches, strict=True)))
    timings = {
        name: Timing(
            *(statistics.median(each) for each in zip(*each_round, strict=True)),
            errors[name],
            len(each_round),
            calls[name],
        )
        for name, each_round in taken.items()
    }
    return timings, failures


def _rotated(names: list[str], number: int) -> list[str]:
    first = number % max(len(names), 1)
    return names[first:] + names[:first]


def _read(path: Path) -> list[np.ndarray]:
    return read_arrays(path)


def loading(worker: WorkerProcess, name: str, folder: Path, threads: int) -> dict[str, Any]:
    """Seconds of loading and of the first run, and bytes of memory: resident before, and the peaks after
    loading and after a run. The worker must have done nothing else before."""
    worker.ask("version", name)
    spins = threads > 1
    before = worker.ask("memory")["VmRSS"]
    seconds = worker.ask("load", name, str(folder), threads, spins)
    loaded = worker.ask("memory")["VmHWM"]
    [(wall, cpu)] = worker.ask("run", 1)
    return {
        "load": seconds,
        "first_run": {"wall": wall, "cpu": cpu},
        "before": before,
        "loaded": loaded,
        "run": worker.ask("memory")["VmHWM"],
    }
