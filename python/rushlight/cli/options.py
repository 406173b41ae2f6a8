# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, and the progress bar."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from rushlight import process, targets
from rushlight.cli.values import COMPILER, FILE, FOLDER, NAMES, PATH, TARGET
from rushlight.codegen import options as option_table
from rushlight.codegen.options import split_names
from rushlight.errors import InvalidArgument


def _set_verbose(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    process.verbose = process.verbose or value


def verbose_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """-v after the command; `rushlight -v COMMAND` does the same."""
    return click.option(
        "-v",
        "--verbose",
        is_flag=True,
        expose_value=False,
        callback=_set_verbose,
        help="Print each command before it runs.",
    )(command)


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--json, as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on stdout.")(
        command
    )


def target_option(
    default: str = "host", help: str = "Target to build for; `rushlight targets` lists them."
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """-t and --compiler; the command gets both as `target`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_compiler(*arguments: Any, target: str, compiler: str | None, **others: Any) -> Any:
            return command(*arguments, target=targets.spelled(target, compiler), **others)

        chosen = click.option(
            "-t", "--target", type=TARGET, default=default, show_default=True, help=help, is_eager=True
        )
        by = click.option(
            "--compiler", type=COMPILER, help="Compiler to build with [default: the target's first]."
        )
        return chosen(by(with_compiler))

    return decorate


def table_options(*fields: str, **how: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Flags of the option table (cmake/options.json) by their Python names, in the order of the help. `how`
    overrides the keywords for click.option() that follow from the table. Names and paths come as tuples."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for row in map(option_table.option, reversed(fields)):
            command = click.option(row.flag, row.field, **{**_how(row), **how})(command)
        return command

    return decorate


def _how(row: option_table.Option) -> dict[str, Any]:
    if row.choices:
        first = next(iter(row.choices))
        how = {"type": click.Choice(list(row.choices)), "default": first, "show_default": True}
    elif row.kind == "switch":
        how = {"is_flag": True}
    elif row.kind == "names":
        how = {"multiple": True, "callback": _names, "type": NAMES.get(row.metavar or "")}
    else:
        how = {"multiple": True, "type": PATH}
    repeated = " May be repeated." if how.get("multiple") else ""
    return {"help": f"{row.help}.{repeated}", "metavar": row.metavar, **how}


def _names(_context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(split_names(value))


def build_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """-o, -j and -D of commands that build."""
    output = click.option("-o", "--output", type=FOLDER, help="Folder to build in.")
    jobs = click.option("-j", "--jobs", type=int, help="Number of parallel compile jobs.")
    return output(jobs(define_option(command)))


def define_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """-D, as `defines`."""
    return click.option(
        "-D", "defines", multiple=True, metavar="NAME=VALUE", help="Set a CMake cache entry. May be repeated."
    )(command)


def data_option(help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """--data, as `data_files`."""
    return click.option("--data", "data_files", multiple=True, type=FILE, help=f"{help} May be repeated.")


def parse_defines(listed: Sequence[str]) -> dict[str, str]:
    """Values by name, from words NAME=VALUE or NAME:TYPE=VALUE. Error: InvalidArgument."""
    defines = {}
    for word in listed:
        name, separator, value = word.partition("=")
        if not separator or not name:
            raise InvalidArgument(
                f"-D {word}: expected NAME=VALUE", next_step="Write it as in -D CMAKE_BUILD_TYPE=Debug."
            )
        defines[name.partition(":")[0]] = value
    return defines


@contextlib.contextmanager
def shown_progress() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on stderr, if that is a terminal. The function gets a step's name and the share done."""
    from rushlight.cli.console import bars  # needs rich

    with bars() as (shown, _):
        task = shown.add("")
        yield lambda what, share: shown.show(task, what[:48], share)


def integers_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--integers/--no-integers, as `integers`."""
    return click.option(
        "--integers/--no-integers",
        default=True,
        show_default=True,
        help="Convert the model first (rushlight convert), so that quantized parts compute in integers.",
    )(command)


def kilobytes(size: int) -> str:
    """A number of bytes as a text: "12,345 B" below 100 kB, "123.4 kB" from there."""
    return f"{size:,} B" if size < 100_000 else f"{size / 1000:,.1f} kB"
