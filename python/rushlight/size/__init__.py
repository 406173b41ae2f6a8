# SPDX-License-Identifier: BSD-3-Clause
"""How much flash, RAM and stack a program takes, and what takes it. docs/size.md tells more."""

from __future__ import annotations

from rushlight.size.api import find_build, read_build, size
from rushlight.size.report import SizeReport, read_report

__all__ = ["SizeReport", "find_build", "read_build", "read_report", "size"]
