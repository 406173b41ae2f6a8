# SPDX-License-Identifier: BSD-3-Clause
"""How much of PyTorch exports and runs, as a table of docs/exporting.md, which running this file writes.

Counted from misses.yaml, which test_opinfo_export.py and test_nn_export.py hold to what happens.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / folder) for folder in ("benchmarks", "tests/kernels", "tests/kernels/opinfo")]

import written  # noqa: E402
from exported import load_misses  # noqa: E402
from nn_modules import class_names  # noqa: E402
from opinfo_pairs import all_pairs  # noqa: E402

PAGE = ROOT / "docs" / "exporting.md"
_UNTRACED = "torch.export does not trace"


def text() -> str:
    """The table."""
    misses = load_misses(Path(__file__).with_name("misses.yaml"))
    entries = [pair.name for pair in all_pairs() if pair.dtype_name == "float32"]
    rows = [
        _row("OpInfo, float32", entries, misses["opinfo"]),
        _row("module classes of `torch.nn`", class_names(), misses["nn"]),
    ]
    return "\n".join(["| | entries | right | not right |", "|---|--:|--:|---|", *rows])


def _row(title: str, entries: Collection[str], misses: Mapping[str, str]) -> str:
    right = len(entries) - len(misses)
    untraced = sum(reason.startswith(_UNTRACED) for reason in misses.values())
    wrong = f"{untraced} that `torch.export` does not trace, {len(misses) - untraced} for other reasons"
    return f"| {title} | {len(entries)} | {right} ({right / len(entries):.1%}) | {wrong} |"


if __name__ == "__main__":
    written.write(PAGE, "coverage", text())
