# SPDX-License-Identifier: BSD-3-Clause
"""The process of one contestant: executes requests from a socket, and sleeps in between.

    python benchmarks/speed/worker.py SOCKET [CPU...]

A request is the name of a method of Worker and its arguments; the answer is ("ok", result) or ("failed",
text).
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any

# Before any package starts its threads.
if len(sys.argv) > 2:
    os.sched_setaffinity(0, [int(cpu) for cpu in sys.argv[2:]])

import numpy as np
from contestants import CONTESTANTS, read_arrays

BATCHES = 5
REST_SECONDS = 0.002
MOST_RESTS = 250


def memory() -> dict[str, int]:
    """Bytes resident now, and the peak so far."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {what: int(lines[what].split()[0]) * 1024 for what in ("VmRSS", "VmHWM")}


class Worker:
    """One contestant with at most one subject."""

    def version(self, contestant: str) -> str:
        """The version of its package. Error: ImportError."""
        return str(CONTESTANTS[contestant].version())

    def packages(self) -> dict[str, str]:
        """Versions of the installed packages that write the files."""
        found = {}
        for name in ("torch", "executorch", "onnx", "onnxscript"):
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                found[name] = importlib.metadata.version(name)
        return found

    def make_subject(self, name: str, folder: str) -> None:
        """See `making`."""
        import making

        making.make_subject(name, Path(folder))

    def make_file(self, name: str, folder: str, file: str) -> None:
        """See `making`."""
        import making

        making.make_file(name, Path(folder), file)

    def load(self, contestant: str, folder: str, threads: int, spins: bool) -> dict[str, float]:
        """Seconds of loading, and of the first run after it."""
        self.contestant, self.inputs = None, None  # freed before the next one is loaded
        arrays = read_arrays(Path(folder) / "inputs.npz")
        wall, cpu = time.perf_counter(), time.process_time()
        self.contestant = CONTESTANTS[contestant](Path(folder), threads, spins)
        loaded = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        self.inputs = self.contestant.adapted(arrays)
        return loaded

    def outputs(self) -> list[np.ndarray]:
        """The outputs of one run."""
        return list(self.contestant.arrays(self.contestant.run(self.inputs)))

    def run(self, calls: int) -> list[tuple[float, float]]:
        """Seconds of a call, wall and process CPU, for each of a few batches of `calls` together."""
        run, inputs, times = self.contestant.run, self.inputs, []
        each = max(calls // BATCHES, 1)
        for _ in range(min(BATCHES, calls)):
            wall, cpu = time.perf_counter_ns(), time.process_time_ns()
            for _ in range(each):
                run(inputs)
            cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
            times.append((wall / each / 1e9, cpu / each / 1e9))
        return times

    def rest(self) -> None:
        """Returns when no thread of the process computes any more: idle threads of ONNX Runtime spin for
        tens of milliseconds, which would be in the next contestant's turn."""
        for _ in range(MOST_RESTS):
            cpu = time.process_time()
            time.sleep(REST_SECONDS)
            if time.process_time() - cpu < REST_SECONDS / 4:
                return

    def memory(self) -> dict[str, int]:
        """See `memory`."""
        return memory()


def main(address: str) -> int:
    worker = Worker()
    with Client(address) as connection:
        while (request := connection.recv()) is not None:
            name, *arguments = request
            method: Callable[..., Any] = getattr(worker, name)
            try:
                answer = ("ok", method(*arguments))
            except Exception as error:  # whatever a package raises is a result of the benchmark
                text = f"{type(error).__name__}: {error}"
                answer = ("failed", text)
            connection.send(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
