# SPDX-License-Identifier: BSD-3-Clause
"""`command-line MODULE:COMMAND`: a click command and its subcommands, by the groups of its help."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping

import click
from generated import Generated, code, directive, escaped
from sphinx.application import Sphinx

_KIND = "command-line"


class CommandLine(Generated):
    """Usage, help and options of each command, from the commands themselves."""

    def markdown(self, argument: str) -> str:
        self.note(_KIND, argument)
        module, _, name = argument.partition(":")
        command = getattr(importlib.import_module(module), name)
        context = click.Context(command, info_name=command.name)
        return "\n".join(_command(command, context, 1))


def _command(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    if level > 1:
        yield f"{'#' * level} {context.command_path}\n"
    yield code(command.get_usage(context).removeprefix("Usage: "), "text")
    yield _help(command.help)
    yield _help(command.epilog)
    yield f"```{{program}} {context.command_path}\n```\n"
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record and record[1]:
            yield directive("option", " ".join(record[0].split()), escaped(record[1]))
    if isinstance(command, click.Group):
        yield from _subcommands(command, context, level + 1)


def _subcommands(command: click.Group, context: click.Context, level: int) -> Iterator[str]:
    """The subcommands; where the group has groups for its help, under a heading for each."""
    groups: Mapping[str, object] = getattr(command, "groups", {})
    listed = {name: list(names) for name, names in groups.items() if isinstance(names, Mapping)}
    for heading, names in (listed or {"": command.list_commands(context)}).items():
        if heading:
            yield f"{'#' * level} {heading}\n"
        for name in names:
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                inner = click.Context(found, info_name=name, parent=context)
                yield from _command(found, inner, level + bool(heading))


def _help(text: str | None) -> str:
    """A help text; paragraphs that click leaves as they are, after `\\b`, are shown so."""
    parts = inspect.cleandoc(text or "").split("\n\n")
    return "\n".join(_paragraph(part) for part in parts if part)


def _paragraph(text: str) -> str:
    if text.startswith("\b"):
        return code(text.removeprefix("\b").strip("\n"), "text")
    return escaped(text) + "\n"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive(_KIND, CommandLine)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
