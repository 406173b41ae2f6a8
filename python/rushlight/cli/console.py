# SPDX-License-Identifier: BSD-3-Clause
"""The one door to the terminal: what commands print goes through here. Text is shown as it is, never read as
markup; hidden characters are shown as escapes. Off a terminal nothing is cut to a width."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import rich.console
import rich.table
from rich.box import SIMPLE
from rich.console import ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

from rushlight.cli.plain import echo, echo_json
from rushlight.printable import one_line, printable

__all__ = ["SIMPLE", "Bars", "Console", "Table", "TaskID", "bars", "echo", "echo_json", "styled"]

_NO_LIMIT = 100_000
"""Columns of a pipe or a file."""


class Console(rich.console.Console):
    """rich's console for foreign text: every string becomes printable before it is laid out, and parts that
    somebody built himself when they are written."""

    def __init__(self, *, stderr: bool = False) -> None:
        stream = sys.stderr if stderr else sys.stdout
        super().__init__(
            stderr=stderr,
            markup=False,
            emoji=False,
            highlight=False,
            width=None if stream.isatty() else _NO_LIMIT,
        )

    def print(self, *objects: Any, **options: Any) -> None:
        """Lines go on beyond a terminal's width; tables fold."""
        lines = all(isinstance(each, (str, Text)) for each in objects)
        super().print(*objects, **{"soft_wrap": lines, **options})

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **{**options, "markup": False, "emoji": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


class Table(rich.table.Table):
    """rich's table; a cell that is too long for a terminal goes on in the next line."""

    def add_column(self, *arguments: Any, **options: Any) -> None:
        super().add_column(*arguments, **{"overflow": "fold", **options})


def styled(text: str, style: str) -> Text:
    """Text in a style, for a line or a cell."""
    return Text(printable(text), style)


class Bars:
    """Progress bars on stderr; they draw nothing but on a terminal."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def add(self, what: str, total: float = 1.0) -> TaskID:
        return self._progress.add_task(one_line(what), total=total)

    def show(self, task: TaskID, what: str, share: float) -> None:
        self._progress.update(task, description=one_line(what), completed=share)

    def advance(self, task: TaskID) -> None:
        self._progress.advance(task)

    def remove(self, task: TaskID) -> None:
        self._progress.remove_task(task)


@contextlib.contextmanager
def bars() -> Iterator[tuple[Bars, Callable[..., None]]]:
    """Bars while something runs, and a function that prints a line above them."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        yield Bars(progress), console.print
