# SPDX-License-Identifier: BSD-3-Clause
"""Generation of tokens by a tiny language model equals PyTorch's, whatever is in the cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rushlight
from rushlight import llm
from rushlight.errors import InvalidArgument, InvalidProgram, RushlightError
from support.tiny_language_model import (
    BEGIN,
    CHUNK,
    CONTEXT,
    VOCABULARY,
    TinyLanguageModel,
    save_tiny_language_model,
)

pytestmark = pytest.mark.heavy

PROMPT = [1, 5, 9, 11, 30, 22, 7, 8, 40, 41, 3]
GREEDY: dict[str, Any] = {"temperature": 0, "ignore_end": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tiny")


@pytest.fixture(scope="module")
def model(folder: Path) -> TinyLanguageModel:
    return save_tiny_language_model(folder / "tiny.pte")


@pytest.fixture
def text_model(model: TinyLanguageModel, folder: Path) -> llm.TextModel:
    return llm.load(folder / "tiny.pte", threads=1)


def tokens_of(generation: llm.Generation) -> list[int]:
    return [piece.token for piece in generation if piece.token is not None]


@pytest.mark.parametrize("dynamic", [True, False], ids=["chunks", "one token a call"])
@pytest.mark.parametrize("all_logits", [True, False], ids=["all logits", "last logits"])
def test_programs_of_each_form_give_pytorchs_tokens(tmp_path: Path, dynamic: bool, all_logits: bool) -> None:
    path = tmp_path / "tiny.pte"
    reference = save_tiny_language_model(path, dynamic=dynamic, all_logits=all_logits, seed=3)
    generation = llm.load(path, threads=1).generate(PROMPT, max_tokens=20, **GREEDY)
    assert tokens_of(generation) == reference.greedy(PROMPT, 20)
    assert generation.finish_reason == "length"


def test_metadata_is_read(text_model: llm.TextModel) -> None:
    assert (text_model.begin, text_model.ends) == (BEGIN, [2, 3])
    assert (text_model.context, text_model.vocabulary) == (CONTEXT, VOCABULARY)


def test_a_prompt_is_evaluated_in_chunks(text_model: llm.TextModel) -> None:
    generation = text_model.generate(PROMPT, max_tokens=3, **GREEDY)
    assert generation.step() is None, "the first chunk has no token"
    assert text_model.tokens == PROMPT
    assert generation.step() is not None
    assert -(-len(PROMPT) // CHUNK) == 2


def test_the_common_beginning_is_not_evaluated_again(
    text_model: llm.TextModel, model: TinyLanguageModel
) -> None:
    first = text_model.generate(PROMPT, max_tokens=5, **GREEDY)
    answer = tokens_of(first)
    longer = [*PROMPT, *answer, 20, 21]
    second = text_model.generate(longer, max_tokens=5, **GREEDY)
    assert tokens_of(second) == model.greedy(longer, 5)
    # The last token that was sampled is not in the cache.
    assert second.statistics.cached_tokens == len(PROMPT) + 4
    assert second.statistics.evaluated_tokens == 3
    other = [*PROMPT[:6], 33, 34]
    third = text_model.generate(other, max_tokens=5, **GREEDY)
    assert tokens_of(third) == model.greedy(other, 5)
    assert third.statistics.cached_tokens == 6


def test_the_same_prompt_again_evaluates_its_last_token(text_model: llm.TextModel) -> None:
    texts = [tokens_of(text_model.generate(PROMPT, max_tokens=6, **GREEDY)) for _ in range(2)]
    assert texts[0] == texts[1]
    assert text_model.statistics.evaluated_tokens == 1


def test_rewinding_forgets_the_last_tokens(text_model: llm.TextModel, model: TinyLanguageModel) -> None:
    tokens_of(text_model.generate(PROMPT, max_tokens=5, **GREEDY))
    text_model.rewind(4)
    assert text_model.tokens == PROMPT[:4]
    generation = text_model.generate([*text_model.tokens, 17], max_tokens=8, **GREEDY)
    assert tokens_of(generation) == model.greedy([*PROMPT[:4], 17], 8)
    assert generation.statistics.cached_tokens == 4
    with pytest.raises(InvalidArgument, match="rewind: expected at most 13 tokens, got 14"):
        text_model.rewind(14)


def test_a_full_context_ends_the_text(text_model: llm.TextModel, model: TinyLanguageModel) -> None:
    generation = text_model.generate(PROMPT, **GREEDY)
    expected = CONTEXT - len(PROMPT) + 1
    assert tokens_of(generation) == model.greedy(PROMPT, expected)
    assert generation.finish_reason == "context"
    assert list(generation) == []


def test_a_shift_keeps_the_beginning_and_the_newest_half(
    text_model: llm.TextModel, model: TinyLanguageModel
) -> None:
    keep = 5
    expected: list[int] = []
    context = list(PROMPT)
    for _ in range(100):
        if len(context) > CONTEXT:
            context = context[:keep] + context[-((CONTEXT - keep) // 2) :]
        expected += model.greedy(context, 1)
        context.append(expected[-1])
    generation = text_model.generate(PROMPT, max_tokens=100, shift=True, keep=keep, **GREEDY)
    assert tokens_of(generation) == expected
    assert generation.statistics.evaluated_tokens > len(PROMPT)


def test_a_prompt_longer_than_the_context_is_refused_or_shifted(
    text_model: llm.TextModel, model: TinyLanguageModel
) -> None:
    prompt = [i % VOCABULARY for i in range(CONTEXT + 9)]
    with pytest.raises(InvalidArgument, match=r"expected at most 40 tokens \(the context\), got 49"):
        text_model.generate(prompt)
    generation = text_model.generate(prompt, max_tokens=4, shift=True, keep=3, **GREEDY)
    assert tokens_of(generation) == model.greedy(prompt[:3] + prompt[-18:], 4)
    full = text_model.generate(prompt[:CONTEXT], **GREEDY)
    assert tokens_of(full) == model.greedy(prompt[:CONTEXT], 1)


def test_an_end_token_ends_the_text(text_model: llm.TextModel, model: TinyLanguageModel) -> None:
    texts = {first: model.greedy([first], 20) for first in range(4, VOCABULARY)}
    first, expected = next(item for item in texts.items() if {2, 3} & set(item[1][2:]))
    end = next(i for i, token in enumerate(expected) if token in (2, 3))
    generation = text_model.generate([first], temperature=0)
    assert tokens_of(generation) == expected[: end + 1]
    assert generation.finish_reason == "end"


def test_log_probabilities_are_the_models(text_model: llm.TextModel, model: TinyLanguageModel) -> None:
    import torch

    piece = next(text_model.generate(PROMPT, logprobs=True, **GREEDY))
    logits = model(torch.tensor([PROMPT]), torch.tensor([0]))[0].double()
    assert piece.token is not None
    assert piece.logprob == pytest.approx(logits.log_softmax(0)[piece.token].item(), abs=1e-5)
    assert next(text_model.generate(PROMPT, **GREEDY)).logprob is None


def test_a_generation_ends_when_another_begins(text_model: llm.TextModel, model: TinyLanguageModel) -> None:
    first = text_model.generate(PROMPT, **GREEDY)
    next(first)
    second = text_model.generate([5, 6], max_tokens=4, **GREEDY)
    assert first.finish_reason == "cancelled"
    assert list(first) == []
    assert tokens_of(second) == model.greedy([5, 6], 4)
    assert first.statistics.prompt_tokens == len(PROMPT)


def test_two_models_of_one_file_have_caches_of_their_own(folder: Path, model: TinyLanguageModel) -> None:
    program = rushlight.load(folder / "tiny.pte", threads=1)
    pair = [llm.TextModel(program) for _ in range(2)]
    prompts = [PROMPT, [4, 4, 4, 9]]
    texts = [
        each.generate(prompt, max_tokens=9, **GREEDY) for each, prompt in zip(pair, prompts, strict=True)
    ]
    steps = [[next(text).token for text in texts] for _ in range(9)]
    for which, prompt in enumerate(prompts):
        assert [step[which] for step in steps] == model.greedy(prompt, 9)


@pytest.mark.parametrize("prompt", [[], [VOCABULARY], [-1], [1 << 40], [0.5], [None]])
def test_prompts_that_are_none_are_refused(text_model: llm.TextModel, prompt: list[Any]) -> None:
    with pytest.raises(InvalidArgument):
        text_model.generate(prompt)


@pytest.mark.parametrize(
    "option",
    [
        {"max_tokens": 0},
        {"max_tokens": 1.5},
        {"temperature": -1},
        {"temperature": float("nan")},
        {"top_k": -1},
        {"top_p": 1.5},
        {"min_p": "0"},
        {"repetition_penalty": 0},
        {"seed": 1 << 64},
        {"seed": True},
        {"stop": [1]},
        {"shift": True, "keep": CONTEXT - 1},
        {"no_such_option": 1},
    ],
)
def test_options_out_of_range_are_refused(text_model: llm.TextModel, option: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        text_model.generate(PROMPT, **option)


def test_programs_that_are_no_language_models_are_refused(folder: Path, tmp_path: Path) -> None:
    import torch

    class Doubles(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + x

    path = tmp_path / "doubles.pte"
    rushlight.export(Doubles(), (torch.zeros(3),)).save(path)
    with pytest.raises(InvalidProgram, match="expected inputs tokens and input_pos"):
        llm.load(path)


class Metadata:
    """Programs whose metadata is wrong, with what is said of it."""

    CASES = (
        ({"get_max_context_len": 0}, "get_max_context_len: expected 1 to"),
        ({"get_max_context_len": 0.5}, "get_max_context_len: expected an integer, got a Double"),
        ({"get_eos_ids": (2, VOCABULARY)}, "get_eos_ids: expected a token below 46, got 46"),
        ({"get_vocab_size": VOCABULARY + 1}, "get_vocab_size: expected 1 to 46, got 47"),
        ({"get_max_context_len": None, "get_max_seq_len": None}, "expected a method get_max_seq_len"),
    )


@pytest.mark.parametrize(("metadata", "words"), Metadata.CASES)
def test_wrong_metadata_is_refused(tmp_path: Path, metadata: dict[str, Any], words: str) -> None:
    path = tmp_path / "wrong.pte"
    save_tiny_language_model(path, metadata=metadata)
    with pytest.raises(RushlightError, match=words):
        llm.load(path)


def test_a_context_that_is_larger_than_the_cache_is_an_error_not_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "wrong.pte"
    save_tiny_language_model(path, metadata={"get_max_context_len": 10 * CONTEXT})
    with pytest.raises(RushlightError):
        tokens_of(llm.load(path, threads=1).generate(PROMPT, max_tokens=2 * CONTEXT, **GREEDY))
