# SPDX-License-Identifier: BSD-3-Clause
"""Formats the measurements as Markdown, JSON, an HTML page and an SVG picture."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from sides import Program, Seconds


@dataclass(frozen=True)
class Times:
    """Medians over `rounds` exports of one model."""

    name: str
    rounds: int
    official: Seconds
    rushlight: Seconds

    def ratio(self, what: str) -> float:
        """Our time over the official time; `what` is a field of Seconds."""
        ours: float = getattr(self.rushlight, what)
        return ours / getattr(self.official, what)


@dataclass(frozen=True)
class Sizes:
    """The programs that both exporters write for one model."""

    name: str
    official: Program
    rushlight: Program


@dataclass(frozen=True)
class Peak:
    """Bytes of a model's weights, and the peak memory of exporting and saving without the model."""

    name: str
    weights: int
    official: int
    rushlight: int


@dataclass(frozen=True)
class Layouts:
    """Seconds of a call of one model, exported channels-first and channels-last: the least of all rounds."""

    name: str
    first: float
    last: float


@dataclass(frozen=True)
class Measured:
    """All measurements of one run."""

    times: list[Times]
    sizes: list[Sizes]
    peaks: list[Peak]
    layouts: list[Layouts]

    def to_json(self) -> dict[str, Any]:
        """As JSON types, with the ratios of times."""
        times = [{**asdict(t), "ratios": {w: t.ratio(w) for w in ("cpu", "wall")}} for t in self.times]
        return {
            "times": times,
            "sizes": [asdict(size) for size in self.sizes],
            "peaks": [asdict(peak) for peak in self.peaks],
            "layouts": [asdict(layout) for layout in self.layouts],
        }


@dataclass(frozen=True)
class _Table:
    title: str
    note: str
    header: list[str]
    rows: list[list[str]]


def _tables(measured: Measured) -> list[_Table]:
    """The measurements as tables of text, with the model's name first."""
    rounds = measured.times[0].rounds if measured.times else 0
    times = [
        [
            t.name,
            *(f"{getattr(side, what):.2f}" for what in ("cpu", "wall") for side in (t.official, t.rushlight)),
            *(f"{t.ratio(what):.2f}" for what in ("cpu", "wall")),
        ]
        for t in measured.times
    ]
    sizes = [
        [
            s.name,
            *(
                f"{getattr(side, what):,}"
                for what in ("planned", "instructions", "bytes")
                for side in (s.official, s.rushlight)
            ),
        ]
        for s in measured.sizes
    ]
    peaks = [
        [p.name, *(f"{value / 1e6:.1f}" for value in (p.weights, p.official, p.rushlight))]
        for p in measured.peaks
    ]
    pair = ("official", "rushlight")
    time_header = [f"{what} s, {side}" for what in ("CPU", "wall") for side in pair]
    size_header = [
        f"{what}, {side}" for what in ("planned bytes", "instructions", "file bytes") for side in pair
    ]
    tables = [
        _Table(
            "Time to export",
            f"From the module to the bytes of the file; medians of {rounds} alternating exports, one thread.",
            ["model", *time_header, "CPU ratio", "wall ratio"],
            times,
        ),
        _Table(
            "Size of the programs",
            "Planned memory includes inputs and outputs.",
            ["model", *size_header],
            sizes,
        ),
        _Table(
            "Memory of exporting and saving, without the model",
            "Peak of resident memory minus the resident memory after the model was created, in MB.",
            ["model", "weights", *pair],
            peaks,
        ),
        _layouts(measured),
    ]
    return [table for table in tables if table.rows]


def to_markdown(measured: Measured) -> str:
    """All tables in Markdown."""
    parts = []
    for table in _tables(measured):
        parts += [f"## {table.title}", "", table.note, "", _lines(table.header, table.rows), ""]
    return "\n".join(parts)


def _lines(header: list[str], rows: list[list[str]]) -> str:
    table = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in table)


def parts_of_docs(measured: Measured, machine: str) -> dict[str, str]:
    """The generated parts of docs/exporting.md by name: a summary of the measurements."""
    by_name = {size.name: size for size in measured.sizes}
    times = [
        [
            t.name,
            *(f"{side.cpu:.2f}" for side in (t.official, t.rushlight)),
            f"{t.ratio('cpu'):.2f}",
            *(f"{side.planned:,}" for side in (by_name[t.name].official, by_name[t.name].rushlight)),
        ]
        for t in measured.times
    ]
    header = [
        "model", "official, CPU s", "rushlight, CPU s", "ratio", "planned bytes, official", "rushlight",
    ]  # fmt: skip
    peaks = "; ".join(
        f"{p.name}, {p.weights / 1e6:.0f} MB: {p.rushlight / 1e6:.0f} MB "
        f"(official: {p.official / 1e6:.0f} MB)"
        for p in measured.peaks
    )
    told = f"Exporting and saving adds to the peak memory, without the model's weights: {peaks}."
    layouts = _layouts(measured)
    return {
        "times": "\n\n".join([_lines(header, times), told, machine]),
        "layouts": "\n\n".join([_lines(layouts.header, layouts.rows), machine]),
    }


def _layouts(measured: Measured) -> _Table:
    rows = [[each.name, *(f"{s * 1e3:.3g}" for s in (each.first, each.last))] for each in measured.layouts]
    return _Table(
        "Channels first or last",
        "Milliseconds of a call, one thread, the least of all rounds.",
        ["model", "channels-first, ms", "channels-last, ms"],
        rows,
    )


def to_html(measured: Measured) -> str:
    """A self-contained page: the picture and the tables."""
    parts = []
    for table in _tables(measured):
        rows = ["".join(f"<th>{escape(cell)}" for cell in table.header)]
        rows += [
            f"<th>{escape(row[0])}" + "".join(f"<td>{escape(cell)}" for cell in row[1:]) for row in table.rows
        ]
        body = "\n".join(f"<tr>{row}" for row in rows)
        parts.append(f"<h2>{escape(table.title)}</h2><p>{escape(table.note)}</p>\n<table>\n{body}\n</table>")
    return _PAGE.format(picture=to_svg(measured), tables="\n".join(parts))


_PAGE = """<!doctype html><meta charset="utf-8"><title>Exporting</title>
<style>
body {{ font: 14px system-ui, sans-serif; margin: 2em; color: #1b1f24 }}
table {{ border-collapse: collapse }} h2 {{ font-size: 18px; font-weight: normal }} p {{ color: #667080 }}
th, td {{ padding: 2px 10px; border-bottom: 1px solid #ddd; font-weight: normal; text-align: right }}
th:first-child {{ text-align: left }}
</style>
{picture}{tables}
"""

_LEFT, _FULL, _ROW = 320, 360, 46


def to_svg(measured: Measured) -> str:
    """Two bars for each time, plan and peak, on the scale of the longer one, with their ratio."""
    bars = [(f"{t.name}: CPU time", t.official.cpu, t.rushlight.cpu, "s") for t in measured.times]
    bars += [
        (f"{s.name}: planned", s.official.planned / 1000, s.rushlight.planned / 1000, "kB")
        for s in measured.sizes
    ]
    bars += [(f"{p.name}: peak", p.official / 1e6, p.rushlight / 1e6, "MB") for p in measured.peaks]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _FULL + 120}" '
        f'height="{76 + _ROW * len(bars)}" font-family="system-ui, sans-serif" font-size="13" '
        'fill="#1b1f24">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        '<text x="24" y="30" font-size="18">Exporting</text>',
        '<text x="24" y="50" fill="#667080">grey: official 1.5.1; blue: rushlight; shorter is better</text>',
    ]
    for index, (label, *values, unit) in enumerate(bars):
        parts += _bars(70 + _ROW * index, label, values, unit)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bars(top: int, label: str, values: list[float], unit: str) -> list[str]:
    official, ours = values
    parts = [
        f'<text x="24" y="{top + 20}">{escape(label)}</text>',
        f'<text x="{_LEFT - 12}" y="{top + 20}" text-anchor="end">{ours / official:.2f}×</text>',
    ]
    for line, (color, value) in enumerate((("#b9c0c8", official), ("#2f6f9f", ours))):
        width, y = _FULL * value / max(values), top + 4 + 14 * line
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="12" fill="{color}"/>')
        end = f"{_LEFT + width + 6:.1f}"
        parts.append(f'<text x="{end}" y="{y + 10}" font-size="11">{value:.3g} {unit}</text>')
    return parts
