# SPDX-License-Identifier: BSD-3-Clause
"""The interface of runners: a prepared case in, the results of its calls out."""

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
"""Seconds after which a run is stopped, such as an emulator that hangs."""


@dataclass(frozen=True)
class Limits:
    """Limits of a run: `seconds` of wall time in total, `instructions` of the program in one call, and
    bytes of `memory` for one method. None means no limit."""

    seconds: float = DEFAULT_TIMEOUT
    instructions: int | None = None
    memory: int | None = None

    def arguments(self) -> list[tuple[str, str]]:
        """The options of executor_runner for the limits that the runtime keeps."""
        named = {"--max_instructions": self.instructions, "--max_memory": self.memory}
        return [(option, str(limit)) for option, limit in named.items() if limit is not None]

    def check_only_time(self, what: str) -> None:
        """Error: InvalidArgument if there are limits that `what` cannot keep."""
        if self.arguments():
            raise InvalidArgument(f"max_instructions, max_memory: {what} has no such limits")


@dataclass(frozen=True)
class Results:
    """The results of a case's calls in order. In this process there are no report and no build, without a
    trace there is no loss."""

    calls: Sequence[CallResult]
    report: Report | None = None
    build: BuildResult | None = None
    trace_loss: TraceLoss | None = None


class Runner(Protocol):
    """Something that runs programs: this process, or an executable on a target."""

    def run(self, prepared: PreparedCase) -> Results:
        """Runs all calls. Errors: RunTimeout; TargetCrashed; what the runtime itself refuses."""
        ...
