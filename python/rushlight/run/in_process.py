# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs in this process, with the native module."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from rushlight import runtime
from rushlight.errors import RunTimeout
from rushlight.run.case_stream import CallResult
from rushlight.run.cases import Call
from rushlight.run.prepared import PreparedCase
from rushlight.run.runner import Limits, Results
from rushlight.runtime.fallback import Fallback


@dataclass(frozen=True)
class InProcess:
    """Runs programs in this process; `module` is the native module of a build, used instead of the package's.
    Without `prepare` kernels pack no constants; `fallback` is rushlight.load's."""

    limits: Limits
    module: ModuleType | None = None
    prepare: bool = True
    fallback: Fallback | None = None

    def run(self, prepared: PreparedCase) -> Results:
        """See Runner."""
        with _within(self.limits.seconds, prepared.path):
            program = runtime.load(
                prepared.data,
                module=self.module,
                data_files=prepared.data_files,
                prepare=self.prepare,
                max_instructions=self.limits.instructions,
                max_memory=self.limits.memory,
                fallback=self.fallback,
            )
            return Results([_call(program, prepared, call) for call in prepared.case.calls])


def _call(program: runtime.Program, prepared: PreparedCase, call: Call) -> CallResult:
    method = program.load_method(call.method) if prepared.case.fresh_methods else program.method(call.method)
    start = time.perf_counter_ns()
    with prepared.origins.told({call.method}):
        outputs = method.execute(call.inputs)
    return CallResult(outputs, 0, time.perf_counter_ns() - start)


@contextmanager
def _within(seconds: float, model: Path) -> Iterator[None]:
    """Stops the block after `seconds`. Only Python's main thread receives the timer's signal: on other
    threads there is no limit. Error: RunTimeout."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> None:
        raise RunTimeout(f"model {model}", seconds)

    began = time.monotonic()
    handler = signal.signal(signal.SIGALRM, end)
    others, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if others > 0:  # restores the caller's timer
            signal.setitimer(signal.ITIMER_REAL, max(others - (time.monotonic() - began), 1e-3), interval)
