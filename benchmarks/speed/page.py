# SPDX-License-Identifier: BSD-3-Clause
"""Formats the report as Markdown and as a self-contained page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

from contestants import CONTESTANTS
from machine import cpu_title, fma_peak
from plots import ratios_svg, roofline_svg
from results import OURS, Load, Report, Row, mean_ratio, tolerance_of

_KINDS = {
    "model": "Models",
    "unseen": "Models nobody tuned for",
    "branches": "Models with independent branches",
    "recurrent": "Recurrent layers",
    "int8": "Models in int8",
    "compute": "Operators that compute",
    "memory": "Operators that move data",
}
_MODELS = ("model", "unseen", "branches", "recurrent", "int8")


@dataclass(frozen=True)
class Table:
    """A table of text; the first column names the row."""

    title: str
    note: str
    header: list[str]
    rows: list[list[str]]


def tables(report: Report) -> list[Table]:
    """All tables of the report."""
    found = [_times(report, kind) for kind in _KINDS if report.of_kind(kind)]
    if report.loads:
        found.append(_loads(report.loads))
    return found


def _times(report: Report, kind: str) -> Table:
    rows, clock = report.of_kind(kind), report.clock
    names = [name for name in CONTESTANTS if any(name in row.timings for row in rows)]
    unit, scale = ("ms", 1e3) if kind in _MODELS else ("µs", 1e6)
    shown = [[row.name, *_cells(row, names, clock, scale), *_last(report, row)] for row in rows]
    means = {name: mean_ratio(rows, clock, name) for name in names if name != "copy"}
    shown.append(["*geometric mean of ratios*", *(_ratio(means.get(name)) for name in names), "", "", ""])
    what = "CPU time" if clock == "cpu" else "Wall clock"
    note = (
        f"{what} in {unit}, {_threads(report.threads)}. Ratio: rushlight's over the fastest peer's. "
        f"† differs from PyTorch by over {tolerance_of(kind):g} times the largest magnitude; in no ratio."
    )
    last = {"int8": "GOP/s", "compute": "share of peak", "memory": "time / copy's time"}.get(kind, "GFLOP/s")
    return Table(_title(report, kind), note, ["", *names, "ratio", "fastest peer", last], shown)


def _title(report: Report, kind: str) -> str:
    threads = "" if report.threads == 1 else f" on {_threads(report.threads)}"
    pin = report.machine["pinned"]
    return _KINDS[kind] + threads + (f", rushlight's kernels with {pin}" if pin else "")


def _cells(row: Row, names: Sequence[str], clock: str, scale: float) -> list[str]:
    texts = []
    for name in names:
        timing = row.timings.get(name)
        mark = "" if timing is None or row.is_right(timing) else " †"
        texts.append("–" if timing is None else _number(timing.of(clock) * scale) + mark)
    return texts


def _last(report: Report, row: Row) -> list[str]:
    """The ratio, the peer that it compares with, and the speed relative to the machine's limit."""
    peer, ours = row.fastest_peer(report.clock), row.timings.get(OURS)
    near = ""
    if ours is not None and row.kind == "memory":
        near = _ratio(row.against("copy", report.clock))
    elif ours is not None and row.flops:
        speed, peak = row.flops / ours.wall / 1e9, fma_peak(report.machine) * report.threads
        if row.kind in _MODELS:
            near = f"{row.flops / ours.of(report.clock) / 1e9:.0f}"
        elif peak:
            speed = row.flops / ours.of(report.clock) / 1e9
            near = f"{100 * speed / peak:.0f} %"
    return [_ratio(row.ratio(report.clock)), peer[0] if peer else "", near]


def _loads(loads: Sequence[Load]) -> Table:
    def megabytes(count: int) -> str:
        return f"{count / 1e6:.1f}"

    rows = [
        [
            f"{each.model}: {each.contestant}",
            _number(each.load["wall"] * 1e3),
            _number(each.first_run["wall"] * 1e3),
            megabytes(each.before),
            megabytes(each.loaded - each.before),
            megabytes(each.run - each.before),
        ]
        for each in loads
    ]
    note = (
        "From the file to a method that can run, packing included; then its first run. Wall clock in ms. "
        "Memory in MB: with the package imported, and the peak beyond it when loaded and after a run."
    )
    return Table("Loading", note, ["", "load", "first run", "before", "loaded", "run"], rows)


def _number(value: float) -> str:
    """The value with three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}×"


def _threads(count: int) -> str:
    return "one thread" if count == 1 else f"{count} threads"


def _remarks(report: Report) -> list[str]:
    """The machine, the versions, missing contestants, wrong outputs."""
    described, peak = report.machine, report.machine["peak"]
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items() if name != "copy")
    limits = peak.get("missing", "")
    if not limits:
        flops = ", ".join(f"{name} {value:.0f}" for name, value in peak["gflops"].items())
        copies = ", ".join(f"{name} {value:.0f}" for name, value in peak["copy_gigabytes"].items())
        limits = f"{peak['gigahertz']:.2f} GHz; GFLOP/s: {flops}; copies, GB/s: {copies}"
    remarks = [
        f"{cpu_title(described)}, "
        f"{described['cpus']} CPUs, used {', '.join(map(str, described['used']))}. "
        f"One core, measured: {limits}. {described['system']}, Python {described['python']}, "
        f"load {described['load']} at the start.",
        f"{versions}; commit {report.commit}; {report.started}.",
    ]
    remarks += [f"{name} is missing: {reason}" for name, reason in report.absent.items()]
    absences: dict[str, list[str]] = {}
    for row in report.rows:
        for name, why in row.failures.items():
            absences.setdefault(f"{name} does not run {{}}: {_short(why)}", []).append(row.name)
        remarks += [
            f"{row.name}: {name} differs by {timing.error:.1e}"
            for name, timing in row.timings.items()
            if not row.is_right(timing)
        ]
    remarks += [text.replace("{}", ", ".join(names), 1) for text, names in absences.items()]
    return remarks


def _short(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else ""
    return line if len(line) < 160 else line[:157] + "..."


def to_markdown(report: Report) -> str:
    """Tables and remarks."""
    parts = []
    for table in tables(report):
        rows = [table.header, ["---", *["--:"] * (len(table.header) - 1)], *table.rows]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        parts += [f"## {table.title}", "", table.note, "", *lines, ""]
    return "\n".join([*parts, *(f"- {remark}" for remark in _remarks(report)), ""])


def to_html(report: Report) -> str:
    """Plots, tables and remarks."""
    clock = report.clock
    plots: list[tuple[str, Callable[[], str]]] = []
    for kind in ("model", "unseen", "int8"):
        if models := report.of_kind(kind):
            plots.append(
                (f"{_KINDS[kind]}: time over the fastest peer's", partial(ratios_svg, models, clock))
            )
    if operators := report.of_kind("compute", "memory"):
        plots.append(("Operators: time over the fastest peer's", lambda: ratios_svg(operators, clock)))
        peak = fma_peak(report.machine) * report.threads
        plots.append(("Operators: share of the core's limit", lambda: roofline_svg(operators, clock, peak)))
    parts = [f"<h2>{escape(title)}</h2>\n{plot()}" for title, plot in plots]
    parts += [_html_table(table) for table in tables(report)]
    remarks = "\n".join(f"<li>{escape(remark)}" for remark in _remarks(report))
    return _PAGE.format(body="\n".join(parts), remarks=remarks)


def _html_table(table: Table) -> str:
    rows = ["".join(f"<th>{escape(cell)}" for cell in table.header)]
    rows += [
        f"<th>{escape(row[0])}" + "".join(f"<td>{escape(cell)}" for cell in row[1:]) for row in table.rows
    ]
    body = "\n".join(f"<tr>{row}" for row in rows)
    return f"<h2>{escape(table.title)}</h2><p>{escape(table.note)}</p>\n<table>\n{body}\n</table>"


_PAGE = """<!doctype html><meta charset="utf-8"><title>Speed</title>
<style>
body {{ font: 14px system-ui, sans-serif; margin: 2em; color: #1b1f24 }}
table {{ border-collapse: collapse }} h2 {{ font-size: 18px; font-weight: normal }} p, li {{ color: #667080 }}
th, td {{ padding: 2px 10px; border-bottom: 1px solid #ddd; font-weight: normal; text-align: right }}
th:first-child {{ text-align: left }}
</style>
<h1>Speed</h1>
{body}
<ul>
{remarks}
</ul>
"""
