# SPDX-License-Identifier: BSD-3-Clause
"""Reports as one HTML file: tables and pictures, without scripts and without anything from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from rushlight.printable import escaped

_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 0.5em 0 1.5em; }
td, th { padding: 0.15em 0.8em; border-bottom: 1px solid #ddd; text-align: left; }
td + td, th + th { text-align: right; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: auto; } details { margin: 1em 0; }
code { font-size: 90%; overflow-wrap: anywhere; }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """The whole file; `parts` are HTML."""
    head = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escaped(title)}</title>',
        f"<style>{_STYLE}</style></head><body><h1>{escaped(title)}</h1>",
    ]
    return "\n".join([*head, *parts, "</body></html>\n"])


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table as HTML; whole numbers have separators."""

    def cell(value: object, kind: str = "td") -> str:
        text = f"{value:,}" if isinstance(value, int) else escaped(str(value))
        return f"<{kind}>{text}</{kind}>"

    lines = ["<table>", "<tr>" + "".join(cell(head, "th") for head in heads) + "</tr>"]
    lines += ["<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows]
    return "\n".join([*lines, "</table>"])
