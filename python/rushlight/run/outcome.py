# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of runs: the result of each call, compared with the expected outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rushlight.build import BuildResult
from rushlight.run.case_stream import CallResult, Report
from rushlight.run.cases import Case, Comparison, compare
from rushlight.trace.request import TraceLoss


@dataclass(frozen=True)
class CallOutcome:
    """The result of one call, and its comparison if the case has expected outputs."""

    method: str
    result: CallResult
    comparison: Comparison | None


@dataclass(frozen=True)
class RunOutcome:
    """A whole run. `report` is None when the program ran in this process. `seconds` is wall time without
    building. `trace_loss` is None when no trace was asked for."""

    target: str
    calls: list[CallOutcome]
    report: Report | None
    build: BuildResult | None
    seconds: float
    trace_loss: TraceLoss | None = None

    @property
    def passed(self) -> bool:
        """True if no comparison failed."""
        return not self.reasons

    @property
    def reasons(self) -> list[str]:
        """A line for each call whose outputs differ from the expected ones."""
        return [
            f"call {index} ({call.method}): {call.comparison.reason}"
            for index, call in enumerate(self.calls)
            if call.comparison is not None and not call.comparison.passed
        ]

    @property
    def stack_peak(self) -> int | None:
        """The peak stack use in bytes since reset; None if the target cannot measure it."""
        return max((call.result.stack_bytes for call in self.calls), default=0) or None

    @property
    def max_error(self) -> float | None:
        """The largest absolute difference over all calls; None if nothing was compared."""
        errors = [call.comparison.max_error for call in self.calls if call.comparison is not None]
        return max(errors, key=lambda e: math.inf if math.isnan(e) else e) if errors else None


def compared(case: Case, results: Sequence[CallResult]) -> list[CallOutcome]:
    """The results of a case's calls, compared with its expected outputs."""
    return [
        CallOutcome(
            call.method,
            result,
            None
            if call.expected is None
            else compare(result.outputs, call.expected, case.tolerance, call.steps),
        )
        for call, result in zip(case.calls, results, strict=True)
    ]
