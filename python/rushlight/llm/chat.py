# SPDX-License-Identifier: BSD-3-Clause
"""A conversation with a language model."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from rushlight.llm.generation import Generation
from rushlight.llm.options import Options

if TYPE_CHECKING:
    from rushlight.llm.text_model import TextModel

Message = dict[str, str]


def message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


class Chat:
    """A conversation: questions, each answered by the model. The conversation stays in the model's cache, so
    an answer evaluates only the new question. When the context is full, the model forgets the older half,
    except for the system text."""

    def __init__(self, model: TextModel, system: str | None, options: Options) -> None:
        self._model = model
        self._options = options
        self.reset(system)

    def reset(self, system: str | None = None) -> None:
        """Starts a new conversation with another system text."""
        self.system = system
        self.messages: list[Message] = []
        self._keep: int | None = None

    def say(self, text: str) -> Generation:
        """The answer to a question. Both become part of the conversation when the generation ends, also by
        close()."""
        self._model.close()
        question = message("user", text)

        def answered(answer: str) -> None:
            self.messages += [question, message("assistant", answer)]

        options = replace(self._options, shift=True, keep=self._tokens_to_keep())
        return self._model.start(self._opening([*self.messages, question]), options, answered)

    def undo(self) -> bool:
        """Forgets the last question and its answer; False if there is none."""
        self._model.close()
        if not self.messages:
            return False
        del self.messages[-2:]
        return True

    def _opening(self, messages: list[Message]) -> list[Message]:
        return messages if self.system is None else [message("system", self.system), *messages]

    def _tokens_to_keep(self) -> int:
        """The number of leading tokens that all conversations with this system text share; at most half of
        the context."""
        if self._keep is None:
            two = [self._model.tokens_of(self._opening([message("user", text)])) for text in ("a", "1")]
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*two, strict=False)))
            self._keep = min(shared, self._model.context // 2)
        return self._keep
