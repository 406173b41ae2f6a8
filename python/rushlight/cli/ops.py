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
    return click.option(
        "-o", "--output", type=click.Path(path_type=Path), help="File to write [default: stdout]."
    )(command)


def _table(kernels: Sequence[str], priority: Sequence[str], prefer: Sequence[str]) -> OperatorTable:
    return load_tables(source_root() / "kernels" / "ops.yaml", kernels, priority, preferences(prefer))


@click.group("ops")
def ops_group() -> None:
    """The steps of a selection, each by itself: what models need, all of it together, which kernels it is."""


@ops_group.command("extract")
@click.argument("models", nargs=-1, required=True, type=click.Path(path_type=Path))
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
    """The operators of MODELS (.pte, .bpte) with their dtypes, and the backends that they hand work to, as a
    selected_operators.yaml."""
    info = steps.extract(_existing(models), _table(kernels, priority, prefer))
    _put(_as_json(info) if as_json else steps.exchanged(info), output)


@ops_group.command("merge")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
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
    """One selected_operators.yaml of FILES that select operators, in any form, and what is added."""
    info = steps.merge(_existing(files), _table(kernels, priority, prefer), ops=ops, all_ops=all_ops)
    _put(_as_json(info) if as_json else steps.exchanged(info), output)


@ops_group.command("resolve")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@table_options("dtypes", "only_dtypes")
@click.option("--generate", type=click.Path(path_type=Path), help="A folder for the C++ and CMake files.")
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
    """Which kernel, of which library and source and in which dtypes, the operators of FILES get."""
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
            raise InvalidArgument(f"{path}: no such file")
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
