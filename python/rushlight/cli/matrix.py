# SPDX-License-Identifier: BSD-3-Clause
"""rushlight matrix"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import click

from rushlight.cli.console import SIMPLE, Console, Table, TaskID, bars, styled
from rushlight.cli.options import integers_option, verbose_option
from rushlight.cli.values import FILE, FOLDER
from rushlight.errors import CheckFailed, InvalidArgument
from rushlight.files import locked, write_text
from rushlight.matrix.cell import Conditions
from rushlight.matrix.local import Event, Finished, Progressed, Started
from rushlight.matrix.page import to_html
from rushlight.matrix.plan import Cell, read_plan
from rushlight.matrix.result import BUILT, FAILED, NOT_RUN, PASSED, CellResult
from rushlight.matrix.run import MatrixResult, cluster, local, run_matrix
from rushlight.matrix.shared_cache import shared_cache_environment

_COLOURS = {PASSED: "green", BUILT: "cyan", FAILED: "bold red", NOT_RUN: "yellow"}


@click.command("matrix", epilog="Example: rushlight matrix plan.yaml --html report.html")
@click.argument("file", type=FILE)
@click.option(
    "-j", "--jobs", type=click.IntRange(1), help="Number of parallel cells [default: number of CPUs]."
)
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Run these cells only, such as 'dscnn/*' or '*/cortex-m55/*'. May be repeated.",
)
@click.option(
    "-o",
    "--output",
    type=FOLDER,
    default=Path("rushlight-matrix"),
    show_default=True,
    help="Folder for results and runners.",
)
@click.option("--json", "json_file", type=FILE, help="Write the results to this file as JSON.")
@click.option("--html", "html_file", type=FILE, help="Write the results to this file as a page (HTML).")
@click.option("--resume", is_flag=True, help="Skip cells that passed before and are unchanged.")
@click.option(
    "--cold",
    is_flag=True,
    help="Build each cell twice, first with an empty compiler cache, then with a full one.",
)
@click.option("--keep-builds", is_flag=True, help="Keep the CMake folders of the cells.")
@click.option(
    "--shared-cache",
    metavar="URL",
    help="Storage that shares compiler caches, such as redis://host or file:/folder.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Run on the Dask cluster with this scheduler, such as tcp://host:8786.",
)
@integers_option
@verbose_option
def matrix_command(
    file: Path,
    jobs: int | None,
    only: tuple[str, ...],
    output: Path,
    json_file: Path | None,
    html_file: Path | None,
    resume: bool,
    cold: bool,
    keep_builds: bool,
    shared_cache: str | None,
    scheduler: str | None,
    integers: bool,
) -> None:
    """Build and run many models on many targets.

    FILE lists models, targets and build options (docs/matrix.md). A cell is one of each; all cells are built
    and run. The exit status is 0 only if all of them pass."""
    cells = _chosen(read_plan(file), only)
    if not integers:
        cells = [replace(cell, option=replace(cell.option, integers=False)) for cell in cells]
    environment = shared_cache_environment(shared_cache) if shared_cache else {}
    conditions = Conditions(environment=environment, cold=cold, keep_builds=keep_builds)
    if scheduler and (jobs or keep_builds):
        raise InvalidArgument(
            "--scheduler: expected no --jobs or --keep-builds beside it, got "
            + ("--jobs" if jobs else "--keep-builds"),
            next_step="Leave it out: the workers of the cluster set the number of jobs and keep no builds.",
        )
    with locked(output), _shown(len(cells)) as on_event:
        result = run_matrix(
            cells,
            output.resolve(),
            conditions,
            executor=cluster(scheduler) if scheduler else local(jobs),
            where=scheduler or "local",
            resume=resume,
            on_event=on_event,
        )
    if json_file is not None:
        write_text(json_file, json.dumps(result.to_json(), indent=1) + "\n")
    if html_file is not None:
        write_text(html_file, to_html(result))
    _print(result)
    if not result.passed:
        counts = (
            f"{result.count(PASSED)} passed, {result.count(FAILED)} failed, {result.count(NOT_RUN)} not run"
        )
        raise CheckFailed(
            f"matrix: expected all {len(cells)} cells to pass, got {counts}",
            next_step="Correct the failures above, then run again with --resume to skip passed cells.",
        )


def _chosen(cells: list[Cell], patterns: tuple[str, ...]) -> list[Cell]:
    if not patterns:
        return cells
    for pattern in patterns:
        if not any(fnmatchcase(cell.name, pattern) for cell in cells):
            raise InvalidArgument(
                f"--only: expected the pattern of a cell such as '{cells[0].name}', got '{pattern}'",
                next_step="Patterns have three parts, MODEL/TARGET/OPTION, where * matches anything.",
            )
    return [cell for cell in cells if any(fnmatchcase(cell.name, pattern) for pattern in patterns)]


@contextlib.contextmanager
def _shown(count: int) -> Iterator[Callable[[Event], None]]:
    """Shows a bar for all cells, one for each running cell, and a line for each finished cell."""
    with bars() as (shown, print_line):
        whole = shown.add("cells", total=count)
        tasks: dict[str, TaskID] = {}

        def on_event(event: Event) -> None:
            name = event.cell.name
            if isinstance(event, Started):
                tasks[name] = shown.add(name)
            elif isinstance(event, Progressed) and name in tasks:
                shown.show(tasks[name], f"{name} {event.what[:32]}", event.share)
            elif isinstance(event, Finished):
                if name in tasks:
                    shown.remove(tasks.pop(name))
                shown.advance(whole)
                status = event.result.status
                print_line(styled(status, _COLOURS[status]), name)

        yield on_event


def _print(result: MatrixResult) -> None:
    console = Console()
    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("cell")
    for heading in ("flash", "RAM", "instructions", "build s", "run s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in result.cells:
        table.add_row(styled(cell.name, _COLOURS[cell.status]), *_numbers(cell))
    table.caption = "flash without the model, RAM with arenas and stack, in bytes"
    console.print(table)
    for cell in result.cells:
        if cell.failure is not None:
            console.print(f"{cell.name}: {cell.failure.type}: {cell.failure.message}")
            if cell.failure.next_step:
                console.print(f"  {cell.failure.next_step}", style="dim")
    console.print(f"{result.count(PASSED)} of {len(result.cells)} cells passed in {result.seconds:.1f} s")


def _numbers(cell: CellResult) -> list[str]:
    def shown(number: float | None, form: str) -> str:
        return "" if number is None else format(number, form)

    build = cell.build.seconds if cell.build else None
    return [
        shown(cell.flash, ",d"),
        shown(cell.memory.total if cell.memory else None, ",d"),
        shown(cell.instructions, ",d"),
        shown(build, ".1f") + (f" ({cell.cold.seconds:.1f} cold)" if cell.cold else ""),
        shown(cell.run_seconds, ".1f"),
    ]
