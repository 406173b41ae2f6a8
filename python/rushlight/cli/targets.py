# SPDX-License-Identifier: BSD-3-Clause
"""rushlight targets, rushlight targets install"""

from __future__ import annotations

import os
import shlex
from typing import Any

import click

from rushlight import process, targets
from rushlight.cli.console import Console, Table, echo, echo_json
from rushlight.cli.options import json_option, verbose_option
from rushlight.cli.values import TARGET
from rushlight.errors import NotReady


@click.group("targets", invoke_without_command=True, epilog="Example: rushlight targets install cortex-m55")
@json_option
@click.pass_context
def targets_command(context: click.Context, as_json: bool) -> None:
    """List targets, and install the tools that they need."""
    if context.invoked_subcommand is not None:
        return
    rows = [_row(target) for target in targets.all_targets()]
    if as_json:
        echo_json(rows)
        return
    table = Table("target", "cpu", "board", "compilers", "here")
    for row in rows:
        usual, *others = row["compilers"] or [row]
        here = _here(usual) or "ready"
        here += "".join(f"; {it['name']}: {_here(it)}" for it in others if not it["usable"])
        if row["build_only"]:
            here += f"; build only: {row['build_only']}"
        names = ", ".join(it["name"] for it in row["compilers"])
        table.add_row(row["name"], row["cpu"], row["board"] or "", names, here)
    Console().print(table)
    choices = [choice for row in rows for choice in (row, *row["compilers"])]
    if any(choice["packages"] for choice in choices):
        echo("Install what is missing with `rushlight targets install NAME...` (needs root).")
    if wheels := sorted({name for choice in choices for name in choice["pip_packages"]}):
        echo(f"Without root, what is missing from PyPI: pip install {shlex.join(wheels)}")


def _row(target: targets.Target) -> dict[str, Any]:
    """The --json object of a target: its usual compiler at the top, every compiler in `compilers`."""
    choices = {name: targets.get(targets.spelled(target.name, name)) for name in target.compilers}
    return {
        "name": target.name,
        "kind": target.kind,
        "cpu": target.cpu,
        "board": target.board,
        "banks": target.banks(),
        "build_only": target.build_only,
        **_missing(target),
        "compilers": [{"name": name, **_missing(choice)} for name, choice in choices.items()],
    }


def _missing(target: targets.Target) -> dict[str, Any]:
    """The missing programs of a target with its compiler, and the packages that have them."""
    missing = target.requirements()
    return {
        "usable": not missing,
        "buildable": all(item.only_to_run for item in missing),
        "missing": [item.name for item in missing],
        "packages": sorted({item.package for item in missing if item.installer == "apt"}),
        "pip_packages": sorted({item.package for item in missing if item.installer == "pip"}),
    }


def _here(choice: dict[str, Any]) -> str:
    """The missing programs as a text; empty if there are none."""
    if choice["usable"]:
        return ""
    return ("builds; to run: " if choice["buildable"] else "") + "missing " + ", ".join(choice["missing"])


@targets_command.command("install", epilog="Example: rushlight targets install cortex-m55")
@click.argument("names", nargs=-1, required=True, type=TARGET)
@verbose_option
def install_command(names: tuple[str, ...]) -> None:
    """Install the packages that targets need.

    NAMES are targets, or "all". Without root, packages of PyPI are installed, the commands for Debian's
    packages are printed, and the exit code is 37."""
    listed = [target.name for target in targets.every_choice()] if "all" in names else list(names)
    commands = targets.install_commands(listed)
    if not commands:
        echo("Everything is installed already.")
        return
    needs_root = [command for command in commands if command[0] == "apt-get" and os.geteuid() != 0]
    for command in commands:
        if command not in needs_root:
            process.run(command, capture=False, check=True)
    if needs_root:
        echo("\n".join("sudo " + shlex.join(command) for command in needs_root))
        raise NotReady(
            "targets install: expected root for Debian's packages, got an ordinary user",
            next_step="Run the commands above. Without root: pip install 'rushlight[build,zig]', then "
            "--compiler zig builds for most targets, and wasm32 also runs (docs/targets-without-root.md).",
        )
