# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the commands of language models: options of text generation, loading with a progress bar, and
printing tokens as they arrive."""

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
    "max_tokens": (int, "Most tokens to generate [default: until the context is full]."),
    "temperature": (float, "Softmax temperature of sampling; 0: always the most likely token."),
    "top_k": (int, "Sample from this many of the most likely tokens; 0: all."),
    "top_p": (float, "Sample from the most likely tokens that together have this probability."),
    "min_p": (float, "Sample from tokens with at least this share of the highest probability."),
    "repetition_penalty": (float, "Divisor for the scores of recent tokens; 1: no penalty."),
    "seed": (int, "Seed of sampling [default: random]."),
}
"""Type and help of each flag, by its field of Options."""


def text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags of text generation, as the dict `options` of Options' fields, and --threads, as `threads`."""

    @functools.wraps(command)
    def gathered(*arguments: Any, **given: Any) -> Any:
        options = {name: given.pop(name) for name in (*_NUMBERS, "stop")}
        return command(*arguments, options=options, **given)

    stop = click.option("--stop", multiple=True, help="Text that ends generation. May be repeated.")
    flagged: Callable[..., Any] = stop(threads_option(gathered))
    for name, (kind, help) in reversed(_NUMBERS.items()):
        default = getattr(_DEFAULTS, name)
        shown = default is not None
        flag = f"--{name.replace('_', '-')}"
        flagged = click.option(flag, name, type=kind, default=default, show_default=shown, help=help)(flagged)
    return flagged


def threads_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--threads."""
    return click.option(
        "--threads", type=click.IntRange(1), help="Number of threads [default: physical cores]."
    )(command)


def loaded(path: Path, threads: int | None) -> TextModel:
    """Loads a language model, with a progress bar."""
    with shown_progress() as progress:
        progress(f"loading {path.name}", 0.0)
        return load(path, threads=threads)


def show_pieces(generation: Generation) -> None:
    """Prints text as it arrives, or token ids if the program has no vocabulary."""
    for piece in generation:
        text = piece.text if generation.has_text else f"{piece.token} "
        if text:
            echo(text, end="")
