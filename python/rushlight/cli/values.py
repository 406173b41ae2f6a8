# SPDX-License-Identifier: BSD-3-Clause
"""Types of values on the command line, and how a shell completes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from rushlight import targets
from rushlight.codegen.table import load_table
from rushlight.errors import RushlightError
from rushlight.program.dtypes import NUMBERS
from rushlight.sources import source_root


class _Path(click.Path):
    """A path, which the shell completes: any file, or folders alone. The command checks that it exists."""

    def __init__(self, name: str, completion: str) -> None:
        super().__init__(path_type=Path)
        self.name = name
        self._completion = completion

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type=self._completion)]


class _Target(StringParamType):
    """The name of a target."""

    name = "target"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        found = (target for target in targets.all_targets() if target.name.startswith(incomplete))
        return [CompletionItem(target.name, help=target.cpu) for target in found]


class _Compiler(StringParamType):
    """A compiler of the target that --target names in front of it."""

    name = "compiler"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        try:
            listed = targets.get(ctx.params.get("target") or "host").compilers
        except RushlightError:
            return []
        return [CompletionItem(name) for name in listed if name.startswith(incomplete)]


class _Names(StringParamType):
    """Names with commas between them; the last one is completed from `known`."""

    def __init__(self, name: str, known: Callable[[], Iterable[str]]) -> None:
        self.name = name
        self._known = known

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        earlier, comma, begun = incomplete.rpartition(",")
        try:
            known = sorted(self._known())
        except RushlightError:
            return []
        return [CompletionItem(earlier + comma + name) for name in known if name.startswith(begun)]


def _operators() -> Iterable[str]:
    return load_table(source_root() / "kernels" / "ops.yaml").operators


class _Wanted(StringParamType):
    """The name of a target, with or without a compiler, or of an extra."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from rushlight.cli.extras import extras

        known = [*extras(), *(target.name for target in targets.all_targets())]
        return [CompletionItem(name) for name in known if name.startswith(incomplete)]


FILE = _Path("file", "file")
FOLDER = _Path("folder", "dir")
PATH = _Path("path", "file")
"""A file or a folder."""
TARGET = _Target()
COMPILER = _Compiler()
WANTED = _Wanted()
OPERATORS = _Names("operator,...", _operators)
DTYPES = _Names("dtype,...", lambda: NUMBERS)
NAMES = {kind.name.upper(): kind for kind in (OPERATORS, DTYPES)}
"""Types of the option table's names, by the metavar."""
