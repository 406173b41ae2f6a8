# SPDX-License-Identifier: BSD-3-Clause
"""The native generator of a language model, for rushlight.llm; see runtime/llm/text_generator.h."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from rushlight.runtime import native


class TextGenerator:
    """Generates tokens from tokens. Computing releases Python's lock; calls from several threads run one
    after another. Raises InvalidArgument, and the errors of kernels."""

    def __init__(self, module: ModuleType, generator: Any) -> None:
        self._module = module
        self._generator = generator
        self.facts: dict[str, Any] = generator.facts()
        """The program's description of its model: TextFacts in the native module's stub."""

    def encode(self, prompt: str) -> list[int]:
        """The tokens of a text to continue."""
        result: list[int] = native.call(self._module, self._generator.encode, _utf8(prompt))
        return result

    def encode_chat(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """The tokens of a conversation (roles and contents), up to its next answer."""
        pairs = [(role, _utf8(content)) for role, content in messages]
        result: list[int] = native.call(self._module, self._generator.encode_chat, pairs)
        return result

    def begin(self, prompt: Sequence[int], options: dict[str, Any]) -> None:
        """Begins a text without evaluating it."""
        native.call(self._module, self._generator.begin, prompt, options)

    def step(self) -> tuple[bytes, int | None, float, int]:
        """Evaluates a part of the prompt, or samples a token. Returns the text completed by it, the token or
        None, its log probability, and the value of the C++ Finish."""
        result: tuple[bytes, int | None, float, int] = native.call(self._module, self._generator.step)
        return result

    def rewind(self, count: int) -> None:
        """Keeps the first `count` tokens."""
        native.call(self._module, self._generator.rewind, count)

    def tokens(self) -> list[int]:
        """The tokens in the cache, and the last sampled one."""
        result: list[int] = native.call(self._module, self._generator.tokens)
        return result

    def statistics(self) -> dict[str, int]:
        """Tokens and nanoseconds since begin()."""
        result: dict[str, int] = native.call(self._module, self._generator.statistics)
        return result


def _utf8(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot encode, replaced by `?`."""
    return text.encode("utf-8", "replace").decode()
