# SPDX-License-Identifier: BSD-3-Clause
"""Writes the table of targets into docs/targets.md: `python tests/python/targets/targets_page.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.targets_page import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page())
