# SPDX-License-Identifier: BSD-3-Clause
"""A run that failed on a target raises the host's error if the runner reports one, else a crash."""

from __future__ import annotations

import pytest

from rushlight.errors import InvalidArgument, OperatorNotFound, OutOfMemory, RushlightError, TargetCrashed
from rushlight.run import failures
from rushlight.run.case_stream import RunnerOutcome
from rushlight.run.runner_error import runner_error
from rushlight.runtime import native
from rushlight.sources import source_root
from rushlight.status import ABORTED, FAULTED, UNSUPPORTED_DTYPE, Status

FAILURES = [status for status in Status if status is not Status.Ok]


@pytest.mark.parametrize("status", [status for status in FAILURES if status is not Status.OperatorMissing])
def test_a_code_is_the_same_error_on_the_host_and_on_a_target(status: Status) -> None:
    there = runner_error("board", status, "printed output\n", RunnerOutcome(status))
    here = native.exception(Exception(status, status.name, "logged output", None, [], None, None, None), None)  # type: ignore[arg-type]
    assert (type(there), there.next_step) == (type(here), here.next_step)
    assert "printed output" in str(there)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status.InvalidState, InvalidArgument),
        (Status.AccessFailed, InvalidArgument),
        (Status.OutOfResources, OutOfMemory),
        (Status.OperatorMissing, OperatorNotFound),
        (Status.Internal, RushlightError),
    ],
)
def test_codes_have_their_errors(status: Status, kind: type[RushlightError]) -> None:
    assert type(runner_error("board", status, "", RunnerOutcome(status))) is kind


@pytest.mark.parametrize("status", [*FAILURES, ABORTED, FAULTED, 3, 126, 255, -11])
def test_a_status_that_no_runner_told_is_a_crash(status: int) -> None:
    """An emulator that does not start ends with 1, Python without its script with 2."""
    for outcome in (None, RunnerOutcome(0), RunnerOutcome(Status.EndOfMethod if status != 3 else 4)):
        error = runner_error("board", status, "no such file\n", outcome)
        assert type(error) is TargetCrashed and "no such file" in str(error)


def test_failure_records_tell_the_instruction_and_are_shown_without_logs() -> None:
    records = (0x00010052, 5 << 6)
    error = runner_error("board", 0x12, "error 0x12\n", RunnerOutcome(0x12, records=records))
    assert error.instruction == 5
    location = "InvalidArgument (0x12) at an unknown location (of another version?)"
    assert str(error).endswith(f"error 0x12\n{location}\nnumber 5")
    logged = runner_error("linux", 0x12, "instruction 5 failed\n", RunnerOutcome(0x12, 0, 0, True, records))
    assert (logged.instruction, str(logged).splitlines()[1:]) == (5, ["instruction 5 failed"])


@pytest.mark.parametrize("has_logs", [False, True])
@pytest.mark.parametrize(("code", "expected"), [(Status.InvalidType, True), (Status.InvalidArgument, False)])
def test_a_dtype_that_a_kernel_lacks_is_told_by_its_place(
    code: Status, expected: bool, has_logs: bool
) -> None:
    source = (source_root() / UNSUPPORTED_DTYPE).read_text().splitlines()
    [line] = [n for n, text in enumerate(source, 1) if "RL_CHECK" in text]
    record = failures.position(UNSUPPORTED_DTYPE, line) | Status.InvalidType
    error = runner_error("board", code, "", RunnerOutcome(code, 0, 0, has_logs, (record,)))
    assert isinstance(error, InvalidArgument)
    assert (error.unsupported_dtype, "all dtypes" in error.next_step) == (expected, expected)


def test_bytes_that_memory_is_short_of_cross_as_a_number() -> None:
    code = Status.MemoryAllocationFailed
    told = runner_error("board", code, "", RunnerOutcome(code, records=(40 << 6 | 0x3F, 0x00010040 | code)))
    untold = runner_error("board", code, "40 short\n", RunnerOutcome(code, records=(0x00010040 | code,)))
    assert isinstance(told, OutOfMemory) and isinstance(untold, OutOfMemory)
    assert (told.short, untold.short) == (40, None)
