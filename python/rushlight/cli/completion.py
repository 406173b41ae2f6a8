# SPDX-License-Identifier: BSD-3-Clause
"""rushlight completion

click writes the scripts and answers the shells; values.py completes targets and operators. The bash script
is ours: bash also splits words at ":", so click's script cannot complete aten::add.out.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    BashComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from rushlight.cli import COMPLETE_VARIABLE
from rushlight.cli.plain import echo

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' line kind value begun
    begun="${COMP_LINE:0:$COMP_POINT}"; begun="${begun##*[[:space:]]}"
    [[ $begun == --*=* ]] && begun="${begun#*=}"
    [[ $begun == *:* && $COMP_WORDBREAKS == *:* ]] && begun="${begun%%:*}:" || begun=""
    COMPREPLY=()
    for line in $(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" %(complete_var)s=bash_complete "$1"); do
        kind="${line%%%%,*}"; value="${line#*,}"
        case "$kind" in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("${value#"$begun"}") ;;
        esac
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""
"""Bash replaces the text behind the last ":" only, so the replies leave out all before it."""


@add_completion_class
class _Bash(BashComplete):
    """Bash, with the command line as it was typed in place of bash's words."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])]
        words = split_arg_string(line)
        incomplete = words.pop() if words and not line[-1:].isspace() else ""
        return words[1:], incomplete


@click.command("completion", epilog='Example: eval "$(rushlight completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script that completes commands in a shell.

    It completes commands, options, file names, targets and operators. bash and zsh: put the line of the
    example into ~/.bashrc or ~/.zshrc, with the name of the shell. fish: rushlight completion fish >
    ~/.config/fish/completions/rushlight.fish"""
    script = get_completion_class(shell)
    assert script is not None
    root = context.find_root()
    echo(script(root.command, {}, "rushlight", COMPLETE_VARIABLE).source(), end="")
