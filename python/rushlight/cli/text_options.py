# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the commands of language models: options of generating, loading with progress, printing pieces
as they come."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from rushlight.cli.console import echo
from rushlight.cli.options import shown_progress
from rushlight.llm import Generation, Options, TextModel, load

_DEFAULTS = Options()


_NUMBERS: dict[str, tuple[type, str]] = {
    "max_tokens": (int, "Tokens to generate at most [default: until the context is full]."),
    "temperature": (float, "How even the choice of tokens is; 0: always the likeliest."),
    "top_k": (int, "Choose among so many of the likeliest tokens; 0: all."),
    "top_p": (float, "Choose among the likeliest tokens of this share of the probability."),
    "min_p": (float, "Choose among tokens of this share of the likeliest one's probability."),
    "repetition_penalty": (float, "Divides the scores of recent tokens; 1: none."),
    "seed": (int, "Seed of the choice [default: random]."),
}
"""Fields of Options that are flags."""


def text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags of generating and --threads; the command gets them as `options`, a dict of Options' fields,
    and `threads`."""

    @functools.wraps(command)
    def gathered(*arguments: Any, **given: Any) -> Any:
        options = {name: given.pop(name) for name in (*_NUMBERS, "stop")}
        return command(*arguments, options=options, **given)

    stop = click.option("--stop", multiple=True, help="Text that ends the generation. May be repeated.")
    flagged: Callable[..., Any] = stop(threads_option(gathered))
    for name, (kind, help) in reversed(_NUMBERS.items()):
        default = getattr(_DEFAULTS, name)
        shown = default is not None
        flag = f"--{name.replace('_', '-')}"
        flagged = click.option(flag, name, type=kind, default=default, show_default=shown, help=help)(flagged)
    return flagged


def threads_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--threads", type=click.IntRange(1), help="Threads that compute [default: the physical cores]."
    )(command)


def loaded(path: Path, threads: int | None) -> TextModel:
    """The model of a program, with a bar while it is loaded."""
    with shown_progress() as progress:
        progress(f"loading {path.name}", 0.0)
        return load(path, threads=threads)


def show_pieces(generation: Generation) -> None:
    """Prints the text as it comes; tokens where the program has no vocabulary."""
    for piece in generation:
        text = piece.text if generation.has_text else f"{piece.token} "
        if text:
            echo(text, end="")
