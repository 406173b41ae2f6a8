# SPDX-License-Identifier: BSD-3-Clause
"""rushlight new-op"""

from __future__ import annotations

from pathlib import Path

import click

from rushlight.cli.console import echo, echo_json
from rushlight.cli.options import json_option
from rushlight.codegen.new_operator import add_operator


@click.command("new-op")
@click.argument("operator")
@click.option("--dtypes", default="real", show_default=True, help="A set of kernels/ops.yaml, or a dtype.")
@click.option(
    "--shelf",
    default="elementwise",
    show_default=True,
    help="The folder of kernels/operators for the source.",
)
@click.option(
    "--kernels",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default="kernels",
    show_default=True,
    help="The folder of the checkout to add to.",
)
@json_option
def new_op_command(operator: str, dtypes: str, shelf: str, kernels: Path, as_json: bool) -> None:
    """Begin an operator: its row in kernels/ops.yaml, and the source for its kernel. OPERATOR is a name
    such as aten::relu.out, looked up in the installed torch, or a whole schema."""
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
    echo(f"{made.table}: a row for {made.name}")
    if made.made_source:
        echo(f"{made.source}: to be filled in")
    else:
        echo(f"{made.source} is there; to be added to it: {made.declaration}")
    echo("next: docs/adding-an-operator.md")
