# SPDX-License-Identifier: BSD-3-Clause
"""rushlight export"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import click

from rushlight.cli.check import built_selection
from rushlight.cli.console import Console, Table, echo_json
from rushlight.cli.options import json_option, kilobytes, shown_progress, verbose_option
from rushlight.cli.quantizing import Quantizing, quantize_options
from rushlight.cli.values import FILE, FOLDER, PATH, TARGET
from rushlight.errors import InvalidArgument
from rushlight.files import write_text

_MOST_OPERATORS = 12
_STEP = "Name a function as in my_model:create, for create() in my_model.py."


class _ExportCommand(click.Command):
    """Also finds `rushlight export llm`. No factory can have that name: factories contain a colon."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == ["llm"]:
            from rushlight.cli.export_llm import export_llm_command

            return export_llm_command.make_context(f"{info_name} llm", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command("export", cls=_ExportCommand, epilog="Example: rushlight export my_model:create -o model.pte")
@click.argument("factory", metavar="PACKAGE.MODULE:FACTORY")
@click.option("-o", "--output", type=FILE, required=True, help="Program file (.pte) to write.")
@click.option("-t", "--target", type=TARGET, help="Also check the program for this target.")
@click.option(
    "--runtime",
    type=click.Choice(["rushlight", "executorch"]),
    default="rushlight",
    show_default=True,
    help="Runtime whose operators to use; executorch: the operators that its Python package registers.",
)
@click.option(
    "--built",
    type=FOLDER,
    help="Use the operators and dtypes in this folder of `rushlight build` only.",
)
@click.option(
    "--custom-ops",
    multiple=True,
    type=PATH,
    help="Your kernel library, or a YAML file with out overloads. May be repeated.",
)
@click.option(
    "--fallback",
    type=click.Choice(["aten"]),
    help="Also take operators and dtypes without a kernel, for rushlight.load(..., fallback=...).",
)
@click.option("--memory", type=FILE, help="YAML or JSON file that describes the memory banks.")
@click.option(
    "--planner",
    default="auto",
    show_default=True,
    help="Method of memory planning: auto, greedy_by_size, exact or naive.",
)
@click.option("--plan-inputs/--no-plan-inputs", default=True, help="Plan memory for inputs.")
@click.option("--plan-outputs/--no-plan-outputs", default=True, help="Plan memory for outputs.")
@click.option("--external", is_flag=True, help="Write constants to a data file (.ptd) beside the program.")
@click.option("--bundled", type=FILE, help="Also write a bundled program (.bpte) to this file.")
@click.option("--debug", is_flag=True, help="Write a debug record beside the program.")
@quantize_options(required=False)
@click.option("--equalize", is_flag=True, help="Equalize channels across layers before quantizing.")
@click.option(
    "--correct-bias", is_flag=True, help="Correct each layer's bias by its mean quantization error."
)
@click.option("--ranges", type=FILE, help="Write the ranges of tensors to this file as a page (HTML).")
@click.option(
    "--quantize-io",
    type=click.Choice(["int8", "uint8"]),
    help="Dtype of inputs and outputs; methods input0_scale, input0_zp, ... return their scales.",
)
@click.option("--picture", type=FILE, help="Write a picture (SVG) of the memory plan to this file.")
@json_option
@verbose_option
def export_command(
    factory: str,
    output: Path,
    target: str | None,
    built: Path | None,
    bundled: Path | None,
    debug: bool,
    picture: Path | None,
    as_json: bool,
    quantize_io: str | None,
    equalize: bool,
    correct_bias: bool,
    ranges: Path | None,
    quantizing: Quantizing,
    **options: Any,
) -> None:
    """Turn a PyTorch model into a program.

    FACTORY is a function without arguments. It returns the module and its example inputs: (module, args),
    (module, args, kwargs) or (module, args, kwargs, dynamic_shapes); or such tuples by method name.
    --quantize and --calibrate quantize the model.

    `rushlight export llm` exports language models from their files: see `rushlight export llm --help`."""
    from rushlight.export import export, register_custom_operators

    register_custom_operators(options["custom_ops"])  # in front of the factory, which may call them
    quantizing.equalize, quantizing.correct_bias = equalize, correct_bias
    arguments = export_arguments(call_factory(factory), factory)
    selection = None if built is None else built_selection(built)
    with shown_progress() as progress:
        progress("quantizing" if quantizing.word else "exporting", 0.0)
        made = quantizing.apply(arguments)
        exported = export(
            *made,
            target=target,
            built=selection,
            progress=progress,
            quantize_io=quantize_io or False,
            **options,
        )
        exported.save(output, debug=debug)
    if bundled:
        exported.save_bundled(bundled)
    if picture:
        write_text(picture, exported.report.picture())
    if ranges:
        write_text(ranges, quantizing.ranges_page())
    if as_json:
        echo_json(exported.report.to_json())
    else:
        quantizing.print_report()
        _print(exported.report, output)


def call_factory(text: str) -> Any:
    """Returns the result of the function with the name "package.module:function". The working directory is
    searched, too.

    Error: InvalidArgument if there is no such module or function.
    """
    name, separator, attribute = text.partition(":")
    if not separator or not attribute:
        raise InvalidArgument(f"factory: expected PACKAGE.MODULE:FACTORY, got '{text}'", next_step=_STEP)
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and not f"{name}.".startswith(f"{error.name}."):
            raise
        raise InvalidArgument(f"factory '{text}': no module named '{error.name}'", next_step=_STEP) from error
    function = getattr(module, attribute, None)
    if not callable(function):
        raise InvalidArgument(f"factory '{text}': {name} has no function '{attribute}'", next_step=_STEP)
    return function()


def export_arguments(made: Any, factory: str) -> tuple[Any, ...]:
    """The arguments of `rushlight.export` from the result of a factory. Error: InvalidArgument."""
    from rushlight.export import MethodSource

    if isinstance(made, dict):
        return ({name: MethodSource(*_tuple(each, factory)) for name, each in made.items()},)
    return _tuple(made, factory)


def _tuple(made: Any, factory: str) -> tuple[Any, ...]:
    if not isinstance(made, tuple) or not 2 <= len(made) <= 4 or not isinstance(made[1], (tuple, list)):
        raise InvalidArgument(
            f"factory '{factory}': expected a module with a tuple of example inputs, "
            f"got {type(made).__name__}",
            next_step="Return a tuple such as (module, (torch.zeros(1, 3, 96, 96),)).",
        )
    module, args, *rest = made
    kwargs = rest[0] if rest else None
    return (module, tuple(args), kwargs or {}, *rest[1:])


def _print_arithmetic(console: Console, method: Any) -> None:
    """Prints which operators of a quantized graph compute in integers, and why the others do not."""
    if not method.arithmetic:
        return
    table = Table("operator", "calls", "computes in", "because", "module", "line")
    for row in method.arithmetic:
        where = "integers" if row.integers else "float"
        table.add_row(row.operator, str(row.calls), where, row.reason, row.module, row.line)
    console.print(table)


def _print(report: Any, output: Path) -> None:
    console = Console()
    for method in report.methods:
        operators = Table("operator", "calls", title=f"method {method.name}", title_justify="left")
        operators.columns[1].justify = "right"
        for name, count in list(method.operators.items())[:_MOST_OPERATORS]:
            operators.add_row(name, str(count))
        console.print(operators)
        more = len(method.operators) - _MOST_OPERATORS
        if more > 0:
            console.print(f"and {more} more operators")
        console.print(f"{len(method.method.instructions)} instructions")
        _print_arithmetic(console, method)
        # The table of arithmetic already has the remarks of its pass.
        others = [each for each in method.remarks if not each.startswith("compute_in_integers: ")]
        for line in [*method.memory_summary(), *others, *method.numbers.lines()]:
            console.print(line)
    external = f", {kilobytes(report.external_bytes)} in the data file" if report.external_bytes else ""
    console.print(f"constants {kilobytes(report.constant_bytes)}{external}")
    console.print(f"{output}: {kilobytes(report.file_bytes)}, in {report.seconds:.1f} s")
