# SPDX-License-Identifier: BSD-3-Clause
"""The command `rushlight`: its commands, and errors as messages with exit codes."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence

from rushlight import __version__, process
from rushlight.errors import CheckFailed, NotRunnable, OverBudget, RushlightError

try:
    import click
    from rich.console import Console
except ImportError as missing:
    sys.exit(
        f"error: the command line needs the Python package '{missing.name}': pip install 'rushlight[build]'"
    )

_COMMANDS = {
    "bake": "rushlight.cli.bake:bake_command",
    "build": "rushlight.cli.build:build_command",
    "check": "rushlight.cli.check:check_command",
    "decode": "rushlight.cli.decode:decode_command",
    "export": "rushlight.cli.export:export_command",
    "inspect": "rushlight.cli.inspect:inspect_command",
    "kernels": "rushlight.cli.kernels:kernels_command",
    "matrix": "rushlight.cli.matrix:matrix_command",
    "new-op": "rushlight.cli.new_op:new_op_command",
    "ops": "rushlight.cli.ops:ops_group",
    "profile": "rushlight.cli.profile:profile_command",
    "run": "rushlight.cli.run:run_command",
    "size": "rushlight.cli.size:size_command",
    "targets": "rushlight.cli.targets:targets_command",
}


class _LazyGroup(click.Group):
    """Imports a command when it is asked for: `rushlight inspect` need not load what builds."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[name].split(":")
        return getattr(importlib.import_module(module), attribute)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
@click.option("-v", "--verbose", is_flag=True, help="Print each command before it runs.")
def rushlight(verbose: bool) -> None:
    """Build ExecuTorch programs into small runners, run them on hosts and devices, look inside."""
    process.verbose = process.verbose or verbose


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits: 0, 2 for a wrong command line, or the error's own code."""
    listed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        rushlight.main(args=listed, prog_name="rushlight", standalone_mode=True)
    except RushlightError as error:
        # Outputs that are wrong, programs that cannot run and sizes were printed as JSON already.
        printed = isinstance(error, (CheckFailed, NotRunnable, OverBudget))
        _print_error(error, as_json="--json" in listed and not printed)
        sys.exit(error.exit_code)


def _print_error(error: RushlightError, as_json: bool) -> None:
    if as_json:
        described = {"error": type(error).__name__, "message": error.message, "next_step": error.next_step}
        print(json.dumps(described, indent=1))
    console = Console(stderr=True, highlight=False)
    console.print("error:", style="bold red", end=" ")
    console.print(error.message, markup=False, soft_wrap=True)
    if error.next_step:
        console.print(error.next_step, markup=False, style="dim", soft_wrap=True)
