# SPDX-License-Identifier: BSD-3-Clause
"""Status codes of the runtime, the exception for each, and the exit statuses of targets.

runtime/base/error.h and ExecuTorch's error.h in compat/ have the same codes for C++;
tests/test_status_codes.py compares them with this table.
"""

from __future__ import annotations

from enum import IntEnum

from rushlight.errors import DeadlineExceeded, InvalidArgument, InvalidProgram, OutOfMemory, RushlightError


class Status(IntEnum):
    """The values of ExecuTorch's `Error`, with the names of the C++ enumerators. Cancelled and
    DeadlineExceeded are rushlight's own."""

    Ok = 0x00
    Internal = 0x01
    InvalidState = 0x02
    EndOfMethod = 0x03
    AlreadyLoaded = 0x04

    NotSupported = 0x10
    NotImplemented = 0x11
    InvalidArgument = 0x12
    InvalidType = 0x13
    OperatorMissing = 0x14
    RegistrationExceedingMaxKernels = 0x15
    RegistrationAlreadyRegistered = 0x16

    NotFound = 0x20
    MemoryAllocationFailed = 0x21
    AccessFailed = 0x22
    InvalidProgram = 0x23
    InvalidExternalData = 0x24
    OutOfResources = 0x25

    DelegateInvalidCompatibility = 0x30
    DelegateMemoryAllocationFailed = 0x31
    DelegateInvalidHandle = 0x32

    Cancelled = 0x3D
    DeadlineExceeded = 0x3E


LARGEST = 0x3E
"""Failure records have 6 bits for a code; 0x3f marks a shortage. Exit statuses above it are no codes."""

ABORTED, FAULTED = 134, 139
CRASH_STATUS = {ABORTED: "the program aborted", FAULTED: "the core took a fault"}
"""Exit statuses of programs on boards, and in WebAssembly, that did not end by themselves: a shell's after
SIGABRT and SIGSEGV."""

UNSUPPORTED_DTYPE = "runtime/tensor/dispatch.cpp"
"""The source where kernels refuse a dtype that they do not compute, or that the build has not selected."""

_KINDS: dict[int, type[RushlightError]] = {
    Status.InvalidState: InvalidArgument,
    Status.NotSupported: InvalidProgram,
    Status.InvalidArgument: InvalidArgument,
    Status.InvalidType: InvalidArgument,
    Status.OperatorMissing: InvalidProgram,  # OperatorNotFound, where the operators are known
    Status.NotFound: InvalidArgument,  # BackendNotFound, where the backends are known
    Status.MemoryAllocationFailed: OutOfMemory,
    Status.AccessFailed: InvalidArgument,
    Status.InvalidProgram: InvalidProgram,
    Status.InvalidExternalData: InvalidProgram,
    Status.OutOfResources: OutOfMemory,
    Status.DeadlineExceeded: DeadlineExceeded,
}


def kind_of(code: int) -> type[RushlightError] | None:
    """The exception for a status code, on the host and on targets. None for Ok, for bugs (Internal) and for
    codes without their own exception."""
    return _KINDS.get(code)


def name_of(code: int) -> str:
    """The runtime's name of a code; "Unknown" for other numbers."""
    return next((status.name for status in Status if status == code), "Unknown")
