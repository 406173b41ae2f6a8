# SPDX-License-Identifier: BSD-3-Clause
"""rushlight size"""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from rushlight.cli.options import (
    build_options,
    json_option,
    kilobytes,
    parse_defines,
    shown_progress,
    target_option,
    verbose_option,
)
from rushlight.devtools.cases import load_case
from rushlight.devtools.size import SizeReport, find_build, read_build, size


@click.command("size")
@click.argument("models", nargs=-1, type=click.Path(path_type=Path))
@target_option
@click.option(
    "--build", "build_folder", type=click.Path(path_type=Path), help="Read this build, build nothing."
)
@click.option("--elf", type=click.Path(path_type=Path), help="Read this executable, build nothing.")
@click.option(
    "--map", "link_map", type=click.Path(path_type=Path), help="The link map of --elf [default: beside it]."
)
@click.option(
    "--data", "data_files", multiple=True, type=click.Path(path_type=Path), help="A .ptd to link in."
)
@click.option(
    "--case", "case_file", type=click.Path(path_type=Path), help="Measure on this case, not on ones."
)
@click.option("--no-run", is_flag=True, help="Measure nothing in the emulator.")
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
    no_run: bool,
    output: Path | None,
    jobs: int | None,
    defines: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say what flash, RAM and stack a runner for MODELS (.pte, .bpte) takes on TARGET, and what takes it."""
    if build_folder or elf:
        report = read_build(find_build(build_folder or elf, link_map), list(models))
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
                jobs=jobs,
                progress=progress,
            )
    click.echo(json.dumps(report.to_json(), indent=1)) if as_json else print_report(report)


def print_report(report: SizeReport) -> None:
    """Tables for people."""
    console = Console(highlight=False)
    _print_sums(console, "room", report.rooms)
    _print_sums(console, "operator, its own source", report.operators)
    _print_sums(console, "dtype, of kernels made for one", report.dtypes)
    for method in report.methods:
        planned = " + ".join(f"{size:,}" for size in method.planned) or "0"
        lent = f"{method.inputs:,} + {method.outputs:,}"
        console.print(
            f"{method.model} {method.method}: method arena {method.method_arena:,} B, planned {planned} B, "
            f"temporary {method.temporary:,} B, lent inputs and outputs {lent} B",
            soft_wrap=True,
        )
    _print_stack(console, report)
    model = f", model {kilobytes(report.model)}" if report.model else ""
    console.print(
        f"flash {kilobytes(report.flash)}{model} (weights {kilobytes(report.weights)}), "
        f"static RAM {kilobytes(report.ram)}, arenas {kilobytes(report.arena)}",
        soft_wrap=True,
    )
    found = ", ".join(report.forbidden[:8])
    console.print(f"heap, exceptions, C++ library: {found or 'no symbol of theirs'}", markup=False)
    for line in report.unknown:
        console.print(f"not known: {line}", markup=False, soft_wrap=True)


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
        console.print(f"  {step.bytes:>6,} B  {step.function}", markup=False, soft_wrap=True)
    if stack.interrupt:
        console.print(f"  {stack.interrupt:>6,} B  an interrupt")
