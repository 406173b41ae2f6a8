# SPDX-License-Identifier: BSD-3-Clause
"""rushlight bake"""

from __future__ import annotations

from pathlib import Path

import click

from rushlight.cli.console import Console, echo_json
from rushlight.cli.options import (
    data_option,
    integers_option,
    json_option,
    kilobytes,
    shown_progress,
    table_options,
    verbose_option,
)
from rushlight.cli.values import FILE, FOLDER
from rushlight.codegen.bake import Baked, bake, program_name
from rushlight.convert.files import converted_model
from rushlight.errors import InvalidArgument
from rushlight.package import FORMS, bake_package


@click.command("bake", epilog="Example: rushlight bake model.pte -o baked")
@click.argument("model", type=FILE)
@click.option("-o", "--output", required=True, type=FOLDER, help="Folder to write to.")
@click.option("--name", help="Name of the library and its C++ namespace [default: the model's name].")
@click.option("--method", "methods", multiple=True, help="Method to bake; may be repeated [default: all].")
@data_option("Data file (.ptd) with tensors that the model leaves out.")
@click.option(
    "--weights",
    type=click.Choice(["incbin", "array"]),
    default="incbin",
    show_default=True,
    help="How to store weights: a binary file included by the assembler, or a C++ array.",
)
@click.option(
    "--temporary-bytes",
    type=click.IntRange(min=0),
    help="Scratch bytes for each method [default: 16384 if a kernel may need scratch, else 0].",
)
@click.option(
    "--package",
    "form",
    type=click.Choice(list(FORMS)),
    help="Write a source package in this form, with all sources and the weights as an array.",
)
@click.option("--package-version", default="1.0.0", show_default=True, help="Version of the source package.")
@integers_option
@table_options("kernels")
@json_option
@verbose_option
def bake_command(
    model: Path,
    output: Path,
    name: str | None,
    methods: tuple[str, ...],
    data_files: tuple[Path, ...],
    weights: str,
    temporary_bytes: int | None,
    form: str | None,
    package_version: str,
    integers: bool,
    kernels: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Write a program as C++ that calls its kernels directly.

    The C++ for MODEL (.pte or .bpte) has static tensors and needs neither the program file nor the
    interpreter. A CMakeLists.txt builds it."""
    if form is not None and kernels:
        raise InvalidArgument(
            "--package: expected no --kernels, got some",
            next_step="A source package has rushlight's own kernels only: leave out --kernels or --package.",
        )
    with shown_progress() as progress:
        if form is None:
            name = program_name(model, name)
            progress("converting", 0.0)
            converted = converted_model(model, output / "integers", integers=integers, data_files=data_files)
            progress("writing C++", 0.5)
            baked = bake(
                converted,
                output,
                name=name,
                methods=methods,
                data_files=data_files,
                weights=weights,
                temporary_bytes=temporary_bytes,
                kernels=kernels,
            )
        else:
            progress(f"writing a package for {form}", 0.0)
            baked = bake_package(
                model,
                form,
                output,
                name=name,
                version=package_version,
                methods=methods,
                data_files=data_files,
                temporary_bytes=temporary_bytes,
                integers=integers,
            )
    echo_json(baked.to_json()) if as_json else _print(baked, form)


def _print(baked: Baked, form: str | None) -> None:
    console = Console()
    console.print(f"{baked.name}: {len(baked.operators)} operators, weights {kilobytes(baked.weights)}")
    for method in baked.methods:
        scratch = baked.temporary[method]
        also = f", scratch {kilobytes(scratch)}" if scratch else ""
        console.print(f"  {method}: arenas {kilobytes(baked.planned[method])}{also}")
    if form is not None:
        console.print(f"  {form} package of {len(baked.files)} files: {baked.folder}")
        return
    for file in baked.files:
        console.print(f"  {baked.folder / file}")
