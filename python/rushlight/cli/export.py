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
from rushlight.errors import InvalidArgument
from rushlight.files import write_text

_MOST_OPERATORS = 12


class _ExportCommand(click.Command):
    """`rushlight export llm` is a command of its own: no factory is called so, they have a colon."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args[:1] == ["llm"]:
            from rushlight.cli.export_llm import export_llm_command

            return export_llm_command.make_context(f"{info_name} llm", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command("export", cls=_ExportCommand)
@click.argument("factory", metavar="PACKAGE.MODULE:FACTORY")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The .pte to write.")
@click.option("-t", "--target", help="Check the program for a target; see `rushlight targets`.")
@click.option(
    "--runtime",
    type=click.Choice(["rushlight", "executorch"]),
    default="rushlight",
    show_default=True,
    help="Whose operators to use: executorch stands for those that its package registers.",
)
@click.option(
    "--built",
    type=click.Path(path_type=Path),
    help="A folder that `rushlight build` wrote: only the operators and dtypes of that build.",
)
@click.option(
    "--custom-ops",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A kernel library of your own, or a YAML file with out overloads. May be repeated.",
)
@click.option("--memory", type=click.Path(path_type=Path), help="A YAML or JSON file of memory banks.")
@click.option("--planner", default="auto", show_default=True, help="auto, greedy_by_size, exact or naive.")
@click.option("--plan-inputs/--no-plan-inputs", default=True, help="Plan memory for inputs.")
@click.option("--plan-outputs/--no-plan-outputs", default=True, help="Plan memory for outputs.")
@click.option("--external", is_flag=True, help="Leave constants to a data file (.ptd) beside the program.")
@click.option("--bundled", type=click.Path(path_type=Path), help="Write a bundled program (.bpte), too.")
@click.option("--debug", is_flag=True, help="Write the debug record beside the program.")
@quantize_options(required=False)
@click.option("--equalize", is_flag=True, help="Equalize the channels between layers before quantizing.")
@click.option("--correct-bias", is_flag=True, help="Take the mean error of each layer out of its bias.")
@click.option("--ranges", type=click.Path(path_type=Path), help="Write the ranges of tensors as HTML.")
@click.option(
    "--quantize-io",
    type=click.Choice(["int8", "uint8"]),
    help="Inputs and outputs are integers; methods input0_scale, input0_zp, ... tell what they stand for.",
)
@click.option("--picture", type=click.Path(path_type=Path), help="Write the memory plan as an SVG.")
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
    """Turn a PyTorch model into a program. FACTORY is a function without arguments that returns the module
    and its example inputs: (module, args), (module, args, kwargs) or (module, args, kwargs, dynamic_shapes);
    or a mapping of such tuples by the names of methods. `--quantize` and `--calibrate DATA` quantize it.

    `rushlight export llm` exports language models from their files; see `rushlight export llm --help`."""
    from rushlight.export import export, register_custom_operators

    register_custom_operators(options["custom_ops"])  # the factory may call them
    quantizing.equalize, quantizing.correct_bias = equalize, correct_bias
    made = quantizing.apply(export_arguments(call_factory(factory), factory))
    selection = None if built is None else built_selection(built)
    with shown_progress() as progress:
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
    """What the function named as "package.module:function" returns; the working directory is looked in.

    Errors: InvalidArgument naming what was not found.
    """
    name, separator, attribute = text.partition(":")
    if not separator or not attribute:
        raise InvalidArgument(f"factory '{text}': expected PACKAGE.MODULE:FACTORY")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and not f"{name}.".startswith(f"{error.name}."):
            raise
        raise InvalidArgument(f"factory '{text}': no module named '{error.name}'") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        raise InvalidArgument(f"factory '{text}': {name} has no function '{attribute}'")
    return function()


def export_arguments(made: Any, factory: str) -> tuple[Any, ...]:
    """The arguments of `rushlight.export` for what a factory returned. Errors: InvalidArgument."""
    from rushlight.export import MethodSource

    if isinstance(made, dict):
        return ({name: MethodSource(*_tuple(each, factory)) for name, each in made.items()},)
    return _tuple(made, factory)


def _tuple(made: Any, factory: str) -> tuple[Any, ...]:
    if not isinstance(made, tuple) or not 2 <= len(made) <= 4 or not isinstance(made[1], (tuple, list)):
        raise InvalidArgument(
            f"factory '{factory}': expected a module with a tuple of example inputs, "
            f"got {type(made).__name__}"
        )
    module, args, *rest = made
    kwargs = rest[0] if rest else None
    return (module, tuple(args), kwargs or {}, *rest[1:])


def _print_arithmetic(console: Console, method: Any) -> None:
    """Which operators of a quantized graph compute in integers; why others do not, and their lines."""
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
        # The table of arithmetic has what its pass remarks.
        others = [each for each in method.remarks if not each.startswith("compute_in_integers: ")]
        for line in [*method.memory_summary(), *others, *method.numbers.lines()]:
            console.print(line)
    external = f", {kilobytes(report.external_bytes)} in the data file" if report.external_bytes else ""
    console.print(f"constants {kilobytes(report.constant_bytes)}{external}")
    console.print(f"{output}: {kilobytes(report.file_bytes)}, in {report.seconds:.1f} s")
