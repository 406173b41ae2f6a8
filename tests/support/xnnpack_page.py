# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/delegates.md: kinds of nodes × kinds of numbers, and how far programs that have them are
from the official runtime."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from support import written

PAGE = Path(__file__).resolve().parents[2] / "docs" / "delegates.md"
PART = "nodes"
NUMBERS = ("float32", "float16", "static int8", "dynamic int8")
"""The columns."""

Cell = tuple[str, str]
"""A kind of node, and one of numbers."""


def table(differences: Mapping[Cell, float], programs: int) -> str:
    """The part of the page, of the largest differences of the programs that have each cell."""
    lines = [
        f"The largest difference from the official runtime in {programs} programs of the conformance tests, "
        "relative to the largest number of an output:",
        "",
        "| node | " + " | ".join(NUMBERS) + " |",
        "|---" * (1 + len(NUMBERS)) + "|",
    ]
    for node in sorted({node for node, _ in differences}):
        found = [differences.get((node, numbers)) for numbers in NUMBERS]
        shown = ["" if each is None else "equal" if each == 0 else f"{each:.0e}" for each in found]
        lines.append("| " + " | ".join([f"`{node}`", *shown]) + " |")
    return "\n".join(lines)


def cells() -> set[Cell]:
    """The cells of the page that are not empty."""
    [part] = [part for part in written.parts(PAGE.read_text()) if part.name == PART]
    rows = [line.strip("| ").split(" | ") for line in part.text.splitlines() if line.startswith("| `")]
    rows = [[cell.strip() for cell in f"{' | '.join(row)} |".split("|")] for row in rows]
    return {
        (row[0].strip("`"), numbers)
        for row in rows
        for numbers, cell in zip(NUMBERS, row[1:], strict=False)
        if cell
    }
