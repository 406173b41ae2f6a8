# SPDX-License-Identifier: BSD-3-Clause
"""rushlight bake"""

from __future__ import annotations

from pathlib import Path

import click

from rushlight.cli.console import Console, echo_json
from rushlight.cli.options import (
    integers_option,
    json_option,
    kilobytes,
    table_options,
    verbose_option,
)
from rushlight.codegen.bake import Baked, bake, program_name
from rushlight.convert.files import converted_model
from rushlight.errors import InvalidArgument
from rushlight.package import FORMS, bake_package


@click.command("bake")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write into.")
@click.option("--name", help="Name of the library and its namespace [default: the model's].")
@click.option("--method", "methods", multiple=True, help="A method to bake; may be repeated [default: all].")
@click.option(
    "--data",
    "data_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A .ptd with tensors that the model leaves out; may be repeated.",
)
@click.option(
    "--weights",
    type=click.Choice(["incbin", "array"]),
    default="incbin",
    show_default=True,
    help="As a binary file that an assembler file includes, or as an array in C++.",
)
@click.option(
    "--temporary-bytes",
    type=click.IntRange(min=0),
    help="Scratch for the kernels of each method [default: 16384 where one may ask for some, else none].",
)
@click.option(
    "--package",
    "form",
    type=click.Choice(list(FORMS)),
    help="Write a source package in this form: all that building takes, weights as an array.",
)
@click.option("--package-version", default="1.0.0", show_default=True, help="Version of the package.")
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
    """Write MODEL (.pte, .bpte) as C++ that calls its kernels on static tensors, with a CMakeLists.txt that
    builds it: no program file, no interpreter."""
    if form is None:
        name = program_name(model, name)
        baked = bake(
            converted_model(model, output / "integers", integers=integers, data_files=data_files),
            output,
            name=name,
            methods=methods,
            data_files=data_files,
            weights=weights,
            temporary_bytes=temporary_bytes,
            kernels=kernels,
        )
    elif kernels:
        raise InvalidArgument("--package: takes no --kernels, it has rushlight's own only")
    else:
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
