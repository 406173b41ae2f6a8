# SPDX-License-Identifier: BSD-3-Clause
"""rushlight inspect"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from rushlight.cli.options import json_option, kilobytes
from rushlight.errors import InvalidArgument
from rushlight.program import describe, read_program


@click.command("inspect")
@click.argument("model", type=click.Path(path_type=Path))
@json_option
def inspect_command(model: Path, as_json: bool) -> None:
    """Show what MODEL holds: methods, operators, constants, memory, delegates."""
    if not model.is_file():
        raise InvalidArgument(f"model {model}: no such file")
    described = describe(read_program(model))
    if as_json:
        click.echo(json.dumps(described, indent=1))
        return
    console = Console(highlight=False)
    console.print(f"{model}: {kilobytes(described['file_bytes'])}, schema version {described['version']}")
    for method in described["methods"]:
        _print_method(console, method)
    for named in described["named_data"]:
        console.print(f"named data {named['key']}: {kilobytes(named['bytes'])}", markup=False)


def _print_method(console: Console, method: dict[str, Any]) -> None:
    console.print(f"\nmethod {method['name']}: {method['instructions']} instructions", style="bold")
    for kind in ("inputs", "outputs"):
        for index, value in enumerate(method[kind]):
            console.print(f"  {kind[:-1]} {index}: {_value(value)}", markup=False)
    constants = method["constants"]
    console.print(f"  constants: {constants['count']}, {kilobytes(constants['bytes'])}")
    for buffer in method["planned_memory"]:
        console.print(f"  planned memory {buffer['id']}: {kilobytes(buffer['bytes'])}")
    for delegate in method["delegates"]:
        console.print(f"  delegate {delegate['id']}", markup=False)
    table = Table("operator", "calls", "dtypes")
    for row in method["operators"]:
        table.add_row(row["name"], str(row["calls"]), _dtypes(row))
    console.print(table)


def _value(value: dict[str, Any]) -> str:
    if value["kind"] != "tensor":
        return " ".join(str(part) for part in value.values())
    return f"{value['dtype']} {value['shape']} {value.get('dynamism', '')}".rstrip()


def _dtypes(row: dict[str, Any]) -> str:
    arguments = row["dtypes"]
    listed = arguments.values() if isinstance(arguments, dict) else arguments
    return " ".join("/".join(one) if isinstance(one, (list, tuple)) else str(one) for one in listed)
