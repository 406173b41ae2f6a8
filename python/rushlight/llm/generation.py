# SPDX-License-Identifier: BSD-3-Clause
"""A text during its generation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rushlight.llm.statistics import Statistics

if TYPE_CHECKING:
    from rushlight.llm.text_model import TextModel

FinishReason = Literal["end", "stop", "length", "context", "cancelled"]
_REASONS: dict[int, FinishReason] = {1: "end", 2: "stop", 3: "length", 4: "context", 5: "cancelled"}


@dataclass(frozen=True)
class Piece:
    """A token, and the text that it completes: whole characters; empty while a character is incomplete or the
    text may begin a stop text. `token` is None for text without a token, at the end. `logprob` is None
    unless requested."""

    text: str
    token: int | None
    logprob: float | None = None


class Generation(Iterator[Piece]):
    """The pieces of a text, each computed on request. `finish_reason` is None before the end, then "end" (the
    model's end token), "stop" (a stop text), "length" (max_tokens), "context" (the context is full) or
    "cancelled" (close() was called, or another generation began)."""

    def __init__(
        self, model: TextModel, logprobs: bool, finished: Callable[[str], None] | None = None
    ) -> None:
        self._model = model
        self._logprobs = logprobs
        self._finished = finished
        self._text = ""  # for `finished`
        self.has_text = model.takes_text
        """True if pieces have text; otherwise they have only tokens."""
        self._statistics: Statistics | None = None
        self.finish_reason: FinishReason | None = None

    def __next__(self) -> Piece:
        while self.finish_reason is None:
            if (piece := self.step()) is not None:
                return piece
        raise StopIteration

    def step(self) -> Piece | None:
        """The next piece; None after evaluating a part of the prompt, and at the end."""
        if self.finish_reason is not None:
            return None
        text, token, logprob, finish = self._model.native_step()
        shown = text.decode("utf-8", "replace")
        if self._finished is not None:
            self._text += shown
        if finish:
            self._finish(_REASONS[finish])
        if token is None and not text:
            return None
        return Piece(shown, token, logprob if self._logprobs and token is not None else None)

    def read(self) -> str:
        """The rest of the text."""
        return "".join(piece.text for piece in self)

    def close(self) -> None:
        """Ends the generation. The text generated so far stays in the model's cache."""
        if self.finish_reason is None:
            self._finish("cancelled")

    @property
    def statistics(self) -> Statistics:
        """The statistics of this text so far."""
        return self._statistics or self._model.statistics

    def _finish(self, reason: FinishReason) -> None:
        self._statistics = self._model.statistics
        self.finish_reason = reason
        if self._finished is not None:
            self._finished(self._text)
