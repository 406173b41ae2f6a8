# SPDX-License-Identifier: BSD-3-Clause
"""rushlight convert"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from rushlight.cli.console import Console, echo_json
from rushlight.cli.options import json_option, kilobytes, verbose_option
from rushlight.convert.api import Conversion, MethodConversion
from rushlight.convert.files import convert_file
from rushlight.errors import InvalidArgument
from rushlight.program import read_model, record_beside


@click.command("convert")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File to write.")
@click.option(
    "--data",
    "data_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A .ptd with weights of delegates, which then lie in the new file; may be repeated.",
)
@json_option
@verbose_option
def convert_command(model: Path, output: Path, data_files: tuple[Path, ...], as_json: bool) -> None:
    """Write MODEL (.pte or .bpte, of any exporter) so that every target can run it, and its quantized parts
    compute in integers.

    Plain calls take the place of what was lowered to XNNPACK. The report says which operators compute in
    integers, and of each other one that is quantized why it computes in float. The new file has operators of
    rushlight's own: the official runtime does not load it. Where nothing changes, no file is written."""
    if output.exists() and output.resolve() == model.resolve():
        raise InvalidArgument(f"--output: expected another file than MODEL, got {output}")
    done = convert_file(model, output, data_files=data_files)
    if as_json:
        echo_json(done.to_json())
    else:
        _print(done, model, output)


def _print(done: Conversion, model: Path, output: Path) -> None:
    console = Console()
    program = read_model(model)
    record = record_beside(model, program)
    for method in done.methods:
        _print_method(console, method)
        for call in method.in_float:
            origin = None if record is None else record.method(method.name).at(call.instruction)
            line = f" ({origin.line})" if origin is not None and origin.line else ""
            what = f"  instruction {call.instruction}, {call.operator}{line}"
            console.print(f"{what} computes in float: {call.reason}")
    console.print(f"wrote {output}" if done.is_changed else "nothing changes: no file is written")


def _print_method(console: Console, method: MethodConversion) -> None:
    for reason in method.kept_delegates:
        console.print(f"method {method.name}: {reason}")
    if method.delegates:
        console.print(f"method {method.name}: {method.delegates} delegates became plain calls")
    elif method.kept:
        console.print(f"method {method.name} stays as it is: {method.kept}")
        return
    planned = f"{kilobytes(method.planned_before)} -> {kilobytes(method.planned_after)}"
    console.print(f"method {method.name}: {len(method.replaced)} operators in integers, planned {planned}")
    for name, count in Counter(method.replaced).items():
        console.print(f"  {count} x {name}")
