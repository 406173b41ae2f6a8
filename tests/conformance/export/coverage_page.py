# SPDX-License-Identifier: BSD-3-Clause
"""Writes the share of PyTorch that exports and runs into docs/exporting.md."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support import written
from support.export.coverage import PAGE, text

if __name__ == "__main__":
    written.write(PAGE, "coverage", text())
