# SPDX-License-Identifier: BSD-3-Clause
"""Every reader of status codes has the codes of rushlight.status, and no exit status of a crash is a code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rushlight.errors import TargetCrashed
from rushlight.status import ABORTED, CRASH_STATUS, FAULTED, LARGEST, Status, kind_of, name_of

ROOT = Path(__file__).resolve().parents[1]
CODES = {status.name: int(status) for status in Status}
HEADERS = {
    "runtime/base/error.h": "runtime/base/error.cpp",
    "compat/include/executorch/runtime/core/error.h": "compat/include/executorch/runtime/core/error.h",
}


def declared(header: str) -> dict[str, int]:
    """The enumerators of `enum class Error` with their numbers."""
    enum = re.search(r"enum class .*?Error : \w+ \{(.*?)\n\};", (ROOT / header).read_text(), re.DOTALL)
    assert enum is not None
    code = re.sub(r"//.*", "", enum[1])
    found = re.findall(r"(\w+)(?: = (\w+))?,", code)
    return {name: int(number, 0) for name, number in found}


@pytest.mark.parametrize("header", HEADERS)
def test_headers_have_the_codes_of_the_table(header: str) -> None:
    assert declared(header) == CODES


@pytest.mark.parametrize("source", HEADERS.values())
def test_each_code_is_spelled_where_it_becomes_text(source: str) -> None:
    spelled = re.findall(
        r"^ *(?:RL_NAMED|RUSHLIGHT_ERROR_NAME)\((\w+)\)$", (ROOT / source).read_text(), re.MULTILINE
    )
    assert spelled == list(CODES)


def test_the_codes_are_the_official_ones() -> None:
    # The codes of executorch 1.5.1, runtime/core/error.h: part of its public API. Ours are far from them.
    own = {"Cancelled": 61, "DeadlineExceeded": 62}
    assert CODES == own | {
        "Ok": 0, "Internal": 1, "InvalidState": 2, "EndOfMethod": 3, "AlreadyLoaded": 4,
        "NotSupported": 16, "NotImplemented": 17, "InvalidArgument": 18, "InvalidType": 19,
        "OperatorMissing": 20, "RegistrationExceedingMaxKernels": 21, "RegistrationAlreadyRegistered": 22,
        "NotFound": 32, "MemoryAllocationFailed": 33, "AccessFailed": 34, "InvalidProgram": 35,
        "InvalidExternalData": 36, "OutOfResources": 37,
        "DelegateInvalidCompatibility": 48, "DelegateMemoryAllocationFailed": 49, "DelegateInvalidHandle": 50,
    }  # fmt: skip


def test_no_other_source_says_a_code_by_its_number() -> None:
    """In the package: comparing with a literal is how the copies of the table drifted."""
    number = re.compile(r"\b(?:code|status|returncode)\b (?:==|!=|in) \(?0x", re.IGNORECASE)
    sources = (ROOT / "python" / "rushlight").rglob("*.py")
    assert [str(path.relative_to(ROOT)) for path in sources if number.search(path.read_text())] == []


def test_records_of_failures_hold_every_code() -> None:
    assert all(code <= LARGEST for code in CODES.values())
    assert f"kShortage = {LARGEST + 1:#x};" in (ROOT / "runtime/base/failure.h").read_text()
    assert "bits 0 to 5 hold the Error" in (ROOT / "runtime/base/failure.h").read_text()


@pytest.mark.parametrize(
    ("file", "line", "status"),
    [
        ("runtime/platform/semihosting.cpp", "constexpr int kAbortStatus = {};", ABORTED),
        ("toolchains/boards/startup/startup.h", "constexpr int kFaultStatus = {};", FAULTED),
        ("toolchains/wasi/run.py", "TRAPPED = {}\n", ABORTED),
    ],
)
def test_what_ends_a_crashed_program_has_a_status_that_is_no_code(file: str, line: str, status: int) -> None:
    assert line.format(status) in (ROOT / file).read_text()
    assert status in CRASH_STATUS and LARGEST < status < 256


def test_only_codes_have_an_exception_and_none_is_a_crash() -> None:
    kinds = {code: kind_of(code) for code in range(256)}
    assert {code for code, kind in kinds.items() if kind} <= set(CODES.values()) - {Status.Ok}
    assert TargetCrashed not in kinds.values()
    assert kinds[Status.InvalidState] is kinds[Status.AccessFailed] is kinds[Status.InvalidArgument]


def test_a_number_that_is_no_code_has_no_name() -> None:
    assert (name_of(0x23), name_of(0x3F)) == ("InvalidProgram", "Unknown")
