# SPDX-License-Identifier: BSD-3-Clause
"""rushlight new-op"""

from __future__ import annotations

from pathlib import Path

import click

from rushlight.cli.console import echo, echo_json
from rushlight.cli.options import json_option
from rushlight.codegen.new_operator import add_operator


@click.command("new-op", epilog="Example: rushlight new-op aten::relu.out --dtypes realhb")
@click.argument("operator")
@click.option(
    "--dtypes",
    default="real",
    show_default=True,
    help="Dtypes of the kernel: a set of kernels/ops.yaml, or a dtype.",
)
@click.option(
    "--shelf",
    default="elementwise",
    show_default=True,
    help="Folder of kernels/operators for the source file.",
)
@click.option(
    "--kernels",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default="kernels",
    show_default=True,
    help="Folder kernels/ of the checkout.",
)
@json_option
def new_op_command(operator: str, dtypes: str, shelf: str, kernels: Path, as_json: bool) -> None:
    """Start a new operator in a checkout of rushlight.

    Adds its row to kernels/ops.yaml and writes a source file for its kernel. OPERATOR is a name such as
    aten::relu.out, whose schema the installed torch has, or a whole schema."""
    made = add_operator(kernels, operator, dtypes, shelf)
    if as_json:
        described = {
            "operator": made.name,
            "declaration": made.declaration,
            "table": str(made.table),
            "source": str(made.source),
            "made_source": made.made_source,
        }
        echo_json(described)
        return
    echo(f"{made.table}: added a row for {made.name}")
    if made.made_source:
        echo(f"{made.source}: written; fill in the kernel")
    else:
        echo(f"{made.source}: exists; add to it: {made.declaration}")
    echo("next: follow docs/adding-an-operator.md")
