# SPDX-License-Identifier: BSD-3-Clause
"""rushlight size"""

from __future__ import annotations

from pathlib import Path

import click

from rushlight.cli.console import Console, Table, echo_json
from rushlight.cli.options import (
    build_options,
    data_option,
    integers_option,
    json_option,
    kilobytes,
    parse_defines,
    shown_progress,
    target_option,
    verbose_option,
)
from rushlight.cli.values import FILE, PATH
from rushlight.errors import InvalidArgument
from rushlight.files import write_text
from rushlight.run.cases import load_case
from rushlight.size import SizeReport, find_build, read_build, read_report, size
from rushlight.size.against import Comparison, compare
from rushlight.size.baked import BakedSizes, baked_sizes
from rushlight.size.budget import check_budget, read_budget
from rushlight.size.constants import constants_header
from rushlight.size.diff import Change, SizeDiff, diff
from rushlight.size.page import report_page
from rushlight.size.treemap import treemap_svg


@click.command("size", epilog="Example: rushlight size model.pte -t cortex-m55 --html size.html")
@click.argument("models", nargs=-1, type=FILE)
@target_option()
@click.option("--build", "build_folder", type=PATH, help="Read this build folder instead of building.")
@click.option("--elf", type=FILE, help="Read this executable instead of building.")
@click.option("--map", "link_map", type=FILE, help="Link map of --elf [default: beside it].")
@data_option("Data file (.ptd) to link in.")
@click.option("--case", "case_file", type=FILE, help="Test case to measure the stack with [default: ones].")
@click.option("--diff", "before", type=PATH, help="Show changes since this report (JSON) or build folder.")
@click.option("--budget", "budget_file", type=FILE, help="Fail if a limit of this YAML file is exceeded.")
@click.option("--html", "html_file", type=FILE, help="Write the report to this file as a page (HTML).")
@click.option("--svg", "svg_file", type=FILE, help="Write the picture of flash to this file.")
@click.option(
    "--header", "header_file", type=FILE, help="Write arena and stack sizes to this file as C++ constants."
)
@click.option(
    "--against", type=PATH, help="Compare with another build, such as ExecuTorch's: an ELF file or a report."
)
@click.option("--baked", "with_baked", is_flag=True, help="Also bake the model, and show both sizes.")
@click.option("--no-run", is_flag=True, help="Do not run the program to measure its stack.")
@integers_option
@build_options
@json_option
@verbose_option
def size_command(
    models: tuple[Path, ...],
    target: str,
    build_folder: Path | None,
    elf: Path | None,
    link_map: Path | None,
    data_files: tuple[Path, ...],
    case_file: Path | None,
    before: Path | None,
    budget_file: Path | None,
    html_file: Path | None,
    svg_file: Path | None,
    header_file: Path | None,
    against: Path | None,
    with_baked: bool,
    no_run: bool,
    integers: bool,
    output: Path | None,
    jobs: int | None,
    defines: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show the flash, RAM and stack that a program takes.

    Builds a runner for MODELS (.pte or .bpte) on the target and reports bytes by component, operator and
    dtype. --build and --elf read an existing build."""
    budget = read_budget(budget_file) if budget_file else None
    baked: BakedSizes | None = None
    if built := build_folder or elf:
        report = read_build(find_build(built, link_map), list(models))
    else:
        with shown_progress() as progress:
            report = size(
                list(models),
                target=target,
                case=load_case(case_file) if case_file else None,
                data_files=data_files,
                output=output,
                defines=parse_defines(defines),
                measure=not no_run,
                integers=integers,
                jobs=jobs,
                progress=progress,
            )
        if with_baked:
            baked = _baked(models, target, case_file, data_files, output, defines, no_run, jobs)
    earlier = _report(before) if before else None
    changes = diff(earlier, report) if earlier else None
    comparison = compare(report, _report(against)) if against else None
    if as_json:
        content = report.to_json() | ({"diff": changes.to_json()} if changes else {})
        content |= {"baked": baked.to_json()} if baked else {}
        content |= {"against": comparison.to_json()} if comparison else {}
        echo_json(content)
    else:
        print_report(report)
        if baked:
            print_baked(report, baked)
        if comparison:
            print_comparison(comparison)
        if changes:
            print_diff(changes)
    for path, text in (
        (html_file, report_page),
        (svg_file, treemap_svg),
        (header_file, constants_header),
    ):
        if path is not None:
            write_text(path, text(report))
    if budget is not None:
        check_budget(report, budget, earlier)


def _report(path: Path) -> SizeReport:
    """The report at `path`, which is a report (JSON), a build folder or an ELF file."""
    return read_report(path) if path.suffix == ".json" else read_build(find_build(path))


def print_report(report: SizeReport) -> None:
    """Tables for people."""
    console = Console()
    _print_sums(console, "component", report.components)
    if report.runtime["flash"]:
        console.print(
            f"runtime without runner and platform {report.runtime['flash']:,} B, of which "
            f"{report.runtime['verification']:,} B verify programs",
        )
    _print_sums(console, "operator, its own source", report.operators)
    _print_sums(console, "dtype, of kernels made for one", report.dtypes)
    for method in report.methods:
        planned = " + ".join(f"{size:,}" for size in method.planned) or "0"
        lent = f"{method.inputs:,} + {method.outputs:,}"
        console.print(
            f"{method.model} {method.method}: method arena {method.method_arena:,} B, planned {planned} B, "
            f"temporary {method.temporary:,} B, lent inputs and outputs {lent} B",
        )
    _print_stack(console, report)
    model = f", model {kilobytes(report.model)}" if report.model else ""
    console.print(
        f"flash {kilobytes(report.flash)}{model} (weights {kilobytes(report.weights)}), "
        f"static RAM {kilobytes(report.ram)}, arenas {kilobytes(report.arena)}",
    )
    found = ", ".join(report.forbidden[:8])
    console.print(f"heap, exceptions, C++ library: {found or 'no symbol of theirs'}")
    for line in report.unknown:
        console.print(f"not known: {line}")


def _baked(
    models: tuple[Path, ...],
    target: str,
    case_file: Path | None,
    data_files: tuple[Path, ...],
    output: Path | None,
    defines: tuple[str, ...],
    no_run: bool,
    jobs: int | None,
) -> BakedSizes:
    if len(models) != 1:
        raise InvalidArgument(f"--baked: expected one model, got {len(models)}", next_step="Name one model.")
    with shown_progress() as progress:
        return baked_sizes(
            models[0],
            target=target,
            output=(output or Path("rushlight-build") / f"size-{target}") / "baked",
            case=load_case(case_file) if case_file else None,
            data_files=data_files,
            defines=parse_defines(defines),
            measure=not no_run,
            jobs=jobs,
            progress=progress,
        )


def print_baked(report: SizeReport, baked: BakedSizes) -> None:
    """Interpreter and baked program side by side."""
    table = Table("flash", "interpreted", "baked", "baked, alone")
    for column in table.columns[1:]:
        column.justify = "right"
    reports = (report, baked.runner, baked.application)
    for name in dict.fromkeys(name for each in reports for name in each.components):
        table.add_row(name, *(f"{each.components.get(name, {}).get('flash', 0):,}" for each in reports))
    table.add_section()
    table.add_row("flash", *(f"{each.flash:,}" for each in reports), style="bold")
    table.add_row("static RAM", *(f"{each.ram:,}" for each in reports))
    table.add_row(
        "method arena", *(f"{max((m.method_arena for m in r.methods), default=0):,}" for r in reports)
    )
    table.add_row("planned", *(f"{max((sum(m.planned) for m in r.methods), default=0):,}" for r in reports))
    table.add_row("stack, worst case", *(f"{r.stack.worst_case:,}" if r.stack else "" for r in reports))
    table.add_row("stack, measured", *(f"{r.stack_peak:,}" if r.stack_peak else "" for r in reports))
    Console().print(table)


def print_comparison(comparison: Comparison) -> None:
    """Ours and the other build by category."""
    console = Console()
    table = Table("", "flash", "RAM", "flash, other", "RAM, other", title_justify="left")
    table.title = f"against {comparison.other}"
    for column in table.columns[1:]:
        column.justify = "right"
    rows = [(r.flash, r.ram, r.other_flash, r.other_ram) for r in comparison.rows]
    for row, sizes in zip(comparison.rows, rows, strict=True):
        table.add_row(row.category, *(f"{size:,}" for size in sizes))
    table.add_section()
    table.add_row("all", *(f"{sum(sizes[i] for sizes in rows):,}" for i in range(4)), style="bold")
    console.print(table)
    if comparison.unplaced:
        console.print(f"not known: what {comparison.unplaced:,} B of the other one's flash are")


def print_diff(changes: SizeDiff) -> None:
    """Prints changes, the largest first."""
    console = Console()
    for change in changes.totals:
        console.print(f"{change}" if change.delta else f"{change.name}: {change.after:,}, as before")
    for what in ("components", "operators", "symbols", "ram"):
        listed: list[Change] = getattr(changes, what)
        if listed:
            console.print(f"{what}:", style="bold")
        for change in listed[:12]:
            console.print(f"  {change}")
        if len(listed) > 12:
            console.print(f"  and {len(listed) - 12} more")


def _print_sums(console: Console, what: str, sums: dict[str, dict[str, int]]) -> None:
    if not sums:
        return
    table = Table(what, "flash", "RAM")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, row in sums.items():
        table.add_row(name, f"{row['flash']:,}", f"{row['ram']:,}")
    console.print(table)


def _print_stack(console: Console, report: SizeReport) -> None:
    stack = report.stack
    if stack is None:
        return
    most = "at most" if stack.is_bound else "by what is known"
    seen = f", measured {report.stack_peak:,} B" if report.stack_peak else ""
    console.print(
        f"stack {most} {stack.worst_case:,} B{seen}; Method::execute {stack.execute:,} B, of which:"
    )
    for step in sorted(stack.path, key=lambda step: -step.bytes)[:6]:
        console.print(f"  {step.bytes:>6,} B  {step.function}")
    if stack.interrupt:
        console.print(f"  {stack.interrupt:>6,} B  an interrupt")
