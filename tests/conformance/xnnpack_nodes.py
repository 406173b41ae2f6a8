# SPDX-License-Identifier: BSD-3-Clause
"""Runs all programs of test_xnnpack_delegates.py, as they are and converted, and writes the table of nodes:
`python tests/conformance/xnnpack_nodes.py --write`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import test_xnnpack_delegates as cases

from support import written
from support.official_xnnpack import converted, largest_difference, official_outputs, own_outputs
from support.xnnpack_page import PAGE, PART, Cell, table


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write the table of {PAGE.name}")
    options = parser.parse_args()
    differences: dict[Cell, float] = {}
    programs = 0
    for lowered, calls in cases.programs():
        expected = official_outputs(lowered, calls)
        worst = 0.0
        for data in (lowered.data, converted(lowered).buffer):
            worst = max(worst, largest_difference(own_outputs(data, calls), expected))
        for cell in lowered.nodes:
            differences[cell] = max(differences.get(cell, 0.0), worst)
        programs += 1
    text = table(differences, programs)
    print(text)
    if options.write:
        written.write(PAGE, PART, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
