# SPDX-License-Identifier: BSD-3-Clause
"""rushlight profile"""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from rushlight.cli.options import json_option
from rushlight.devtools.profile import Profile, profile, read_events


@click.command("profile")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), help="Write a page with a bar for each operator.")
@json_option
def profile_command(trace: Path, html: Path | None, as_json: bool) -> None:
    """Show where the time of TRACE went, an .etdp file that `rushlight run --etdump` wrote."""
    result = profile(read_events(trace))
    if html is not None:
        html.write_text(result.to_html())
    click.echo(json.dumps(result.to_json(), indent=1)) if as_json else _print(result)


def _print(result: Profile) -> None:
    table = Table("instruction", "operator", "calls", "ms a call", "share", box=None)
    for item in result.operators:
        table.add_row(
            str(item.instruction),
            item.name,
            str(item.calls),
            f"{item.total / item.calls / 1e6:.4g}",
            f"{100 * item.share:.1f} %",
        )
    console = Console(highlight=False)
    console.print(table)
    each = result.execute / max(result.runs, 1) / 1e6
    console.print(f"{result.runs} runs of {each:.4g} ms; loading {result.load / 1e6:.4g} ms")
