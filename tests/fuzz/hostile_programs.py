# SPDX-License-Identifier: BSD-3-Clause
"""Writes the programs of support/hostile_programs.py to regressions/program:
`python tests/fuzz/hostile_programs.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.hostile_programs import FOLDER, PROGRAMS


def main() -> None:
    """Writes all programs."""
    for name, make in PROGRAMS.items():
        (FOLDER / f"{name}.pte").write_bytes(make().written())


if __name__ == "__main__":
    main()
