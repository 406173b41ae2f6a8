# SPDX-License-Identifier: BSD-3-Clause
"""rushlight chat"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from rushlight.cli.console import Console, echo, styled
from rushlight.cli.text_options import loaded, show_pieces, text_options
from rushlight.cli.values import FILE
from rushlight.errors import InvalidArgument
from rushlight.llm import Chat, TextModel

_HELP = """\
/help           show this list
/reset          forget the conversation, but keep the system text
/undo           forget the last question and its answer
/system TEXT    start a new conversation with this system text; without TEXT, with none
/stats          show tokens, times and memory of the last answer
/exit           leave, as Ctrl-D does; Ctrl-C stops an answer"""


@click.command("chat", epilog="Example: rushlight chat smollm2.pte")
@click.argument("model", type=FILE)
@click.option("--system", help="System text, in front of the conversation.")
@text_options
def chat_command(model: Path, system: str | None, threads: int | None, options: dict[str, Any]) -> None:
    """Talk to a language model in the terminal.

    MODEL is a .pte with a chat template. Each line is a message; /help lists the commands. Earlier messages
    stay in the model's cache, so an answer evaluates the new message only."""
    text_model = loaded(model, threads)
    if not text_model.takes_messages:
        raise InvalidArgument(
            f"model {model}: expected a chat template, got a program without one",
            next_step="Export the model from files that have one, or use `rushlight generate`.",
        )
    session = _Session(text_model, text_model.chat(system, **options))
    while (line := session.read()) is not None:
        session.do(line)


class _Session:
    """A conversation with lines from a terminal or a pipe."""

    def __init__(self, model: TextModel, chat: Chat) -> None:
        self._model = model
        self._chat = chat
        self._notes = Console(stderr=True)
        self._is_terminal = sys.stdin.isatty()
        if self._is_terminal:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  (input() then edits lines and has a history)
            self._note("/help lists the commands")

    def read(self) -> str | None:
        """The next line; None at the end."""
        try:
            return input("> " if self._is_terminal else "")
        except EOFError:
            return None
        except KeyboardInterrupt:
            self._note("\n/exit leaves")
            return ""

    def do(self, line: str) -> None:
        """Answers a message, or runs a command."""
        word, _, rest = line.strip().partition(" ")
        if not word.startswith("/"):
            if line.strip():
                self._answer(line)
            return
        if word == "/exit":
            raise click.exceptions.Exit(0)
        commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: echo(_HELP),
            "/reset": lambda _: self._chat.reset(self._chat.system),
            "/undo": self._undo,
            "/system": lambda text: self._chat.reset(text.strip() or None),
            "/stats": self._stats,
        }
        command = commands.get(word)
        if command is None:
            self._note(f"{word}: expected a command; /help lists them")
        else:
            command(rest)

    def _answer(self, line: str) -> None:
        try:
            answer = self._chat.say(line)
        except InvalidArgument as error:
            self._note(error.message)
            return
        try:
            show_pieces(answer)
        except KeyboardInterrupt:
            answer.close()
        echo("")
        numbers = answer.statistics
        stopped = "stopped, " if answer.finish_reason == "cancelled" else ""
        self._note(
            f"{stopped}{numbers.generated_tokens} tokens at {numbers.decode_rate:,.1f}/s, first after "
            f"{numbers.first_token_seconds * 1000:,.0f} ms, context {len(self._model.tokens):,} of "
            f"{self._model.context:,}, peak memory {numbers.peak_memory / 1e6:,.0f} MB"
        )

    def _undo(self, _rest: str) -> None:
        self._note("forgotten" if self._chat.undo() else "there is no message to forget")

    def _stats(self, _rest: str) -> None:
        self._note(str(self._model.statistics))

    def _note(self, words: str) -> None:
        self._notes.print(styled(words, "dim"))
