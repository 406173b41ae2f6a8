# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs in this process, on numpy alone."""

from rushlight.runtime.arrays import ValueInfo
from rushlight.runtime.execution import Execution
from rushlight.runtime.info import runtime_info
from rushlight.runtime.method import Method
from rushlight.runtime.method_meta import MethodMemory, MethodMeta, TensorInfo
from rushlight.runtime.official import BackendRegistry, OperatorRegistry, Runtime, Verification
from rushlight.runtime.program import Program, load
from rushlight.runtime.random import set_seed

__all__ = [
    "BackendRegistry",
    "Execution",
    "Method",
    "MethodMemory",
    "MethodMeta",
    "OperatorRegistry",
    "Program",
    "Runtime",
    "TensorInfo",
    "ValueInfo",
    "Verification",
    "load",
    "runtime_info",
    "set_seed",
]
