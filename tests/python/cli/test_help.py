# SPDX-License-Identifier: BSD-3-Clause
"""The help of the command line: groups of commands, one full line and one example that parses for each."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from rushlight.cli import main as command_line
from rushlight.cli.export_llm import export_llm_command
from rushlight.cli.main import HELP_LINE, main, rushlight

WIDTH = 78


def commands(group: click.Group = rushlight, path: str = "rushlight") -> Iterator[tuple[str, click.Command]]:
    """Every command with the words that start it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


ALL = [*commands(), ("rushlight export llm", export_llm_command)]


def help_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_commands_are_listed_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    shown = help_of(capsys)
    for group, members in command_line._COMMANDS.items():
        section = shown.partition(f"\n{group}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == list(members)
    names = [name for group in command_line._COMMANDS.values() for name in group]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("path", "command"), ALL, ids=[path for path, _ in ALL])
def test_a_help_line_is_a_sentence_and_is_not_cut(path: str, command: click.Command) -> None:
    line = command.get_short_help_str(HELP_LINE)
    assert len(line) <= HELP_LINE and line.endswith(".") and not line.endswith("..")
    assert line[0].isupper() and len(line.split()) >= 4
    assert line in " ".join((command.help or "").split())


@pytest.mark.parametrize(("path", "command"), ALL, ids=[path for path, _ in ALL])
def test_each_example_is_a_command_line_that_parses(path: str, command: click.Command) -> None:
    start, _, example = (command.epilog or "").partition(": ")
    assert start == "Example" and len(command.epilog or "") <= WIDTH, path
    example = example.removeprefix('eval "$(').removesuffix(')"')
    assert f"{example} ".startswith(f"{path} ")
    words = shlex.split(example)[len(path.split()) :]
    if isinstance(command, click.Group):
        inner = command.get_command(click.Context(command), words[0])
        assert inner is not None
        inner.make_context(words[0], words[1:])
    else:
        command.make_context(path, words)


@pytest.mark.parametrize(("path", "command"), ALL, ids=[path for path, _ in ALL])
def test_help_of_options_is_a_sentence(path: str, command: click.Command) -> None:
    for option in command.params:
        if isinstance(option, click.Option):
            text = (option.help or "").partition(" [default: ")[0]
            assert text and text[0].isupper(), option.name
            assert option.help and option.help[-1] in ".]", option.name
            assert option.help.count("[") == option.help.count("]"), option.name


def test_help_fits_a_terminal_of_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert max(map(len, help_of(capsys).splitlines())) <= 80


def test_without_a_package_of_the_extra_help_says_how_to_get_it() -> None:
    code = """
import sys
sys.modules.update(dict.fromkeys(["rich", "rich.console", "yaml", "elftools", "pybind11"]))
from rushlight.cli.main import main
main(sys.argv[1:])
"""
    shown = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    lines = {line.split()[0]: line for line in shown.stdout.splitlines() if line.strip()}
    assert "(pip install 'rushlight[build]')" in lines["build"]
    assert "Check this machine" in lines["doctor"]
    tried = subprocess.run([sys.executable, "-c", code, "inspect", "x"], capture_output=True, text=True)
    assert tried.returncode == 23 and "'rich' is not installed" in tried.stderr
