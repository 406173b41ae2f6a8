# SPDX-License-Identifier: BSD-3-Clause
"""Converts a failed run on a target to the error that the same failure raises on the host."""

from __future__ import annotations

from collections.abc import Sequence

from rushlight.errors import InvalidArgument, OperatorNotFound, OutOfMemory, RushlightError, TargetCrashed
from rushlight.run import failures
from rushlight.run.case_stream import RunnerOutcome
from rushlight.run.failures import Failure
from rushlight.status import CRASH_STATUS, UNSUPPORTED_DTYPE, Status, kind_of

_LINES = 12
"""The number of last output lines that an error shows."""


def runner_error(target: str, status: int, output: str, outcome: RunnerOutcome | None) -> RushlightError:
    """The error of a run that ended with exit status `status` and printed `output`.

    It is the runtime's error only if the runner's `outcome` has the same code, since emulators and shells
    use exit statuses for other purposes. Otherwise the run crashed.
    """
    failed = failures.decode(outcome.records) if outcome else []
    message = _message(target, status, output, [] if outcome and outcome.has_logs else failed)
    if outcome is None or outcome.code != status:
        return TargetCrashed(message)
    error = _error_of(status, message, failed)
    error.instruction = failures.failed_instruction(failed)
    return error


def _message(target: str, status: int, output: str, failed: Sequence[Failure]) -> str:
    reason = CRASH_STATUS.get(status, f"signal {-status}" if status < 0 else f"exit status {status:#x}")
    tail = "\n".join(output.strip().splitlines()[-_LINES:])
    tail += "".join(f"\n{failure}" for failure in failed)
    return f"target '{target}': {reason}\n{tail}".rstrip()


def _error_of(status: int, message: str, failed: Sequence[Failure]) -> RushlightError:
    """The error for a status code of the runtime."""
    if status == Status.OperatorMissing:
        return OperatorNotFound.from_report(message, next_step="Build the runner for this model.")
    error = (kind_of(status) or RushlightError)(message)
    refused = any(failure.file == UNSUPPORTED_DTYPE and failure.code == status for failure in failed)
    if isinstance(error, OutOfMemory):
        error.short = failures.bytes_short(failed)
    if isinstance(error, InvalidArgument) and refused:
        error.tell_unsupported_dtype()
    return error
