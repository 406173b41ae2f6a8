# SPDX-License-Identifier: BSD-3-Clause
"""The interface of runners: they take a prepared case and return the results of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rushlight.build import BuildResult
from rushlight.errors import InvalidArgument
from rushlight.run.case_stream import CallResult, Report
from rushlight.run.prepared import PreparedCase
from rushlight.trace.request import TraceLoss

DEFAULT_TIMEOUT = 300.0
"""Seconds after which a run is stopped, for instance if an emulator hangs."""


@dataclass(frozen=True)
class Limits:
    """Limits of a run: `seconds` of wall time in total, `instructions` of the program per call, and bytes of
    `memory` per method. None means no limit."""

    seconds: float = DEFAULT_TIMEOUT
    instructions: int | None = None
    memory: int | None = None

    def arguments(self) -> list[tuple[str, str]]:
        """The options of executor_runner for the limits that the runtime enforces."""
        named = {"--max_instructions": self.instructions, "--max_memory": self.memory}
        return [(option, str(limit)) for option, limit in named.items() if limit is not None]

    def check_only_time(self, what: str) -> None:
        """Error: InvalidArgument if there are limits that `what` does not support."""
        if self.arguments():
            raise InvalidArgument(f"max_instructions, max_memory: expected no limits for {what}, got some")


@dataclass(frozen=True)
class Results:
    """The results of a case's calls in order. Runs in this process have no report and no build; runs without
    a trace have no loss."""

    calls: Sequence[CallResult]
    report: Report | None = None
    build: BuildResult | None = None
    trace_loss: TraceLoss | None = None


class Runner(Protocol):
    """The interface of runners: this process, or an executable on a target."""

    def run(self, prepared: PreparedCase) -> Results:
        """Runs all calls. Errors: RunTimeout; TargetCrashed; the errors of the runtime."""
        ...
