# SPDX-License-Identifier: BSD-3-Clause
"""The targets, as the table in docs/targets.md."""

from __future__ import annotations

from pathlib import Path

from rushlight import targets
from rushlight.targets.table import table
from support import written

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "targets.md"


def listed() -> str:
    """One line for each target: its code, its compilers and the machine that its programs run on."""
    lines = ["| target | code | compilers | runs on |", "|---|---|---|---|"]
    lines.append("| `host` | this machine's | any with C++17 | this machine |")
    for target in targets.all_targets()[1:]:
        row = table().rows[target.name]
        runs = {
            "linux": f"`{' '.join(row.emulator)}`",
            "bare-metal": "nothing: **build only**" if target.build_only else f"`{target.board}`",
            "wasi": "`wasmtime`",
        }
        compilers = ", ".join(target.compilers)
        lines.append(f"| `{row.name}` | {row.description} | {compilers} | {runs[target.kind]} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page with a new table."""
    return written.replaced(PAGE.read_text(), "targets", listed())
