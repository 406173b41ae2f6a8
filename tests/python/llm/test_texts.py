# SPDX-License-Identifier: BSD-3-Clause
"""Texts and conversations of a tiny language model with a vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rushlight
from rushlight import llm
from rushlight.errors import InvalidArgument, RushlightError
from rushlight.program import read_program
from support.tiny_language_model import CONTEXT, save_tiny_language_model
from support.tiny_vocabulary import SPECIAL, TEXTS, add_texts, text_of

pytestmark = pytest.mark.heavy

FREE: dict[str, Any] = {"temperature": 5, "top_k": 0, "top_p": 1, "min_p": 0, "ignore_end": True}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "tiny.pte"
    save_tiny_language_model(path)
    add_texts(path)
    return path


@pytest.fixture
def model(path: Path) -> llm.TextModel:
    return llm.load(path, threads=1)


def test_a_text_begins_with_its_token_and_may_have_special_ones(model: llm.TextModel) -> None:
    assert (model.takes_text, model.takes_messages) == (True, True)
    assert model.tokens_of("a<user>b") == [1, 6, SPECIAL.index("<user>"), 7]


@pytest.mark.parametrize("seed", range(10))
def test_pieces_are_whole_characters_and_add_up(model: llm.TextModel, seed: int) -> None:
    pieces = list(model.generate("then", seed=seed, max_tokens=30, **FREE))
    tokens = [piece.token for piece in pieces if piece.token is not None]
    assert "".join(piece.text for piece in pieces) == text_of(tokens)
    assert len(tokens) == 30


def test_a_character_of_several_tokens_comes_at_once(model: llm.TextModel) -> None:
    bytes_of_it = [TEXTS.index(b"\xc3"), TEXTS.index(b"\xa9")]
    found = 0
    for seed in range(800):
        pieces = list(model.generate("a", seed=seed, max_tokens=30, **FREE))
        tokens = [piece.token for piece in pieces]
        for at in range(len(tokens) - 1):
            if tokens[at : at + 2] == bytes_of_it:
                assert pieces[at + 1].text == "é"
                found += 1
    assert found > 0


def test_the_same_seed_gives_the_same_text(model: llm.TextModel) -> None:
    texts = [model.generate("then", seed=seed, max_tokens=20, **FREE).read() for seed in (1, 2, 1)]
    assert texts[0] == texts[2] != texts[1]
    assert len({model.generate("then", max_tokens=20, **FREE).read() for _ in range(3)}) > 1


def test_a_stop_text_ends_the_text_wherever_tokens_end(model: llm.TextModel) -> None:
    text = model.generate("then", seed=3, max_tokens=25, **FREE).read()
    for begin in range(1, 12):
        for length in (1, 2, 3):
            stop = text[begin : begin + length]
            generation = model.generate("then", seed=3, max_tokens=25, stop=[stop, "~~"], **FREE)
            assert generation.read() == text[: text.find(stop)]
            assert generation.finish_reason == "stop"


def test_what_may_begin_a_stop_text_comes_at_the_end(model: llm.TextModel) -> None:
    text = model.generate("then", seed=3, max_tokens=10, **FREE).read()
    generation = model.generate("then", seed=3, max_tokens=10, stop=text[-2:] + "~", **FREE)
    pieces = list(generation)
    assert "".join(piece.text for piece in pieces) == text
    assert generation.finish_reason == "length"


def test_a_conversation_grows_in_the_cache(model: llm.TextModel) -> None:
    chat = model.chat(system="ant", seed=5, max_tokens=4, **FREE)
    first = chat.say("hi").read()
    assert chat.messages == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": first},
    ]
    evaluated = model.statistics.evaluated_tokens
    second = chat.say("th")
    second.read()
    assert second.statistics.cached_tokens >= evaluated
    assert model.tokens_of([{"role": "system", "content": "ant"}, *chat.messages])[:-1] is not None
    assert chat.undo() and len(chat.messages) == 2
    assert chat.undo() and chat.messages == []
    assert not chat.undo()
    again = chat.say("hi").read()
    assert again == first
    chat.reset("bee")
    assert (chat.system, chat.messages) == ("bee", [])


def test_an_answer_that_is_broken_off_stays_in_the_conversation(model: llm.TextModel) -> None:
    chat = model.chat(seed=5, **FREE)
    answer = chat.say("hi")
    begun = "".join(next(answer).text for _ in range(3))
    answer.close()
    assert chat.messages[-1] == {"role": "assistant", "content": begun}
    other = chat.say("a")
    next(other)
    chat.say("b")  # breaks off the answer before
    assert [message["content"] for message in chat.messages if message["role"] == "user"] == ["hi", "a"]


def test_a_long_conversation_forgets_its_older_half(model: llm.TextModel) -> None:
    chat = model.chat(system="ant", seed=1, max_tokens=12, **FREE)
    opening = model.tokens_of([{"role": "system", "content": "ant"}])
    for question in ("one", "two", "three", "four", "five"):
        chat.say(question).read()
        assert len(model.tokens) <= CONTEXT + 1
        assert model.tokens[:3] == opening[:3]
    assert len(chat.messages) == 10


@pytest.mark.parametrize(
    "prompt",
    [
        [{"role": "wizard", "content": "x"}],
        [{"role": "user"}],
        [{"role": "user", "content": 5}],
        [{"role": "user", "content": "x"}, 5],
        [{"role": "user", "content": "x"}, {"role": "system", "content": "x"}],
    ],
)
def test_messages_that_are_none_are_refused(model: llm.TextModel, prompt: list[Any]) -> None:
    with pytest.raises(InvalidArgument):
        model.generate(prompt)


def test_programs_without_texts_say_so(tmp_path: Path) -> None:
    path = tmp_path / "tiny.pte"
    save_tiny_language_model(path)
    with pytest.raises(RushlightError, match="the program has no vocabulary"):
        llm.load(path).generate("text")
    add_texts(path, with_template=False)
    model = llm.load(path)
    assert (model.takes_text, model.takes_messages) == (True, False)
    with pytest.raises(RushlightError, match="the program has no chat template"):
        model.generate([{"role": "user", "content": "x"}])


def test_damaged_texts_are_refused(path: Path, tmp_path: Path) -> None:
    data = bytearray(path.read_bytes())
    for key, index in read_program(bytes(data)).named_data:
        assert key.startswith("rushlight.")
        blob = bytes(read_program(bytes(data)).segment(index))
        at = data.find(blob)
        damaged = data[: at + 4] + b"\xff\xff\xff\x7f" * 2 + data[at + 12 :]
        (tmp_path / "damaged.pte").write_bytes(damaged)
        with pytest.raises(RushlightError):
            llm.load(tmp_path / "damaged.pte")


def test_texts_are_kept_by_conversion(path: Path) -> None:
    program = rushlight.load(path, integers=True, threads=1)
    assert llm.TextModel(program).takes_messages
