# SPDX-License-Identifier: BSD-3-Clause
"""rushlight check"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from rushlight.build import read_selection
from rushlight.cli.console import Console, echo_json
from rushlight.cli.options import data_option, integers_option, json_option, kilobytes
from rushlight.cli.values import FILE, FOLDER, TARGET
from rushlight.convert.api import NOT_QUANTIZED
from rushlight.errors import InvalidArgument
from rushlight.run.check import CheckReport, check


@click.command("check", epilog="Example: rushlight check model.pte -t cortex-m55")
@click.argument("model", type=FILE)
@click.option(
    "-t",
    "--target",
    type=TARGET,
    help="Also check that the program fits in the memory of this target.",
)
@click.option(
    "--built",
    type=FOLDER,
    help="Check against the operators and dtypes in this folder of `rushlight build`.",
)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    help="Id of a backend that the runtime has. May be repeated.",
)
@data_option("Data file (.ptd) with tensors that the model leaves out.")
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
    """Check that a program can run, without running it.

    MODEL is a .pte or .bpte of any exporter. Each call is compared with the operator table: operator,
    argument kinds, dtypes and ranks. If a debug record (model.debug.json) is beside the model, each problem
    names its source line. The exit status is 0 only if there is no problem."""
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
    """Dtypes by operator of the build in a folder. Error: InvalidArgument if it holds no build."""
    path = folder / "cmake-build" / "generated" / "selected_kernels.json"
    if not path.is_file():
        raise InvalidArgument(
            f"{folder}: expected a build, got a folder without {path.relative_to(folder)}",
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
    """Lines for a method: operators that compute in integers after conversion, and why others do not."""
    if conversion["in_integers"]:
        yield f"{len(conversion['in_integers'])} operators in integers"
    for each in conversion["in_float"]:
        yield f"{each['operator']} (instruction {each['instruction']}) computes in float: {each['reason']}"
    if conversion["kept"] and conversion["kept"] != NOT_QUANTIZED:
        yield f"not converted to integers: {conversion['kept']}"
