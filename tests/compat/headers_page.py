# SPDX-License-Identifier: BSD-3-Clause
"""Writes the list of the headers of compat/ into docs/compat.md: `python tests/compat/headers_page.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.compat_headers import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page())
