# SPDX-License-Identifier: BSD-3-Clause
"""The table of operators as a picture: one coloured cell for each operator and dtype."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from support.opinfo.page import COLUMNS, RARE, cell

_STYLE = """
body { font: 14px/1.4 sans-serif; margin: 2em; color: #222; }
table { border-collapse: collapse; }
th { position: sticky; top: 0; background: #fff; font-weight: 600; padding: 2px 6px; }
td { border: 1px solid #fff; padding: 1px 6px; text-align: right; font-size: 12px; }
td:first-child { text-align: left; font-family: monospace; }
.right { background: #b7e1bc; } .partly { background: #f6d57a; } .wrong { background: #ef9a9a; }
.untried { background: #e3ecf7; } .none { background: #f3f3f3; }
"""


def page(table: dict[str, Any]) -> str:
    """One HTML page without external resources.

    Args:
        table: as table.py collects it.
    """
    pairs = table["pairs"]
    dtypes = {**COLUMNS, **RARE}
    head = "".join(f"<th>{escape(text)}</th>" for text in ["operator", *dtypes.values()])
    rows = "".join(_row(name, cells, dtypes) for name, cells in table["operators"].items() if cells)
    return (
        "<!doctype html><meta charset=utf-8><title>rushlight: operators</title>"
        f"<style>{_STYLE}</style><h1>Operators</h1>"
        f"<p>PyTorch {escape(table['torch'])}, {table['samples']:,} OpInfo samples. Pairs of an entry and a "
        f"dtype: {pairs.get('pass', 0):,} pass, {pairs.get('fail', 0):,} fail, "
        f"{pairs.get('without_kernel', 0):,} lack a kernel.</p>"
        '<p>Samples that call the operator: <span class="right">all right</span> '
        '<span class="partly">some</span> <span class="wrong">none</span> '
        '<span class="untried">there are none</span>; grey: not for this dtype.</p>'
        f"<table><tr>{head}</tr>{rows}</table>\n"
    )


def _row(name: str, cells: dict[str, list[int]], dtypes: dict[str, str]) -> str:
    return f"<tr><td>{escape(name)}</td>{''.join(_cell(cells.get(dtype)) for dtype in dtypes)}</tr>"


def _cell(found: Sequence[int] | None) -> str:
    return f'<td class="{_kind(found)}">{cell(found)}</td>'


def _kind(found: Sequence[int] | None) -> str:
    if found is None:
        return "none"
    called, right = found
    if called == 0:
        return "untried"
    if called == right:
        return "right"
    return "partly" if right else "wrong"
