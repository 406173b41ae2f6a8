# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs in this process, on numpy alone."""

from rushlight.runtime.arrays import ValueInfo
from rushlight.runtime.official import BackendRegistry, OperatorRegistry, Runtime, Verification
from rushlight.runtime.program import Method, Program, load

__all__ = [
    "BackendRegistry",
    "Method",
    "OperatorRegistry",
    "Program",
    "Runtime",
    "ValueInfo",
    "Verification",
    "load",
]
