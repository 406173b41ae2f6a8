# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the official llama example, whatever their cache: prompts continue as from the start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rushlight import llm

pytestmark = pytest.mark.heavy

INTEROP = Path(__file__).parents[2] / "interop"
PROGRAMS = sorted(INTEROP.glob("llama_*/*.pte"))
GREEDY: dict[str, Any] = {"temperature": 0, "ignore_end": True}
PROMPT = [1, 2, 3, 4, 5]


def tokens_of(model: llm.TextModel, prompt: list[int], **options: Any) -> list[int | None]:
    return [piece.token for piece in model.generate(prompt, **options, **GREEDY)]


def fresh(path: Path) -> llm.TextModel:
    return llm.load(path, threads=1)


@pytest.mark.parametrize("path", PROGRAMS, ids=[path.parent.name for path in PROGRAMS])
def test_a_prompt_continues_as_from_the_start(path: Path) -> None:
    model = fresh(path)
    answer = tokens_of(model, PROMPT)
    assert len(answer) == model.context - len(PROMPT) + 1
    assert len(set(answer)) > 3
    other = [*PROMPT, 9, 8, 7, 6]
    assert tokens_of(model, other, max_tokens=9) == tokens_of(fresh(path), other, max_tokens=9)
    # A ring of keys and values cannot go back.
    assert model.statistics.cached_tokens == (0 if "ring" in path.parent.name else len(PROMPT))
    longer = [*model.tokens, 3]
    assert tokens_of(model, longer, max_tokens=3) == tokens_of(fresh(path), longer, max_tokens=3)
    assert model.statistics.cached_tokens == len(longer) - 2


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 5
