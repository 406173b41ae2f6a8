# SPDX-License-Identifier: BSD-3-Clause
"""A language model: a program with a method forward(tokens, input_pos) and a cache."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rushlight.convert import loading
from rushlight.errors import InvalidArgument
from rushlight.llm.chat import Chat
from rushlight.llm.generation import Generation
from rushlight.llm.options import Options
from rushlight.llm.statistics import Statistics
from rushlight.runtime import Program
from rushlight.runtime.program import ProgramSource

Messages = Sequence[Mapping[str, str]]
Prompt = str | Sequence[int] | Messages


class TextModel:
    """A program's language model with a cache of its own. Prompts that begin as what the cache holds are
    evaluated from where they differ. One thread at a time."""

    def __init__(self, program: Program) -> None:
        self._native = program.load_text_generator()
        facts = self._native.facts
        self.begin: int | None = facts["begin"]
        """The token that begins a text, where the program names one."""
        self.ends: list[int] = facts["ends"]
        """Tokens that end a text."""
        self.context: int = facts["context"]
        """Tokens that the cache holds: of the prompt and the generated text together."""
        self.vocabulary: int = facts["vocabulary"]
        """The number of tokens there are."""
        self.takes_text: bool = facts["takes_text"]
        """True if the program has a vocabulary; otherwise prompts are tokens, and pieces have no text."""
        self.takes_messages: bool = facts["takes_messages"]
        """True if it has a chat template, too."""
        self.generation: Generation | None = None
        """The one that was begun last."""

    def generate(self, prompt: Prompt, **options: Any) -> Generation:
        """The text behind a prompt: a text, tokens, or messages ({"role": ..., "content": ...}) of a chat.
        The keywords are the fields of rushlight.llm.Options. Ends the generation before.

        Raises InvalidArgument: an option out of range, a token that there is not, more tokens than the
        context holds (unless `shift`).
        """
        return self.start(prompt, options_of(options))

    def start(
        self, prompt: Prompt, options: Options, finished: Callable[[str], None] | None = None
    ) -> Generation:
        """generate() with options made before; `finished` is called with the whole text when it has ended."""
        tokens = self.tokens_of(prompt)
        self.close()
        self._native.begin(tokens, options.for_native())
        self.generation = Generation(self, options.logprobs, finished)
        return self.generation

    def close(self) -> None:
        """Ends the generation, if one was begun."""
        if self.generation is not None:
            self.generation.close()

    def chat(self, system: str | None = None, **options: Any) -> Chat:
        """A conversation; the options are those of generate()."""
        return Chat(self, system, options_of(options))

    def tokens_of(self, prompt: Prompt) -> list[int]:
        """The prompt as tokens. Raises InvalidArgument: a token that there is not, text for a program without
        a vocabulary, messages for one without a chat template, a role that the template does not know."""
        if isinstance(prompt, str):
            return self._native.encode(prompt)
        if prompt and isinstance(prompt[0], Mapping):
            return self._native.encode_chat([_pair(message) for message in prompt])
        try:
            tokens = [operator.index(token) for token in prompt]  # type: ignore[arg-type]
        except TypeError:
            raise InvalidArgument(f"prompt: expected tokens, got {prompt!r:.80}") from None
        if unknown := [token for token in tokens if not 0 <= token < self.vocabulary]:
            raise InvalidArgument(
                f"prompt: expected tokens from 0 to {self.vocabulary - 1}, got {unknown[0]}"
            )
        return tokens

    @property
    def tokens(self) -> list[int]:
        """Those of the prompt and the text so far, which a prompt may continue."""
        return self._native.tokens()

    def rewind(self, count: int) -> None:
        """Keeps the first `count` tokens and ends the generation. Raises InvalidArgument: there are fewer."""
        if count < 0:
            raise InvalidArgument(f"rewind: expected at least 0 tokens, got {count}")
        self.close()
        self._native.rewind(count)

    @property
    def statistics(self) -> Statistics:
        """The statistics of the generation that was begun last."""
        return Statistics.of(self._native.statistics())

    def native_step(self) -> tuple[bytes, int | None, float, int]:
        """For Generation."""
        return self._native.step()


def _pair(message: Any) -> tuple[str, str]:
    """Role and content."""
    role, content = (
        message.get(key) if isinstance(message, Mapping) else None for key in ("role", "content")
    )
    if not isinstance(role, str) or not isinstance(content, str):
        raise InvalidArgument(f"message: expected texts role and content, got {message!r:.80}")
    return role, content


def options_of(given: Mapping[str, Any]) -> Options:
    """Options from keywords."""
    try:
        return Options(**given)
    except TypeError as error:
        raise InvalidArgument(f"generate: {error}") from None


def load(source: ProgramSource, *, threads: int | None = None, **options: Any) -> TextModel:
    """Opens a program (.pte, a path or its bytes) as a language model. `threads` is how many share the work,
    by default as many as there are physical cores; results do not depend on it. The other options are those
    of rushlight.load. Raises InvalidProgram, InvalidArgument, UnsupportedFeature."""
    return TextModel(loading.load(source, threads=threads, **options))
