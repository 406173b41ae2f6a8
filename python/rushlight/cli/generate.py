# SPDX-License-Identifier: BSD-3-Clause
"""rushlight generate"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from rushlight.cli.console import Console, echo, echo_json, styled
from rushlight.cli.options import json_option
from rushlight.cli.text_options import loaded, show_pieces, text_options
from rushlight.cli.values import FILE
from rushlight.errors import InvalidArgument
from rushlight.llm import Generation


@click.command("generate", epilog='Example: rushlight generate smollm2.pte "Once upon a time"')
@click.argument("model", type=FILE)
@click.argument("prompt", required=False)
@click.option("--tokens", help="The prompt as token ids with commas between them, in place of PROMPT.")
@click.option(
    "--chat", is_flag=True, help="Send PROMPT as a chat message, in the format of the model's template."
)
@click.option("--system", help="With --chat: the system text.")
@click.option("--ignore-end", is_flag=True, help="Continue past the model's end-of-text token.")
@text_options
@json_option
def generate_command(
    model: Path,
    prompt: str | None,
    tokens: str | None,
    chat: bool,
    system: str | None,
    ignore_end: bool,
    threads: int | None,
    options: dict[str, Any],
    as_json: bool,
) -> None:
    """Continue a text with a language model.

    MODEL is a .pte of `rushlight export llm`. PROMPT is the text; "-" reads it from stdin. Speed and memory
    are printed on stderr."""
    given = _prompt(prompt, tokens, chat, system)
    text_model = loaded(model, threads)
    generation = text_model.generate(given, ignore_end=ignore_end, **options)
    if as_json:
        echo_json(_as_json(generation))
        return
    show_pieces(generation)
    echo("")
    Console(stderr=True).print(styled(str(generation.statistics), "dim"))


def _prompt(prompt: str | None, tokens: str | None, chat: bool, system: str | None) -> Any:
    if (prompt is None) == (tokens is None):
        raise InvalidArgument(
            "prompt: expected either PROMPT or --tokens, got " + ("neither" if prompt is None else "both"),
            next_step='Give one of them, as in rushlight generate model.pte "Once upon a time".',
        )
    if tokens is not None:
        return _tokens(tokens)
    text = sys.stdin.read() if prompt == "-" else prompt
    if not chat:
        if system is not None:
            raise InvalidArgument("--system: expected --chat beside it, got none", next_step="Add --chat.")
        return text
    opening = [] if system is None else [{"role": "system", "content": system}]
    return [*opening, {"role": "user", "content": text}]


def _tokens(listed: str) -> list[int]:
    try:
        return [int(word) for word in listed.split(",")]
    except ValueError:
        raise InvalidArgument(
            f"--tokens: expected token ids with commas between them, got {listed!r:.80}",
            next_step="Write them as in --tokens 1,15043,3186.",
        ) from None


def _as_json(generation: Generation) -> dict[str, Any]:
    pieces = list(generation)
    return {
        "text": "".join(piece.text for piece in pieces),
        "tokens": [piece.token for piece in pieces if piece.token is not None],
        "finish_reason": generation.finish_reason,
        "statistics": generation.statistics.to_json(),
    }
