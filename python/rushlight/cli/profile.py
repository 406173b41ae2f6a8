# SPDX-License-Identifier: BSD-3-Clause
"""rushlight profile"""

from __future__ import annotations

from pathlib import Path

import click

from rushlight.cli.console import Console, Table, echo_json
from rushlight.cli.options import json_option
from rushlight.cli.values import FILE
from rushlight.files import write_text
from rushlight.trace.profile import NodeTime, OperatorTime, Profile, origins_of, profile, read_events


@click.command("profile", epilog="Example: rushlight profile trace.etdp --html profile.html")
@click.argument("trace", type=FILE)
@click.option("--html", type=FILE, help="Write the profile to this file as a page (HTML).")
@click.option(
    "--model",
    type=FILE,
    help="The program that ran; the debug record beside it (model.debug.json) adds source lines.",
)
@click.option("--method", help="The method that ran [default: the only one, or forward].")
@json_option
def profile_command(
    trace: Path, html: Path | None, model: Path | None, method: str | None, as_json: bool
) -> None:
    """Show the time of each operator in a trace.

    TRACE is an .etdp file of `rushlight run --etdump` or of the official runtime. The nodes of a delegate
    follow its instruction, with the exporter's debug handle if the trace has it."""
    result = profile(read_events(trace), None if model is None else origins_of(model, method))
    if html is not None:
        write_text(html, result.to_html())
    echo_json(result.to_json()) if as_json else _print(result)


def _print(result: Profile) -> None:
    console = Console()
    modules = result.modules()
    unit = result.shown(0)[1]
    table = Table("instruction", "operator", "calls", f"{unit} per call", "share", box=None)
    if modules:
        table.add_column("source", overflow="fold")
    for item in result.operators:
        row = [str(item.instruction), item.name, *_times(item, result)]
        table.add_row(*row, *([item.source] if modules else []))
        for node in item.nodes:
            table.add_row("", f"  {_named(node)}", *_times(node, result))
    console.print(table)
    if modules:
        _print_modules(console, result)
    console.print(result.summary())


def _times(item: OperatorTime | NodeTime, result: Profile) -> list[str]:
    """Number of calls, time of one call, share of the total time."""
    return [str(item.calls), result.shown(item.total / item.calls)[0], f"{100 * item.share:.1f} %"]


def _named(node: NodeTime) -> str:
    return node.name if node.debug_handle is None else f"{node.name} (handle {node.debug_handle})"


def _print_modules(console: Console, result: Profile) -> None:
    table = Table("module", result.shown(0)[1], "share", box=None)
    for name, total, share in result.modules():
        table.add_row(name or "(none)", result.shown(total)[0], f"{100 * share:.1f} %")
    console.print(table)
