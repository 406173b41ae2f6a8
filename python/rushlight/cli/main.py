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
from rushlight.errors import (
    CheckFailed,
    FileFailed,
    MissingDependency,
    NotReady,
    NotRunnable,
    OverBudget,
    RushlightError,
)

try:
    import click
except ImportError:
    sys.exit("error: the command line needs the Python package 'click': pip install 'rushlight[build]'")

from rushlight.cli import COMPLETE_VARIABLE
from rushlight.cli.plain import echo, echo_json

_INTERRUPTED = 130
"""Exit code after Ctrl-C: a shell's 128 + SIGINT."""

HELP_LINE = 60
"""Most characters of a command's line in `rushlight --help`."""

_COMMANDS = {
    "Make programs": {
        "export": "rushlight.cli.export:export_command",
        "convert": "rushlight.cli.convert:convert_command",
        "bake": "rushlight.cli.bake:bake_command",
        "sensitivity": "rushlight.cli.sensitivity:sensitivity_command",
    },
    "Build and run": {
        "build": "rushlight.cli.build:build_command",
        "run": "rushlight.cli.run:run_command",
        "matrix": "rushlight.cli.matrix:matrix_command",
        "generate": "rushlight.cli.generate:generate_command",
        "chat": "rushlight.cli.chat:chat_command",
        "serve": "rushlight.cli.serve:serve_command",
    },
    "Look inside": {
        "inspect": "rushlight.cli.inspect:inspect_command",
        "check": "rushlight.cli.check:check_command",
        "size": "rushlight.cli.size:size_command",
        "profile": "rushlight.cli.profile:profile_command",
        "decode": "rushlight.cli.decode:decode_command",
    },
    "Select and add operators": {
        "kernels": "rushlight.cli.kernels:kernels_command",
        "ops": "rushlight.cli.ops:ops_group",
        "new-op": "rushlight.cli.new_op:new_op_command",
    },
    "Set up": {
        "doctor": "rushlight.cli.doctor:doctor_command",
        "targets": "rushlight.cli.targets:targets_command",
        "completion": "rushlight.cli.completion:completion_command",
    },
}
"""Where each command is, by its group in the help. The help line is the first sentence of the command's
docstring, its example the epilog."""


class _LazyGroup(click.Group):
    """Imports a command when it is asked for: `rushlight inspect` need not load what builds."""

    groups = _COMMANDS

    def list_commands(self, context: click.Context) -> list[str]:
        return [name for group in self.groups.values() for name in group]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command, or None. Error: MissingDependency."""
        where = next((group[name] for group in self.groups.values() if name in group), None)
        if where is None:
            return None
        module, attribute = where.split(":")
        try:
            command: click.Command = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as missing:
            package = (missing.name or "rushlight").partition(".")[0]
            if package == "rushlight":
                raise
            raise MissingDependency(package, "build") from missing
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands with their help lines, a section for each group."""
        width = max(map(len, self.list_commands(context)))
        for group, commands in self.groups.items():
            with formatter.section(group):
                rows = [(name.ljust(width), self._help_line(context, name)) for name in commands]
                formatter.write_dl(rows)

    def _help_line(self, context: click.Context, name: str) -> str:
        try:
            command = self.get_command(context, name)
        except MissingDependency as missing:
            return f"({missing.next_step})"
        return "" if command is None else command.get_short_help_str(HELP_LINE)


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
    if COMPLETE_VARIABLE in os.environ:
        importlib.import_module("rushlight.cli.completion")  # replaces click's script for bash
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may hold characters that the encoding lacks
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
    # These follow a report that was printed as JSON already.
    printed = isinstance(error, (CheckFailed, NotReady, NotRunnable, OverBudget))
    if "--json" in arguments and not printed:
        echo_json({"error": type(error).__name__, "message": error.message, "next_step": error.next_step})
    echo("error:", end=" ", stderr=True, fg="red", bold=True)
    echo(error.message, stderr=True)
    if error.next_step:
        echo(error.next_step, stderr=True, dim=True)
    sys.exit(error.exit_code)
