# SPDX-License-Identifier: BSD-3-Clause
"""Formats the results as Markdown: a list of the models, then a table for each target."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Sequence

from subjects import Made

from rushlight import process
from rushlight.matrix.result import PASSED, CellResult, Timing
from rushlight.matrix.run import MatrixResult

# Models of the overview: display names, and multiply-accumulates of one inference.
OVERVIEW = {
    "dscnn": ("DS-CNN", "2.66 M"),
    "resnet8": ("ResNet-8", "12.5 M"),
    "mlp": ("MLP", "0.20 M"),
}
# ExecuTorch 1.5.1's executor_runner for DS-CNN in float32: its own selective build, -Os, without logging and
# program verification. Bytes of flash without the model, and bytes of RAM without the stack.
OFFICIAL_DSCNN = {
    "cortex-m4": (106_000, None),
    "cortex-m55": (105_800, 77_300),
}
_VERSIONS = (
    "arm-none-eabi-g++", "riscv64-unknown-elf-g++", "qemu-system-arm", "qemu-system-riscv32", "cmake",
    "ccache",
)  # fmt: skip


def to_markdown(result: MatrixResult, made: Sequence[Made]) -> str:
    """The whole page."""
    parts = [_models(result.cells)]
    for target in dict.fromkeys(cell.target for cell in result.cells):
        parts.append(_target(target, [cell for cell in result.cells if cell.target == target]))
    if any(cell.cold for cell in result.cells):
        parts.append(_times(result.cells))
    parts += [f"{one.name} is missing: {one.missing}." for one in made if one.missing]
    parts += [_failure(cell) for cell in result.cells if cell.status != PASSED]
    parts.append(_machine(result))
    return "\n\n".join(parts) + "\n"


def overview(result: MatrixResult) -> str:
    """Flash, RAM and instructions of a few models, a column for each target: interpreter / baked."""
    by_key = {(cell.model, cell.target, cell.kind): cell for cell in result.cells}
    targets = list(dict.fromkeys(cell.target for cell in result.cells))
    rows = []
    for name, (title, operations) in OVERVIEW.items():
        pairs = [(by_key[name, target, "interpreter"], by_key[name, target, "baked"]) for target in targets]
        memory = pairs[0][0].memory
        planned = _kilobytes(memory.planned if memory else None)
        titles = (f"{title}, {operations} MAC, {planned} kB planned", "", "")
        shown = (("flash, kB", _flash), ("RAM, B", _beside_planned), ("instructions, M", _instructions))
        rows += [
            [head, what, *(_pair(*pair, of) for pair in pairs)]
            for head, (what, of) in zip(titles, shown, strict=True)
        ]
    return _table(["model", "", *targets], rows)


def baked_table(result: MatrixResult) -> str:
    """Baked next to interpreted programs, a row for each model and target."""
    by_key = {(cell.model, cell.target, cell.kind): cell for cell in result.cells}
    rows = []
    for target in dict.fromkeys(cell.target for cell in result.cells):
        for name, (title, _) in OVERVIEW.items():
            pair = [by_key[name, target, kind] for kind in ("baked", "interpreter")]
            shown = (_flash, _beside_planned, _stack, _instructions)
            rows.append([f"{title}, {target}", *(_pair(*pair, of) for of in shown)])
    headings = ["baked / interpreted", "flash, kB", "RAM, B", "stack, B", "instructions, M"]
    return _table(headings, rows)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(headings) + " |", "|---|" + "---:|" * (len(headings) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _models(cells: Sequence[CellResult]) -> str:
    rows = []
    for name in dict.fromkeys(cell.model for cell in cells):
        of_model = [cell for cell in cells if cell.model == name and cell.operators]
        interpreted = [cell for cell in of_model if cell.kind == "interpreter"] or of_model
        if interpreted:
            operators = interpreted[0].operators
            dtypes = sorted({dtype for listed in operators.values() for dtype in listed})
            size = _kilobytes(interpreted[0].model_bytes)
            rows.append([name, str(len(operators)), " ".join(dtypes), size])
    return _table(["model", "operators", "dtypes", "program, kB"], rows)


def _target(target: str, cells: Sequence[CellResult]) -> str:
    rows = []
    for name in dict.fromkeys(cell.model for cell in cells):
        by_kind = {cell.kind: cell for cell in cells if cell.model == name}
        interpreted, baked = by_kind.get("interpreter"), by_kind.get("baked")
        rows.append(
            [
                name,
                _pair(interpreted, baked, _flash),
                _kilobytes(interpreted.memory.planned if interpreted and interpreted.memory else None),
                _pair(interpreted, baked, _beside_planned),
                _pair(interpreted, baked, lambda c: _bytes(c.memory.temporary if c.memory else None)),
                _pair(interpreted, baked, _stack),
                _pair(interpreted, baked, _instructions),
            ]
        )
        if name == "dscnn" and target in OFFICIAL_DSCNN:
            flash, ram = OFFICIAL_DSCNN[target]
            planned = interpreted.memory.planned if interpreted and interpreted.memory else None
            beside = _bytes(ram - planned) if ram and planned else ""
            known = [_kilobytes(flash), _kilobytes(planned if ram else None), beside]
            rows.append(["*ExecuTorch 1.5.1*", *known, "", "", ""])
    headings = [
        "model", "flash, kB", "planned, kB", "RAM beside it, B", "scratch, B", "stack, B", "instructions, M",
    ]  # fmt: skip
    return f"### {target}\n\n" + _table(headings, rows)


def _times(cells: Sequence[CellResult]) -> str:
    """Build times with an empty and with a full compiler cache, for the cells where both were measured."""

    def shown(timing: Timing | None) -> list[str]:
        if timing is None:
            return ["", ""]
        return [f"{timing.seconds:.1f}", "" if timing.cpu_seconds is None else f"{timing.cpu_seconds:.1f}"]

    rows = [[c.name, *shown(c.cold), *shown(c.build)] for c in cells if c.cold]
    return "### Build times, seconds\n\n" + _table(["cell", "cold", "CPU", "cached", "CPU"], rows)


def _pair(first: CellResult | None, second: CellResult | None, shown: Callable[[CellResult], str]) -> str:
    """The first / the second value."""
    texts = [shown(cell) if cell else "" for cell in (first, second)]
    return " / ".join(text or "–" for text in texts)


def _flash(cell: CellResult) -> str:
    return _kilobytes(cell.flash)


def _stack(cell: CellResult) -> str:
    return _bytes(cell.memory.stack) if cell.memory else ""


def _instructions(cell: CellResult) -> str:
    return _millions(cell.instructions)


def _beside_planned(cell: CellResult) -> str:
    """Bytes of static data and of the method's arena."""
    return _bytes(cell.memory.static + cell.memory.method_arena) if cell.memory else ""


def _failure(cell: CellResult) -> str:
    message = cell.failure.message if cell.failure else cell.status
    return f"{cell.name}: {message.strip().splitlines()[0]}"


def _kilobytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1000:,.1f}"


def _bytes(size: int | None) -> str:
    return "" if size is None else f"{size:,}"


def _millions(count: int | None) -> str:
    return "" if count is None else f"{count / 1e6:.3g}"


def _machine(result: MatrixResult) -> str:
    versions = []
    for program in _VERSIONS:
        if process.find_program(program):
            first = process.run([program, "--version"]).stdout.partition("\n")[0]
            number = re.search(r"\d+\.\d+(\.\d+)?", first)
            versions.append(f"{program} {number[0] if number else first}")
    described = result.to_json()
    machine = described["machine"]
    return (
        f"rushlight {described['rushlight']} (sources {described['sources']}), {', '.join(versions)}; "
        f"{platform.system()} {platform.machine()}, {machine['cpus']} CPUs, Python {machine['python']}; "
        f"{result.started[:10]}."
    )
