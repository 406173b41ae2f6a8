# SPDX-License-Identifier: BSD-3-Clause
"""The table of operators as a picture: one coloured cell for each operator and dtype."""

from __future__ import annotations

from html import escape
from typing import Any

_STYLE = """
body { font: 14px/1.4 sans-serif; margin: 2em; color: #222; }
table { border-collapse: collapse; }
th { position: sticky; top: 0; background: #fff; font-weight: 600; padding: 2px 6px; }
td { border: 1px solid #fff; padding: 1px 6px; text-align: right; font-size: 12px; }
td:first-child { text-align: left; font-family: monospace; }
.right { background: #b7e1bc; } .partly { background: #f6d57a; } .wrong { background: #ef9a9a; }
.none { background: #f3f3f3; }
"""


def page(table: dict[str, Any], columns: dict[str, str]) -> str:
    """One HTML page, with nothing to load.

    Args:
        table: as table.py collects it.
        columns: dtypes, and what stands above their columns.
    """
    pairs = table["pairs"]
    head = "".join(f"<th>{escape(text)}</th>" for text in ["operator", *columns.values()])
    rows = "".join(_row(name, cells, columns) for name, cells in table["operators"].items())
    return (
        "<!doctype html><meta charset=utf-8><title>rushlight: operators</title>"
        f"<style>{_STYLE}</style><h1>Operators</h1>"
        f"<p>PyTorch {escape(table['torch'])}, {table['samples']:,} OpInfo samples. Pairs of an entry and a "
        f"dtype: {pairs.get('pass', 0):,} pass, {pairs.get('fail', 0):,} fail, "
        f"{pairs.get('without_kernel', 0):,} lack a kernel.</p>"
        f"<table><tr>{head}</tr>{rows}</table>\n"
    )


def _row(name: str, cells: dict[str, list[int]], columns: dict[str, str]) -> str:
    return f"<tr><td>{escape(name)}</td>{''.join(_cell(cells.get(dtype)) for dtype in columns)}</tr>"


def _cell(cell: list[int] | None) -> str:
    if cell is None:
        return '<td class="none"></td>'
    called, right = cell
    if called == right:
        return f'<td class="right">{right}</td>'
    return f'<td class="{"partly" if right else "wrong"}">{right}/{called}</td>'
