# SPDX-License-Identifier: BSD-3-Clause
"""rushlight sensitivity"""

from __future__ import annotations

from pathlib import Path

import click

from rushlight.cli.console import Console, Table, echo, echo_json
from rushlight.cli.export import call_factory, export_arguments
from rushlight.cli.options import json_option, shown_progress, verbose_option
from rushlight.cli.quantizing import Quantizing, quantize_options
from rushlight.cli.values import FILE
from rushlight.files import write_text


@click.command("sensitivity", epilog="Example: rushlight sensitivity my_model:create --calibrate inputs.npz")
@click.argument("factory", metavar="PACKAGE.MODULE:FACTORY")
@quantize_options(required=True)
@click.option("--bound", type=float, help="Choose layers to keep in float so that the error is at most this.")
@click.option("--page", type=FILE, help="Write the results to this file as a page (HTML).")
@json_option
@verbose_option
def sensitivity_command(
    factory: str, quantizing: Quantizing, bound: float | None, page: Path | None, as_json: bool
) -> None:
    """Measure which layers lose accuracy when quantized.

    FACTORY is a function as for `rushlight export`. The error is that of the outputs on the calibration data,
    relative to the float model."""
    from rushlight.quantize import mixed_precision, sensitivity

    module, args, kwargs, shapes = quantizing.model(export_arguments(call_factory(factory), factory))
    batches, quantizer = quantizing.batches(args, shapes) or [], quantizing.quantizer()
    with shown_progress() as progress:
        found = sensitivity(
            module, args, batches, quantizer, kwargs=kwargs, dynamic_shapes=shapes, progress=progress
        )
        mixed = None
        if bound is not None:
            progress("choosing layers to keep in float", 0.0)
            mixed = mixed_precision(
                module, args, batches, bound, quantizer, kwargs=kwargs, dynamic_shapes=shapes
            )
    if page:
        write_text(page, found.page())
    if as_json:
        told = {} if mixed is None else {"mixed": {"left_out": mixed.left_out, "error": mixed.error}}
        echo_json({**found.to_json(), **told})
        return
    table = Table("layer", "operators", "weight bytes", "error alone", "error without")
    for row in found.rows():
        table.add_row(*row)
    Console().print(table)
    echo(f"error with all layers quantized: {100 * found.error:.3g} %")
    if mixed is not None:
        names = ", ".join(name or "the model itself" for name in mixed.left_out) or "none"
        echo(f"left in float for at most {100 * mixed.error:.3g} %: {names}")
