# SPDX-License-Identifier: BSD-3-Clause
"""The results of a matrix as one page: a heat table for each option and quantity, then every cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rushlight.matrix.result import GOOD, CellResult
from rushlight.matrix.run import MatrixResult
from rushlight.page import Cell, page, table
from rushlight.printable import escaped


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
    """The complete HTML file."""
    options = list(dict.fromkeys(cell.option for cell in result.cells))
    parts = [
        f"<p>{_counts(result)} in {result.seconds:.1f} s, {escaped(result.where)}, {result.started}.</p>"
    ]
    for option in options:
        cells = [cell for cell in result.cells if cell.option == option]
        parts.append(f"<h2>{escaped(option)}</h2>")
        parts += [_heat_table(quantity, cells) for quantity in _QUANTITIES]
    parts.append(_failures(result.cells))
    parts.append("<h2>All cells</h2>" + table(_COLUMNS, map(_row, result.cells), bars=("flash",)))
    return page("rushlight matrix", filter(None, parts))


def _counts(result: MatrixResult) -> str:
    passed = sum(cell.status in GOOD for cell in result.cells)
    others = len(result.cells) - passed
    bad = f', <span class="bad">{others} not</span>' if others else ""
    return f'<span class="good">{passed} cells passed</span>{bad}'


def _heat_table(quantity: _Quantity, cells: Sequence[CellResult]) -> str:
    """A table of models × targets; a deeper colour is a larger value. Empty if no cell has the quantity."""
    known = [value for cell in cells if (value := quantity.of(cell)) is not None]
    if not known:
        return ""
    by_pair = {(cell.model, cell.target): cell for cell in cells}
    targets = list(dict.fromkeys(cell.target for cell in cells))
    rows = [
        [model, *(_heat(by_pair.get((model, target)), quantity, max(known) or 1) for target in targets)]
        for model in dict.fromkeys(cell.model for cell in cells)
    ]
    return table(("model", *targets), rows, caption=quantity.title)


def _heat(cell: CellResult | None, quantity: _Quantity, most: float) -> Cell:
    value = None if cell is None else quantity.of(cell)
    if cell is not None and cell.status not in GOOD:
        reason = f"{cell.failure.type}: {cell.failure.message}" if cell.failure else ""
        text = "" if value is None else f" {quantity.shown(value)}"
        return Cell(cell.status + text, value, kind="bad", hint=reason)
    if value is None:
        return Cell("")
    # The square root keeps small differences visible next to a large model.
    return Cell(quantity.shown(value), value, (value / most) ** 0.5, "heat")


def _failures(cells: Sequence[CellResult]) -> str:
    listed = [
        f"<h3>{escaped(c.name)}</h3><pre>{escaped(f'{c.failure.type}: {c.failure.message}')}\n"
        f"{escaped(c.failure.next_step)}</pre>"
        for c in cells
        if c.failure is not None
    ]
    return "".join(["<h2>Failures</h2>", *listed]) if listed else ""


_COLUMNS = (
    "model", "target", "option", "result", "flash", "model bytes", "static", "method arena", "planned",
    "temporary", "stack", "instructions", "max error", "build s", "cold s", "from cache", "run s", "machine",
)  # fmt: skip


def _row(cell: CellResult) -> list[object]:
    memory, build = cell.memory, cell.build
    parts = [memory.static, memory.method_arena, memory.planned, memory.temporary] if memory else [None] * 4
    counts = [cell.flash, cell.model_bytes, *parts, memory.stack if memory else None, cell.instructions]
    return [
        cell.model,
        cell.target,
        cell.option,
        Cell(cell.status, kind="good" if cell.status in GOOD else "bad"),
        *("" if count is None else count for count in counts),
        "" if cell.max_error is None else f"{cell.max_error:.1e}",
        *(f"{t.seconds:.1f}" if t else "" for t in (build, cell.cold)),
        "" if build is None or build.hits is None else f"{build.hits} of {build.hits + (build.misses or 0)}",
        "" if cell.run_seconds is None else f"{cell.run_seconds:.1f}",
        cell.machine,
    ]
