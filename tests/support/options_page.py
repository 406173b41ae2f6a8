# SPDX-License-Identifier: BSD-3-Clause
"""The options of a build, as tables in docs/options.md."""

from __future__ import annotations

from pathlib import Path

from rushlight.codegen.options import Option, options
from support import written

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "options.md"


def listed() -> str:
    """A table of the options with a flag, one of the others, and one for the words of each option that has
    some."""
    flags = [_row(row, f"`{row.flag}`") for row in options() if row.flag]
    others = [_row(row) for row in options() if not row.flag]
    lines = ["## Selection", "", *_table(["option", "flag", "default", "what"], flags)]
    lines += ["", "## Build", "", *_table(["option", "default", "what"], others)]
    for row in options():
        if row.words:
            words = [[f"`{word.word}`", word.text, word.help, f"`{word.was}`"] for word in row.words]
            lines += ["", f"### `{row.name}`: {row.help[0].lower()}{row.help[1:]}", ""]
            lines += _table(["word", "default", "what", "spelled before"], words)
    return "\n".join(lines) + "\n"


def _row(row: Option, *flag: str) -> list[str]:
    default = row.text or (f"`{row.default}`" if row.default else "")
    values = ", ".join(f"`{value}`" for value in row.values)
    return [f"`{row.name}`", *flag, default, row.help + (f": {values}" if values else "")]


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]


def page() -> str:
    """The page with new tables."""
    return written.replaced(PAGE.read_text(), "options", listed())
