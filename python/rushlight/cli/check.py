# SPDX-License-Identifier: BSD-3-Clause
"""rushlight check"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from rushlight.build import read_selection
from rushlight.cli.console import Console, echo_json
from rushlight.cli.options import integers_option, json_option, kilobytes
from rushlight.convert.api import NOT_QUANTIZED
from rushlight.errors import InvalidArgument
from rushlight.run.check import CheckReport, check


@click.command("check")
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "-t",
    "--target",
    help="Also check that the program fits in this target's memory; see `rushlight targets`.",
)
@click.option(
    "--built",
    type=click.Path(path_type=Path),
    help="A folder that `rushlight build` wrote: only the operators and dtypes of that build.",
)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    help="The id of a backend that the runtime has; may be repeated.",
)
@click.option(
    "--data",
    "data_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A .ptd with tensors that the model leaves out; may be repeated.",
)
@integers_option
@json_option
def check_command(
    model: Path,
    target: str | None,
    built: Path | None,
    backends: tuple[str, ...],
    data_files: tuple[Path, ...],
    integers: bool,
    as_json: bool,
) -> None:
    """Say whether MODEL (.pte or .bpte, of any exporter) can run, without running it.

    Every call is held against the operator table: operator, kinds of arguments, dtypes and ranks of tensors.
    With a debug record beside it (model.debug.json) each finding has its line of the model. Exit status 0
    only if nothing is found."""
    report = check(
        model,
        target=target,
        built=None if built is None else built_selection(built),
        backends=backends,
        data_files=data_files or None,
        integers=integers,
    )
    if as_json:
        echo_json(report.to_json())
    report.raise_if_any()
    if not as_json:
        _print(report)


def built_selection(folder: Path) -> dict[str, list[str]]:
    """The operators of the build in a folder, with their dtypes. Errors: InvalidArgument without one."""
    path = folder / "cmake-build" / "generated" / "selected_kernels.json"
    if not path.is_file():
        raise InvalidArgument(
            f"{folder}: no build is there (no {path.relative_to(folder)})",
            next_step="Name the folder that was given to `rushlight build -o`.",
        )
    return read_selection(path)


def _print(report: CheckReport) -> None:
    where = f" on {report.target}" if report.target else ""
    parts = [f"{report.calls} calls of {len(report.operators)} operators"]
    if report.delegates:
        parts.append(f"delegates {', '.join(report.delegates)}")
    if report.external:
        parts.append(f"{len(report.external)} tensors in data files")
    console = Console()
    console.print(f"{report.model} can run{where}: {', '.join(parts)}")
    for method, memory in report.memory.items():
        planned, arena = (kilobytes(memory[key]) for key in ("planned", "method_arena"))
        console.print(f"  {method}: planned memory {planned}, method arena {arena}")
    for each in report.conversion:
        for line in _arithmetic(each):
            console.print(f"  {each['name']}: {line}")
    console.print(f"  model {kilobytes(report.model_bytes)}")


def _arithmetic(conversion: Mapping[str, Any]) -> Iterator[str]:
    """What computes in integers once the program is converted, and why others stay in float."""
    if conversion["in_integers"]:
        yield f"{len(conversion['in_integers'])} operators in integers"
    for each in conversion["in_float"]:
        yield f"{each['operator']} (instruction {each['instruction']}) computes in float: {each['reason']}"
    if conversion["kept"] and conversion["kept"] != NOT_QUANTIZED:
        yield f"not converted to integers: {conversion['kept']}"
