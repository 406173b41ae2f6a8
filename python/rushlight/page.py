# SPDX-License-Identifier: BSD-3-Clause
"""Reports as one HTML file: tables that a click on a column sorts, and pictures. Pages follow the reader's
choice of light or dark, fit a phone, and load nothing: the policy in their head allows only their own script,
by its hash, so that no text from a file can run."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rushlight.printable import escaped

_STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c1c21; --faint: #63636e; --line: #dcdce3; --fill: #f4f4f7;
  --bar: 79 124 172; --good: #1b7a33; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #17171b; --ink: #e6e6ea; --faint: #9c9ca8; --line: #36363f; --fill: #222229;
    --bar: 104 154 208; --good: #6cc486; --bad: #f2857c;
  }
}
body {
  font: 15px/1.45 system-ui, sans-serif; background: var(--paper); color: var(--ink);
  max-width: 75em; margin: 0 auto; padding: 1em; overflow-wrap: break-word;
}
h1 { font-size: 1.45em; } h2 { font-size: 1.15em; margin-top: 2em; } h3 { font-size: 1em; }
p, li, caption { color: var(--faint); }
.wide { overflow-x: auto; margin: 0.5em 0 1.5em; }
.wide svg { display: block; width: 100%; min-width: var(--least); height: auto; }
table { border-collapse: collapse; width: max-content; }
caption { text-align: left; padding-bottom: 0.3em; }
td, th { padding: 0.2em 0.7em; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td { max-width: 34em; }
td:first-child, th:first-child { position: sticky; left: 0; background: var(--paper); }
th, th:first-child { background: var(--fill); font-weight: 600; white-space: nowrap; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th button { all: unset; cursor: pointer; }
th button:focus-visible { outline: 2px solid; }
th[aria-sort] button::after { content: " \\25B2"; font-size: 0.7em; }
th[aria-sort=descending] button::after { content: " \\25BC"; }
.bar {
  min-width: 9em;
  background: linear-gradient(to right, rgb(var(--bar) / 0.35) calc(var(--share) * 100%), transparent 0);
}
.heat { background: rgb(var(--bar) / calc(0.05 + 0.55 * var(--share))); }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
:where(svg text:not([fill])) { fill: var(--ink); }
details { margin: 1em 0; } summary { cursor: pointer; }
pre { background: var(--fill); padding: 0.7em; overflow: auto; white-space: pre-wrap; }
code { font-size: 90%; overflow-wrap: anywhere; }
@media (max-width: 40em) {
  body { font-size: 14px; } td, th { padding: 0.2em 0.45em; } td { max-width: 15em; } .bar { min-width: 5em; }
}
"""

_SCRIPT = """
"use strict";
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0];
    const isNumber = head.classList.contains("n"), before = head.getAttribute("aria-sort");
    const falls = before === null ? isNumber : before === "ascending";
    const key = (row) => {
      const cell = row.cells[head.cellIndex];
      if (!isNumber) return cell.textContent;
      return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
    };
    const order = (a, b) => isNumber ? a - b : a.localeCompare(b, undefined, {numeric: true});
    const rows = Array.from(body.rows, (row) => [key(row), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return falls ? order(b, a) : order(a, b);
    });
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    body.append(...rows.map(([, row]) => row));
  });
}
"""

_NUMBER = re.compile(r"(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)(?: ?%| [A-Za-z]{1,3})?")


@dataclass(frozen=True)
class Cell:
    """A cell of a table. Columns of cells with a `value` are sorted by it. `share` from 0 to 1 fills a bar or
    sets the depth of a heat colour, as `kind` says: "bar", "heat", "good", "bad" or none. `hint` is a
    tooltip."""

    text: str
    value: float | None = None
    share: float | None = None
    kind: str = ""
    hint: str = ""


def page(title: str, parts: Iterable[str]) -> str:
    """The whole file; `parts` are HTML."""
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    head = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escaped(title)}</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body><h1>{escaped(title)}</h1>",
    ]
    return "\n".join([*head, *parts, f"<script>{_SCRIPT}</script></body></html>\n"])


def table(
    heads: Iterable[str],
    rows: Iterable[Iterable[object]],
    *,
    caption: str = "",
    bars: Sequence[str] = (),
) -> str:
    """A table as HTML. Cells are Cells, numbers or texts; integers get separators. A column is numeric, and
    aligned to the right, if each of its cells is a number, a text such as "1.2 %", or empty. In the columns
    `bars` each number has a bar, relative to the column's maximum."""
    heads, cells = list(heads), [[_cell(value) for value in row] for row in rows]
    columns = list(zip(*cells, strict=True)) if cells else [()] * len(heads)
    numeric = [_is_numeric(column) for column in columns]
    most = {
        index: max((cell.value or 0 for cell in columns[index]), default=0)
        for index, head in enumerate(heads)
        if head in bars
    }
    title = f"<caption>{escaped(caption)}</caption>" if caption else ""
    head = "".join(
        f"<th{_class('n' if numeric[index] else '')} scope=col><button>{escaped(text)}</button></th>"
        for index, text in enumerate(heads)
    )
    lines = [f'<div class="wide"><table>{title}<thead><tr>{head}</tr></thead><tbody>']
    lines += ["<tr>" + "".join(_html(c, numeric[i], most.get(i)) for i, c in enumerate(row)) for row in cells]
    return "\n".join([*lines, "</tbody></table></div>"])


def figure(svg: str, least: str = "44em") -> str:
    """A picture as wide as the page, but at least `least` (a CSS length): on a phone it scrolls."""
    return f'<div class="wide" style="--least:{least}">{svg}</div>'


def _cell(value: object) -> Cell:
    if isinstance(value, Cell):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Cell(f"{value:,}", value)
    text = str(value)
    number = _NUMBER.fullmatch(text)
    return Cell(text, float(number[1].replace(",", "")) if number else None)


def _is_numeric(column: Sequence[Cell]) -> bool:
    """True for numbers, with empty and coloured cells among them, and for an empty column."""
    has_text = any(cell.value is None and cell.text and not cell.kind for cell in column)
    return bool(column) and not has_text and any(c.value is not None or not c.text for c in column)


def _html(cell: Cell, numeric: bool, most: float | None) -> str:
    share, kind = cell.share, cell.kind
    if most and cell.value is not None:
        share, kind = cell.value / most, "bar"
    attributes = _class(" ".join(filter(None, ("n" if numeric else "", kind))))
    if numeric and cell.value is not None:
        attributes += f' data-value="{cell.value:.15g}"'
    if share is not None:
        attributes += f' style="--share:{min(max(share, 0.0), 1.0):.3f}"'
    if cell.hint:
        attributes += f' title="{escaped(cell.hint)}"'
    return f"<td{attributes}>{escaped(cell.text)}</td>"


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""
