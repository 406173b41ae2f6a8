# SPDX-License-Identifier: BSD-3-Clause
"""The results of a matrix as one page: a heat table for each option and quantity, then every cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rushlight.matrix.result import GOOD, CellResult
from rushlight.matrix.run import MatrixResult
from rushlight.printable import escaped

_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; }
table { border-collapse: collapse; margin: 0.5em 0 1.5em; }
th, td { padding: 0.25em 0.7em; border: 1px solid #ddd; text-align: right; }
td { font-variant-numeric: tabular-nums; }
th, td.name { text-align: left; font-weight: normal; background: #f6f6f6; }
thead th { font-weight: 600; }
td.failed { background: #b3261e; color: white; text-align: center; }
td.none { background: #fafafa; }
pre { background: #f6f6f6; padding: 0.7em; overflow: auto; white-space: pre-wrap; }
.bar { display: inline-block; height: 0.7em; background: #3b6ea5; margin-left: 0.4em; }
.passed { color: #1b7a33; } .bad { color: #b3261e; font-weight: 600; }
"""


@dataclass(frozen=True)
class _Quantity:
    title: str
    of: Callable[[CellResult], float | None]
    shown: Callable[[float], str]


def _kilobytes(size: float) -> str:
    return f"{size / 1000:,.1f}"


def _millions(count: float) -> str:
    return f"{count / 1e6:,.3g}" if count < 1e9 else f"{count / 1e6:,.0f}"


_QUANTITIES = (
    _Quantity("Flash without the model, kB", lambda c: c.flash, _kilobytes),
    _Quantity(
        "RAM (static data, arenas, stack), kB", lambda c: c.memory.total if c.memory else None, _kilobytes
    ),
    _Quantity("Instructions of one call, millions", lambda c: c.instructions, _millions),
    _Quantity("Build, seconds", lambda c: c.build.seconds if c.build else None, lambda s: f"{s:.1f}"),
)


def to_html(result: MatrixResult) -> str:
    """A page that needs no other file."""
    options = list(dict.fromkeys(cell.option for cell in result.cells))
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>rushlight matrix</title>",
        f"<style>{_STYLE}</style><h1>rushlight matrix</h1>",
        f"<p>{_counts(result)} in {result.seconds:.1f} s, {escaped(result.where)}, {result.started}.</p>",
    ]
    for option in options:
        cells = [cell for cell in result.cells if cell.option == option]
        parts.append(f"<h2>{escaped(option)}</h2>")
        parts += [_heat_table(quantity, cells) for quantity in _QUANTITIES]
    parts.append(_failures(result.cells))
    parts.append("<h2>All cells</h2>" + _all_cells(result.cells))
    return "\n".join(part for part in parts if part) + "\n"


def _counts(result: MatrixResult) -> str:
    passed = sum(cell.status in GOOD for cell in result.cells)
    others = len(result.cells) - passed
    bad = f", <span class=bad>{others} not</span>" if others else ""
    return f"<span class=passed>{passed} cells passed</span>{bad}"


def _heat_table(quantity: _Quantity, cells: Sequence[CellResult]) -> str:
    """Models × targets; the darker, the more. Empty where no cell has the quantity."""
    values = {(c.model, c.target): quantity.of(c) for c in cells}
    known = [value for value in values.values() if value is not None]
    if not known:
        return ""
    most = max(known) or 1
    targets = list(dict.fromkeys(c.target for c in cells))
    rows = []
    for model in dict.fromkeys(c.model for c in cells):
        row = [f"<td class=name>{escaped(model)}</td>"]
        for target in targets:
            cell = next((c for c in cells if (c.model, c.target) == (model, target)), None)
            row.append(_heat(cell, quantity, most))
        rows.append("<tr>" + "".join(row))
    head = "".join(f"<th>{escaped(target)}</th>" for target in targets)
    return (
        f"<table><caption style='text-align:left'>{escaped(quantity.title)}</caption>"
        f"<thead><tr><th></th>{head}</thead>{''.join(rows)}</table>"
    )


def _heat(cell: CellResult | None, quantity: _Quantity, most: float) -> str:
    if cell is None:
        return "<td class=none></td>"
    value = quantity.of(cell)
    if cell.status not in GOOD:
        reason = f"{cell.failure.type}: {cell.failure.message}" if cell.failure else ""
        text = "" if value is None else f" {quantity.shown(value)}"
        return f"<td class=failed title='{escaped(reason)}'>{escaped(cell.status)}{text}</td>"
    if value is None:
        return "<td class=none></td>"
    # The square root keeps small differences visible beside a large model.
    share = (value / most) ** 0.5
    return f"<td style='background:hsl(212 60% {97 - 45 * share:.0f}%)'>{quantity.shown(value)}</td>"


def _failures(cells: Sequence[CellResult]) -> str:
    failed = [cell for cell in cells if cell.failure is not None]
    if not failed:
        return ""
    listed = [
        f"<h3>{escaped(c.name)}</h3><pre>{escaped(f'{c.failure.type}: {c.failure.message}')}\n"
        f"{escaped(c.failure.next_step)}</pre>"
        for c in failed
        if c.failure
    ]
    return "<h2>Failures</h2>" + "".join(listed)


_COLUMNS = (
    "model", "target", "option", "result", "flash", "model", "static", "method arena", "planned", "temporary",
    "stack", "instructions", "max error", "build s", "cold s", "from cache", "run s", "machine",
)  # fmt: skip


def _all_cells(cells: Sequence[CellResult]) -> str:
    largest = max((c.flash or 0 for c in cells), default=0) or 1
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    return f"<table><thead><tr>{head}</thead>{''.join(_row(cell, largest) for cell in cells)}</table>"


def _row(cell: CellResult, largest: int) -> str:
    memory, build = cell.memory, cell.build
    bar = f"<span class=bar style='width:{6 * (cell.flash or 0) / largest:.2f}em'></span>"
    parts = [memory.static, memory.method_arena, memory.planned, memory.temporary] if memory else [None] * 4
    numbers = [
        *(
            _number(n)
            for n in [cell.model_bytes, *parts, memory.stack if memory else None, cell.instructions]
        ),
        "" if cell.max_error is None else f"{cell.max_error:.1e}",
        *(f"{t.seconds:.1f}" if t else "" for t in (build, cell.cold)),
        "" if build is None or build.hits is None else f"{build.hits} of {build.hits + (build.misses or 0)}",
        "" if cell.run_seconds is None else f"{cell.run_seconds:.1f}",
        escaped(cell.machine),
    ]
    status = "passed" if cell.status in GOOD else "bad"
    return (
        "<tr>"
        + "".join(f"<td class=name>{escaped(name)}</td>" for name in (cell.model, cell.target, cell.option))
        + f"<td class={status}>{cell.status}</td><td>{_number(cell.flash)}{bar if cell.flash else ''}</td>"
        + "".join(f"<td>{number}</td>" for number in numbers)
    )


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
