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
    """A program's language model with its own cache. A prompt that shares a prefix with the cache is
    evaluated from the first difference. Use by one thread at a time."""

    def __init__(self, program: Program) -> None:
        self._native = program.load_text_generator()
        facts = self._native.facts
        self.begin: int | None = facts["begin"]
        """The token that begins a text; None if the program names none."""
        self.ends: list[int] = facts["ends"]
        """The tokens that end a text."""
        self.context: int = facts["context"]
        """Capacity of the cache in tokens, for prompt and generated text together."""
        self.vocabulary: int = facts["vocabulary"]
        """The number of different tokens."""
        self.takes_text: bool = facts["takes_text"]
        """True if the program has a vocabulary; otherwise prompts are tokens and pieces have no text."""
        self.takes_messages: bool = facts["takes_messages"]
        """True if the program also has a chat template."""
        self.generation: Generation | None = None
        """The generation that began last."""

    def generate(self, prompt: Prompt, **options: Any) -> Generation:
        """The text that follows a prompt: a string, tokens, or messages ({"role": ..., "content": ...}) of a
        chat. The keywords are the fields of rushlight.llm.Options. Ends the previous generation.

        Raises InvalidArgument for an option out of range, an unknown token, or more tokens than the
        context holds (unless `shift`).
        """
        return self.start(prompt, options_of(options))

    def start(
        self, prompt: Prompt, options: Options, finished: Callable[[str], None] | None = None
    ) -> Generation:
        """generate() with existing options; `finished` is called with the whole text at the end."""
        tokens = self.tokens_of(prompt)
        self.close()
        self._native.begin(tokens, options.for_native())
        self.generation = Generation(self, options.logprobs, finished)
        return self.generation

    def close(self) -> None:
        """Ends the current generation, if any."""
        if self.generation is not None:
            self.generation.close()

    def chat(self, system: str | None = None, **options: Any) -> Chat:
        """A conversation; takes the options of generate()."""
        return Chat(self, system, options_of(options))

    def tokens_of(self, prompt: Prompt) -> list[int]:
        """The prompt as tokens. Raises InvalidArgument for an unknown token, text for a program without a
        vocabulary, messages for a program without a chat template, and a role unknown to the template."""
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
        """The tokens of the prompt and the text so far; a prompt that begins with them continues the text."""
        return self._native.tokens()

    def rewind(self, count: int) -> None:
        """Keeps the first `count` tokens and ends the generation. Raises InvalidArgument if there are
        fewer."""
        if count < 0:
            raise InvalidArgument(f"rewind: expected at least 0 tokens, got {count}")
        self.close()
        self._native.rewind(count)

    @property
    def statistics(self) -> Statistics:
        """The statistics of the generation that began last."""
        return Statistics.of(self._native.statistics())

    def native_step(self) -> tuple[bytes, int | None, float, int]:
        """One step of the native generator, for Generation."""
        return self._native.step()


def _pair(message: Any) -> tuple[str, str]:
    """The role and content of a message."""
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
    """Opens a program (.pte, a path or its bytes) as a language model. `threads` share the work, by default
    one per physical core; results do not depend on the number. The other options are passed to
    rushlight.load. Raises InvalidProgram, InvalidArgument, UnsupportedFeature."""
    return TextModel(loading.load(source, threads=threads, **options))
