# SPDX-License-Identifier: BSD-3-Clause
"""The part of PyTorch that exports and runs, as a table of docs/exporting.md.

Counted from misses.yaml, which test_opinfo_export.py and test_nn_export.py compare with the actual
results.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from support.export.exported import load_misses
from support.export.nn_modules import class_names
from support.opinfo.pairs import all_pairs

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "exporting.md"
_UNTRACED = "torch.export does not trace"


def text() -> str:
    """The table."""
    misses = load_misses(ROOT / "tests" / "conformance" / "export" / "misses.yaml")
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
