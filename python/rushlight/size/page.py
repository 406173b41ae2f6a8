# SPDX-License-Identifier: BSD-3-Clause
"""A size report as one HTML file, with a treemap and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rushlight.page import figure, page, table
from rushlight.printable import escaped
from rushlight.size.report import SizeReport
from rushlight.size.treemap import treemap_svg


def report_page(report: SizeReport) -> str:
    """The complete HTML file."""
    title = f"{report.target or report.executable}: {report.flash:,} bytes of flash"
    parts = [
        table(("", "bytes"), _totals(report)),
        figure(treemap_svg(report)),
        "<h2>Components</h2>",
        _sums("component", report.components),
        "<h2>Operators</h2><p>Code of the operators' own sources; shared code counts as a component.</p>",
        _sums("operator", report.operators),
        "<h2>Dtypes</h2><p>The code of kernels that are compiled for one dtype.</p>",
        _sums("dtype", report.dtypes),
        "<h2>Arenas</h2>",
        _arenas(report),
        *_stack(report),
        "<details><summary>All symbols</summary>",
        table(("symbol", "component", "flash", "RAM"), _symbols(report), bars=("flash",)),
        "</details>",
    ]
    if report.unknown:
        parts.append("<h2>Unknown</h2><ul>")
        parts += [f"<li>{escaped(line)}</li>" for line in report.unknown] + ["</ul>"]
    return page(title, parts)


def _totals(report: SizeReport) -> Iterable[tuple[object, ...]]:
    yield "flash, without the model", report.flash
    yield "linked-in model", report.model
    yield "weights in the models", report.weights
    yield "static RAM", report.ram
    yield "arenas of the largest method", report.arena
    if report.stack is not None:
        yield (
            ("stack at most" if report.stack.is_bound else "stack of the known functions"),
            report.stack.worst_case,
        )
    if report.stack_peak is not None:
        yield "stack measured", report.stack_peak
    yield "symbols of heap, exceptions, C++ library", len(report.forbidden)


def _sums(what: str, sums: Mapping[str, Mapping[str, int]]) -> str:
    rows = ((name, row["flash"], row["ram"]) for name, row in sums.items())
    return table((what, "flash", "RAM"), rows, bars=("flash", "RAM"))


def _arenas(report: SizeReport) -> str:
    heads = ("method", "method arena", "planned", "temporary", "lent inputs", "lent outputs")
    rows = (
        (f"{m.model} {m.method}", m.method_arena, sum(m.planned), m.temporary, m.inputs, m.outputs)
        for m in report.methods
    )
    return table(heads, rows, bars=heads[1:])


def _stack(report: SizeReport) -> Iterable[str]:
    if report.stack is None:
        return
    yield "<h2>Stack</h2><p>The deepest call path, the outermost function first.</p>"
    rows: list[tuple[object, ...]] = [(step.function, step.known, step.bytes) for step in report.stack.path]
    if report.stack.interrupt:
        rows.append(("an interrupt", "", report.stack.interrupt))
    yield table(("function", "known by", "bytes"), rows, bars=("bytes",))
    yield table(("kernel", "bytes"), report.stack.kernels.items(), bars=("bytes",))


def _symbols(report: SizeReport) -> Iterable[tuple[object, ...]]:
    for entry in sorted(report.entries, key=lambda entry: -entry.flash):
        yield entry.symbol, entry.component, entry.flash, entry.ram
