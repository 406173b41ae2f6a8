# SPDX-License-Identifier: BSD-3-Clause
"""The command `rushlight`: its commands, and errors as messages with exit codes."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence

from rushlight import __version__, process
from rushlight.errors import CheckFailed, FileFailed, NotRunnable, OverBudget, RushlightError

try:
    import click

    from rushlight.cli.console import Console, echo, echo_json
except ImportError as missing:
    sys.exit(
        f"error: the command line needs the Python package '{missing.name}': pip install 'rushlight[build]'"
    )

_INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

_COMMANDS = {
    "bake": "rushlight.cli.bake:bake_command",
    "build": "rushlight.cli.build:build_command",
    "chat": "rushlight.cli.chat:chat_command",
    "check": "rushlight.cli.check:check_command",
    "convert": "rushlight.cli.convert:convert_command",
    "decode": "rushlight.cli.decode:decode_command",
    "export": "rushlight.cli.export:export_command",
    "generate": "rushlight.cli.generate:generate_command",
    "inspect": "rushlight.cli.inspect:inspect_command",
    "kernels": "rushlight.cli.kernels:kernels_command",
    "matrix": "rushlight.cli.matrix:matrix_command",
    "new-op": "rushlight.cli.new_op:new_op_command",
    "ops": "rushlight.cli.ops:ops_group",
    "profile": "rushlight.cli.profile:profile_command",
    "run": "rushlight.cli.run:run_command",
    "sensitivity": "rushlight.cli.sensitivity:sensitivity_command",
    "serve": "rushlight.cli.serve:serve_command",
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
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
@click.option("-v", "--verbose", is_flag=True, help="Print each command before it runs.")
def rushlight(verbose: bool) -> None:
    """Build ExecuTorch programs into small runners, run them on hosts and devices, look inside."""
    process.verbose = process.verbose or verbose


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits: 0, 2 for a wrong command line, or the error's own code. Failures of
    the operating system, of whatever file, become FileFailed here."""
    listed = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whatever the encoding, a name can be shown
            stream.reconfigure(errors="backslashreplace")
    try:
        status = rushlight.main(args=listed, prog_name="rushlight", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status if isinstance(status, int) else 0)
    except click.ClickException as error:
        shown = _AsItIs()
        error.show(file=shown)
        echo(shown.getvalue(), end="", stderr=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        echo("interrupted", stderr=True)
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        _leave_the_pipe()
    except RushlightError as error:
        _fail(error, listed)
    except OSError as error:
        if process.verbose:
            traceback.print_exc()
        _fail(FileFailed.of(error), listed)


class _AsItIs(io.StringIO):
    """Takes what click says with all escapes in it, for echo() to show; of files click takes colours out."""

    def isatty(self) -> bool:
        return True


def _leave_the_pipe() -> None:
    """Ends quietly: the reader of our output has seen enough."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


def _fail(error: RushlightError, arguments: Sequence[str]) -> None:
    # Outputs that are wrong, programs that cannot run and sizes were printed as JSON already.
    printed = isinstance(error, (CheckFailed, NotRunnable, OverBudget))
    if "--json" in arguments and not printed:
        echo_json({"error": type(error).__name__, "message": error.message, "next_step": error.next_step})
    console = Console(stderr=True)
    console.print("error:", style="bold red", end=" ")
    console.print(error.message)
    if error.next_step:
        console.print(error.next_step, style="dim")
    sys.exit(error.exit_code)
