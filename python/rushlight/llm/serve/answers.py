# SPDX-License-Identifier: BSD-3-Clause
"""Builds answers in OpenAI's format: complete ones, and the chunks of streams."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from rushlight.llm.generation import FinishReason
from rushlight.llm.statistics import Statistics

_REASONS: dict[FinishReason, str] = {
    "end": "stop",
    "stop": "stop",
    "length": "length",
    "context": "length",
    "cancelled": "stop",
}


@dataclass(frozen=True)
class Form:
    """The answers of one request."""

    model: str
    is_chat: bool
    id: str = field(default_factory=lambda: secrets.token_hex(12))
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, text: str, reason: FinishReason, statistics: Statistics) -> dict[str, Any]:
        """The complete answer."""
        content = {"message": {"role": "assistant", "content": text}} if self.is_chat else {"text": text}
        return self._around([self._choice(content, _REASONS[reason])], usage=usage(statistics))

    def first(self) -> dict[str, Any] | None:
        """The first event of a stream; None for a completion, which begins with its text."""
        return self._chunk({"delta": {"role": "assistant", "content": ""}}) if self.is_chat else None

    def piece(self, text: str) -> dict[str, Any]:
        return self._chunk({"delta": {"content": text}} if self.is_chat else {"text": text})

    def last(self, reason: FinishReason) -> dict[str, Any]:
        return self._chunk({"delta": {}} if self.is_chat else {"text": ""}, _REASONS[reason])

    def usage(self, statistics: Statistics) -> dict[str, Any]:
        """The chunk with token counts, sent after the last one if the client requested it."""
        return self._around([], usage=usage(statistics), streams=True)

    def _chunk(self, content: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return self._around([self._choice(content, reason)], streams=True)

    @staticmethod
    def _choice(content: dict[str, Any], reason: str | None) -> dict[str, Any]:
        return {"index": 0, **content, "logprobs": None, "finish_reason": reason}

    def _around(self, choices: list[Any], *, streams: bool = False, **others: Any) -> dict[str, Any]:
        kind = "text_completion"
        if self.is_chat:
            kind = "chat.completion.chunk" if streams else "chat.completion"
        prefix = "chatcmpl" if self.is_chat else "cmpl"
        return {
            "id": f"{prefix}-{self.id}",
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
            **others,
        }


def usage(statistics: Statistics) -> dict[str, Any]:
    """The token counts of prompt and answer."""
    prompt, answer = statistics.prompt_tokens, statistics.generated_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
        "prompt_tokens_details": {"cached_tokens": statistics.cached_tokens},
    }


def model_entry(name: str, created: int) -> dict[str, Any]:
    """An entry of /v1/models."""
    return {"id": name, "object": "model", "created": created, "owned_by": "rushlight"}
