# SPDX-License-Identifier: BSD-3-Clause
"""The native generator of a language model, for rushlight.llm; see runtime/llm/text_generator.h."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from rushlight.runtime import native


class TextGenerator:
    """Tokens in, tokens out. Python's lock is free while it computes; calls from several threads go one after
    another. Raises InvalidArgument, and whatever a kernel refuses."""

    def __init__(self, module: ModuleType, generator: Any) -> None:
        self._module = module
        self._generator = generator
        self.facts: dict[str, Any] = generator.facts()
        """What the program says of its model: TextFacts of the native module's stub."""

    def encode(self, prompt: str) -> list[int]:
        """The tokens of a text that is to be continued."""
        result: list[int] = native.call(self._module, self._generator.encode, _utf8(prompt))
        return result

    def encode_chat(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """The tokens of a conversation, roles and contents, for its next answer."""
        pairs = [(role, _utf8(content)) for role, content in messages]
        result: list[int] = native.call(self._module, self._generator.encode_chat, pairs)
        return result

    def begin(self, prompt: Sequence[int], options: dict[str, Any]) -> None:
        """Begins a text; evaluates nothing."""
        native.call(self._module, self._generator.begin, prompt, options)

    def step(self) -> tuple[bytes, int | None, float, int]:
        """Evaluates a part of the prompt, or samples a token: the text that became certain, the token or
        None, its log probability, and the number of the C++ Finish."""
        result: tuple[bytes, int | None, float, int] = native.call(self._module, self._generator.step)
        return result

    def rewind(self, count: int) -> None:
        """Keeps the first `count` tokens."""
        native.call(self._module, self._generator.rewind, count)

    def tokens(self) -> list[int]:
        """Those of the cache, and the one that was sampled last."""
        result: list[int] = native.call(self._module, self._generator.tokens)
        return result

    def statistics(self) -> dict[str, int]:
        """Tokens and nanoseconds since begin()."""
        result: dict[str, int] = native.call(self._module, self._generator.statistics)
        return result


def _utf8(text: str) -> str:
    """Text that UTF-8 can write: halves of characters become `?`."""
    return text.encode("utf-8", "replace").decode()
