# SPDX-License-Identifier: BSD-3-Clause
"""rushlight kernels"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rushlight.cli.console import Console, Table, echo_json
from rushlight.cli.options import (
    build_options,
    json_option,
    parse_defines,
    shown_progress,
    target_option,
    verbose_option,
)
from rushlight.cli.values import DTYPES
from rushlight.codegen.options import split_names
from rushlight.codegen.table import load_table
from rushlight.program.dtypes import NUMBERS
from rushlight.size.kernels import KernelSizes, kernel_sizes
from rushlight.sources import source_root


@click.command("kernels", epilog="Example: rushlight kernels --sizes -t cortex-m33")
@click.option("--sizes", is_flag=True, help="Build all operators and show the bytes of each.")
@target_option("cortex-m33", "With --sizes: target to build for.")
@click.option(
    "--dtypes",
    multiple=True,
    type=DTYPES,
    help="With --sizes: dtypes to build for, such as float32,int64,bool [default: all].",
)
@build_options
@json_option
@verbose_option
def kernels_command(
    sizes: bool,
    target: str,
    dtypes: tuple[str, ...],
    output: Path | None,
    jobs: int | None,
    defines: tuple[str, ...],
    as_json: bool,
) -> None:
    """List all operators with their dtypes, or their sizes.

    Sizes are the bytes of flash on a target, with --sizes."""
    if not sizes:
        _list_operators(as_json)
        return
    with shown_progress() as progress:
        measured = kernel_sizes(
            target,
            dtypes=split_names(dtypes),
            output=output,
            defines=parse_defines(defines),
            jobs=jobs,
            progress=progress,
        )
    echo_json(measured.to_json()) if as_json else _print_sizes(measured)


def _list_operators(as_json: bool) -> None:
    operators = load_table(source_root() / "kernels" / "ops.yaml").operators
    rows: dict[str, dict[str, Any]] = {
        name: {
            "source": row.source,
            "backs": [back.source for back in row.known_backs],
            "dtypes": sorted(row.dtypes, key=NUMBERS.__getitem__),
        }
        for name, row in sorted(operators.items())
    }
    if as_json:
        echo_json(rows)
        return
    table = Table(
        "operator", "source", "backs", "dtypes", title=f"{len(rows)} operators", title_justify="left"
    )
    for name, row in rows.items():
        table.add_row(name, row["source"], " ".join(row["backs"]), " ".join(row["dtypes"]))
    Console().print(table)


def _print_sizes(measured: KernelSizes) -> None:
    console = Console()
    built = " ".join(measured.dtypes) or "all dtypes"
    own = _table(f"own code of kernels, {measured.target}, {built}", "source", "bytes", "operators")
    for source, size in _largest_first(measured.sources):
        own.add_row(source, f"{size:,}", " ".join(measured.operators[source]))
    console.print(own)
    shared = _table("shared by kernels", "file", "bytes")
    for file, size in _largest_first(measured.shared):
        shared.add_row(file, f"{size:,}")
    console.print(shared)
    operators = sum(len(names) for names in measured.operators.values())
    console.print(
        f"{operators} operators in {measured.total:,} B: own {sum(measured.sources.values()):,}, "
        f"shared {sum(measured.shared.values()):,}, operator table {measured.table:,}"
    )


def _table(title: str, *columns: str) -> Table:
    table = Table(*columns, title=title, title_justify="left", box=None)
    table.columns[1].justify = "right"
    return table


def _largest_first(sizes: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
