# SPDX-License-Identifier: BSD-3-Clause
"""Measures the flash, RAM and stack of a program, and which parts take them; see docs/size.md."""

from __future__ import annotations

from rushlight.size.api import find_build, read_build, size
from rushlight.size.report import SizeReport, read_report

__all__ = ["SizeReport", "find_build", "read_build", "read_report", "size"]
