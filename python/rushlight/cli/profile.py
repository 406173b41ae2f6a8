# SPDX-License-Identifier: BSD-3-Clause
"""rushlight profile"""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from rushlight.cli.options import json_option
from rushlight.devtools.profile import Profile, origins_of, profile, read_events


@click.command("profile")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), help="Write a page with a bar for each operator.")
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="The program that was run: the debug record beside it (model.debug.json) has its lines and modules.",
)
@click.option("--method", help="The method that was run [default: the only one, or forward].")
@json_option
def profile_command(
    trace: Path, html: Path | None, model: Path | None, method: str | None, as_json: bool
) -> None:
    """Show where the time of TRACE went, an .etdp file that `rushlight run --etdump` wrote."""
    result = profile(read_events(trace), None if model is None else origins_of(model, method))
    if html is not None:
        html.write_text(result.to_html())
    click.echo(json.dumps(result.to_json(), indent=1)) if as_json else _print(result)


def _print(result: Profile) -> None:
    console = Console(highlight=False, markup=False)
    modules = result.modules()
    table = Table("instruction", "operator", "calls", "ms a call", "share", box=None)
    if modules:
        table.add_column("source", overflow="fold")
    for item in result.operators:
        row = [
            str(item.instruction),
            item.name,
            str(item.calls),
            f"{item.total / item.calls / 1e6:.4g}",
            f"{100 * item.share:.1f} %",
        ]
        table.add_row(*row, *([item.source] if modules else []))
    console.print(table)
    if modules:
        _print_modules(console, modules)
    each = result.execute / max(result.runs, 1) / 1e6
    console.print(f"{result.runs} runs of {each:.4g} ms; loading {result.load / 1e6:.4g} ms")


def _print_modules(console: Console, modules: list[tuple[str, int, float]]) -> None:
    table = Table("module", "ms", "share", box=None)
    for name, total, share in modules:
        table.add_row(name or "(none)", f"{total / 1e6:.4g}", f"{100 * share:.1f} %")
    console.print(table)
