# SPDX-License-Identifier: BSD-3-Clause
"""Reads program files (.pte) without torch."""

from rushlight.program.describe import describe, operator_uses
from rushlight.program.model import Method, Program, Storage, TensorInfo, Value
from rushlight.program.reader import read_program

__all__ = [
    "Method",
    "Program",
    "Storage",
    "TensorInfo",
    "Value",
    "describe",
    "operator_uses",
    "read_program",
]
