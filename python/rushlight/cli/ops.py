# SPDX-License-Identifier: BSD-3-Clause
"""rushlight ops"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from rushlight.cli.console import Console, Table, echo
from rushlight.cli.options import json_option, table_options
from rushlight.cli.values import FILE, FOLDER
from rushlight.codegen import steps
from rushlight.codegen.emit import selected_kernels, write_all
from rushlight.codegen.libraries import load_tables, preferences
from rushlight.codegen.opinfo import OpInfo
from rushlight.codegen.selection import dtype_set
from rushlight.codegen.table import OperatorTable
from rushlight.errors import InvalidArgument
from rushlight.files import write_text
from rushlight.program.dtypes import NUMBERS
from rushlight.sources import source_root


def library_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--kernels, --priority and --prefer."""
    libraries = table_options("kernels", metavar="[NAME=]PATH", type=str)
    return libraries(table_options("priority", "prefer")(command))


def _output(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("-o", "--output", type=FILE, help="File to write [default: stdout].")(command)


def _table(kernels: Sequence[str], priority: Sequence[str], prefer: Sequence[str]) -> OperatorTable:
    return load_tables(source_root() / "kernels" / "ops.yaml", kernels, priority, preferences(prefer))


@click.group("ops", epilog="Example: rushlight ops extract model.pte")
def ops_group() -> None:
    """Select operators step by step.

    `rushlight build` does all steps at once: extract the operators of models, merge selections, and resolve
    each operator to a kernel."""


@ops_group.command("extract", epilog="Example: rushlight ops extract model.pte -o selected.yaml")
@click.argument("models", nargs=-1, required=True, type=FILE)
@_output
@library_options
@json_option
def extract_command(
    models: tuple[Path, ...],
    output: Path | None,
    kernels: tuple[str, ...],
    priority: tuple[str, ...],
    prefer: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write the operators that models need as YAML.

    The output has the form of selected_operators.yaml: operators of MODELS (.pte or .bpte) with dtypes, and
    the backends that they delegate to."""
    info = steps.extract(_existing(models), _table(kernels, priority, prefer))
    _put(_as_json(info) if as_json else steps.exchanged(info), output)


@ops_group.command("merge", epilog="Example: rushlight ops merge a.yaml b.yaml -o selected.yaml")
@click.argument("files", nargs=-1, type=FILE)
@table_options("ops", "all_ops")
@_output
@library_options
@json_option
def merge_command(
    files: tuple[Path, ...],
    ops: tuple[str, ...],
    all_ops: bool,
    output: Path | None,
    kernels: tuple[str, ...],
    priority: tuple[str, ...],
    prefer: tuple[str, ...],
    as_json: bool,
) -> None:
    """Merge operator selections into one.

    FILES are operator lists in any form that the build reads. The output has the form of
    selected_operators.yaml, with the operators of --ops added."""
    info = steps.merge(_existing(files), _table(kernels, priority, prefer), ops=ops, all_ops=all_ops)
    _put(_as_json(info) if as_json else steps.exchanged(info), output)


@ops_group.command("resolve", epilog="Example: rushlight ops resolve selected.yaml")
@click.argument("files", nargs=-1, required=True, type=FILE)
@table_options("dtypes", "only_dtypes")
@click.option("--generate", type=FOLDER, help="Also write the C++ and CMake files to this folder.")
@_output
@library_options
@json_option
def resolve_command(
    files: tuple[Path, ...],
    dtypes: str,
    only_dtypes: tuple[str, ...],
    generate: Path | None,
    output: Path | None,
    kernels: tuple[str, ...],
    priority: tuple[str, ...],
    prefer: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show which kernel each selected operator gets.

    For each operator of FILES: kernel library, kernel, dtypes, and the model or list that asked for it."""
    table = _table(kernels, priority, prefer)
    info = steps.merge(_existing(files), table)
    selection, selected = steps.resolve(info, table, by_dtype=dtypes == "model", only=dtype_set(only_dtypes))
    selection.depends += files
    if generate is not None:
        write_all(selection, generate)
    if as_json or output is not None:
        _put(selected_kernels(selection, selected), output)
        return
    rows = Table("operator", "library", "kernel", "dtypes", "asked for by", title_justify="left")
    for row in selected:
        told = row.to_json(table)
        rows.add_row(
            row.operator.name,
            told["library"],
            told["kernel"],
            " ".join(told["dtypes"]),
            ", ".join(told["asked_by"]),
        )
    Console().print(rows)


def _existing(paths: Sequence[Path]) -> Sequence[Path]:
    for path in paths:
        if not path.is_file():
            raise InvalidArgument(f"{path}: no such file", next_step="Check the path.")
    return paths


def _as_json(info: OpInfo) -> str:
    operators = {
        name: {
            "dtypes": None
            if need.every_dtype
            else sorted(need.said | (need.found or set()), key=NUMBERS.__getitem__),
            "kernel_keys": sorted(need.keys),
            "asked_by": sorted(need.askers),
        }
        for name, need in sorted(info.needs.items())
    }
    delegates = {name: sorted(askers) for name, askers in sorted(info.delegates.items())}
    return json.dumps({"operators": operators, "delegates": delegates}, indent=1) + "\n"


def _put(text: str, output: Path | None) -> None:
    if output is None:
        echo(text, end="")
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_text(output, text)
