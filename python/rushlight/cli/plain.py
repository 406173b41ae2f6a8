# SPDX-License-Identifier: BSD-3-Clause
"""Prints lines with click alone: the commands that use only this need no rich. Hidden characters are shown
as escapes."""

from __future__ import annotations

import json
from typing import Any

import click

from rushlight.printable import printable


def echo(text: str, *, end: str = "\n", stderr: bool = False, **style: Any) -> None:
    """Prints a text. `style` has the keywords of click.style(), such as fg="red"; only terminals show it."""
    shown = printable(text)
    click.echo((click.style(shown, **style) if style else shown) + end, nl=False, err=stderr)


def echo_json(content: Any) -> None:
    """Prints a JSON document: ASCII, as json.dumps makes it."""
    click.echo(json.dumps(content, indent=1))
