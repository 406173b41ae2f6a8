# SPDX-License-Identifier: BSD-3-Clause
"""rushlight convert"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from rushlight.cli.console import Console, echo_json
from rushlight.cli.options import data_option, json_option, kilobytes, shown_progress, verbose_option
from rushlight.cli.values import FILE
from rushlight.convert.api import Conversion, MethodConversion
from rushlight.convert.files import convert_file
from rushlight.errors import InvalidArgument
from rushlight.program import read_model, record_beside


@click.command("convert", epilog="Example: rushlight convert official.pte -o model.pte")
@click.argument("model", type=FILE)
@click.option("-o", "--output", required=True, type=FILE, help="File to write.")
@data_option("Data file (.ptd) with weights of delegates; the new file then holds them.")
@json_option
@verbose_option
def convert_command(model: Path, output: Path, data_files: tuple[Path, ...], as_json: bool) -> None:
    """Convert a program so that every target can run it.

    MODEL is a .pte or .bpte of any exporter. Plain operator calls replace XNNPACK delegates, and quantized
    parts compute in integers. The report lists the operators that compute in integers, and for each other
    quantized operator why it computes in float. The new file uses rushlight's own operators, so the official
    runtime cannot load it. No file is written if nothing changes."""
    if output.exists() and output.resolve() == model.resolve():
        raise InvalidArgument(
            f"--output: expected another file than MODEL, got {output}",
            next_step="Give the converted program its own name.",
        )
    with shown_progress() as progress:
        progress(f"converting {model.name}", 0.0)
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
    console.print(f"wrote {output}" if done.is_changed else "nothing to convert: no file written")


def _print_method(console: Console, method: MethodConversion) -> None:
    for reason in method.kept_delegates:
        console.print(f"method {method.name}: {reason}")
    if method.delegates:
        console.print(f"method {method.name}: {method.delegates} delegates became plain calls")
    elif method.kept:
        console.print(f"method {method.name} is unchanged: {method.kept}")
        return
    planned = f"{kilobytes(method.planned_before)} -> {kilobytes(method.planned_after)}"
    console.print(f"method {method.name}: {len(method.replaced)} operators in integers, planned {planned}")
    for name, count in Counter(method.replaced).items():
        console.print(f"  {count} x {name}")
