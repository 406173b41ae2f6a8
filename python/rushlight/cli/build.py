# SPDX-License-Identifier: BSD-3-Clause
"""rushlight build"""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from rushlight.build import BuildResult, build
from rushlight.cli.options import (
    build_options,
    json_option,
    kernels_option,
    kilobytes,
    parse_defines,
    shown_progress,
    target_option,
    verbose_option,
)


@click.command("build")
@click.argument("models", nargs=-1, type=click.Path(path_type=Path))
@target_option
@click.option(
    "--model", "more_models", multiple=True, type=click.Path(path_type=Path), help="A further one of MODELS."
)
@click.option(
    "--data",
    "data_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A .ptd with tensors that the models leave out; boards get it linked in. May be repeated.",
)
@click.option("--ops", default="", metavar="NAME,...", help="Operators to add: aten::add.out,aten::mm.out")
@click.option(
    "--ops-yaml", multiple=True, type=click.Path(path_type=Path), help="Files that list operators to add."
)
@click.option("--all-ops", is_flag=True, help="Every operator there is.")
@click.option(
    "--dtypes",
    type=click.Choice(["model", "all"]),
    default="model",
    show_default=True,
    help="Compile models' operators for the models' dtypes only, or for all.",
)
@kernels_option
@build_options
@json_option
@verbose_option
def build_command(
    models: tuple[Path, ...],
    target: str,
    more_models: tuple[Path, ...],
    data_files: tuple[Path, ...],
    ops: str,
    ops_yaml: tuple[Path, ...],
    all_ops: bool,
    dtypes: str,
    kernels: tuple[Path, ...],
    output: Path | None,
    jobs: int | None,
    defines: tuple[str, ...],
    as_json: bool,
) -> None:
    """Build a runner for TARGET with the operators that MODELS (.pte, .bpte) need and those asked for
    besides."""
    with shown_progress() as progress:
        result = build(
            [*models, *more_models],
            target=target,
            data_files=data_files,
            ops=[name.strip() for name in ops.split(",") if name.strip()],
            ops_yaml=ops_yaml,
            all_ops=all_ops,
            dtypes=dtypes,
            kernels=kernels,
            output=output,
            defines=parse_defines(defines),
            jobs=jobs,
            progress=progress,
        )
    if as_json:
        click.echo(json.dumps(result.to_json(), indent=1))
    else:
        _print(result)


def _print(result: BuildResult) -> None:
    console = Console(highlight=False)
    selection = Table("operator", "dtypes", title=f"{len(result.selection)} operators", title_justify="left")
    for name, dtypes in result.selection.items():
        selection.add_row(name, " ".join(dtypes))
    console.print(selection)
    sections = Table("section", "bytes", title=result.target, title_justify="left")
    sections.columns[1].justify = "right"
    for name, size in result.sizes.sections.items():
        sections.add_row(name, f"{size:,}")
    console.print(sections)
    model = f", model {kilobytes(result.sizes.model)}" if result.sizes.model else ""
    console.print(f"flash {kilobytes(result.sizes.flash)}{model}, static RAM {kilobytes(result.sizes.ram)}")
    console.print(f"{result.executable} in {result.seconds:.1f} s", soft_wrap=True)
