# SPDX-License-Identifier: BSD-3-Clause
"""Converts conversations to prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rushlight.errors import InvalidArgument
from rushlight.runtime.native import call, default_module

if TYPE_CHECKING:
    from rushlight import _runtime
    from rushlight.llm.tokenizer import Tokenizer


class ChatTemplate:
    """A model's format of conversations, from the named data `rushlight.chat_template` of its program.

        template = ChatTemplate(blob)
        tokens = template.encode([{"role": "user", "content": "Hello"}], tokenizer)

    Errors: InvalidExternalData where the blob is damaged.
    """

    def __init__(self, blob: bytes) -> None:
        module = default_module()
        self._native: _runtime.ChatTemplate = call(module, module.ChatTemplate, bytes(blob))

    def render(self, messages: Sequence[Mapping[str, str]], *, generation_prompt: bool = True) -> str:
        """The prompt for the assistant's next message. With `generation_prompt` it ends with the beginning of
        that message. Errors: InvalidArgument for a message without role or content, for a role other than
        system, user and assistant, and for a system message that is not the first."""
        text: str = call(default_module(), self._native.render, _pairs(messages), generation_prompt)
        return text

    def encode(
        self, messages: Sequence[Mapping[str, str]], tokenizer: Tokenizer, *, generation_prompt: bool = True
    ) -> list[int]:
        """The tokens of the prompt. Special tokens within messages are encoded as plain text, so a message
        cannot end itself. Errors: as `render`."""
        native = tokenizer.native
        tokens: list[int] = call(
            default_module(), self._native.encode, _pairs(messages), generation_prompt, native
        )
        return tokens


def _pairs(messages: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    pairs = []
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if not isinstance(role, str) or not isinstance(content, str):
            raise InvalidArgument(f"message: expected texts role and content, got {message!r:.80}")
        pairs.append((role, content))
    return pairs
