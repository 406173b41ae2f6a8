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


@click.group("targets", invoke_without_command=True)
@json_option
@click.pass_context
def targets_command(context: click.Context, as_json: bool) -> None:
    """List what can be built for and run on, and what is missing for it here."""
    if context.invoked_subcommand is not None:
        return
    rows: list[dict[str, Any]] = [
        {
            "name": target.name,
            "kind": target.kind,
            "cpu": target.cpu,
            "board": target.board,
            "banks": target.banks(),
            "build_only": target.build_only,
            "usable": not (missing := target.requirements()),
            "buildable": all(m.only_to_run for m in missing),
            "missing": [m.name for m in missing],
            "packages": sorted({m.package for m in missing if m.installer == "apt"}),
            "pip_packages": sorted({m.package for m in missing if m.installer == "pip"}),
        }
        for target in targets.all_targets()
    ]
    if as_json:
        echo_json(rows)
        return
    table = Table("target", "cpu", "board", "here")
    for row in rows:
        here = "ready"
        if not row["usable"]:
            here = ("builds; to run: " if row["buildable"] else "") + "missing " + ", ".join(row["missing"])
        if row["build_only"]:
            here += f"; build only: {row['build_only']}"
        table.add_row(row["name"], row["cpu"], row["board"] or "", here)
    Console().print(table)
    if any(row["packages"] for row in rows):
        echo("Install what is missing with `rushlight targets install NAME...` (needs root).")
    if wheels := sorted({name for row in rows for name in row["pip_packages"]}):
        echo(f"Without root, what is missing from PyPI: pip install {shlex.join(wheels)}")


@targets_command.command("install")
@click.argument("names", nargs=-1, required=True)
@verbose_option
def install_command(names: tuple[str, ...]) -> None:
    """Install the packages that the targets NAMES need; without root, print the commands for Debian's."""
    listed = [t.name for t in targets.all_targets()] if "all" in names else list(names)
    commands = targets.install_commands(listed)
    if not commands:
        echo("Everything is installed already.")
        return
    needs_root = [command for command in commands if command[0] == "apt-get"]
    if needs_root and os.geteuid() != 0:
        echo("Installing needs root. Run:")
        for command in needs_root:
            echo("  sudo " + shlex.join(command))
        commands = [command for command in commands if command not in needs_root]
    for command in commands:
        process.run(command, capture=False, check=True)
