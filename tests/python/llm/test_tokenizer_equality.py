# SPDX-License-Identifier: BSD-3-Clause
"""Tokens and texts equal the results of the package `tokenizers`, for all kinds of vocabularies."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Reference

from rushlight.llm import ChatTemplate, Tokenizer
from rushlight.llm.template import compile_template
from rushlight.llm.vocabulary import from_tokenizer_json
from support.samples import sampled
from support.scripts_text import text_of_all_scripts
from support.trained_tokenizers import FORMS, trained

pytestmark = pytest.mark.heavy


@cache
def ours(form: str) -> Tokenizer:
    return Tokenizer(from_tokenizer_json(json.loads(trained(form).to_str())))


def assert_equal(reference: Reference, tokenizer: Tokenizer, text: str, parse_special: bool = True) -> None:
    """The same tokens, and the same text of them; what differs first is shown."""
    reference.encode_special_tokens = not parse_special
    expected = reference.encode(text, add_special_tokens=False).ids
    got = tokenizer.encode(text, parse_special=parse_special)
    if got != expected:
        at = next(
            (i for i, (a, b) in enumerate(zip(got, expected, strict=False)) if a != b),
            min(len(got), len(expected)),
        )
        around = [
            [tokenizer.bytes_of(t) for t in tokens[max(0, at - 3) : at + 4]] for tokens in (got, expected)
        ]
        raise AssertionError(f"token {at}: {around[0]}, expected {around[1]}")
    for skip in (True, False):
        decoded = reference.decode(expected, skip_special_tokens=skip)
        assert tokenizer.decode(expected, skip_special=skip) == decoded
        assert "".join(tokenizer.stream(expected, skip_special=skip)) == decoded


# Continuous integration takes each form with special tokens, and some without them.
@pytest.mark.parametrize(
    ("form", "parse_special"),
    sampled(
        [(form, parse_special) for form in FORMS for parse_special in (True, False)],
        7,
        name=lambda case: f"{case[0]}-{case[1]}",
        always=lambda case: case[1],
    ),
)
def test_tokens_equal_the_reference(form: str, parse_special: bool) -> None:
    text = text_of_all_scripts()
    assert len(text.encode()) > 300_000
    assert_equal(trained(form), ours(form), text, parse_special)


@pytest.mark.parametrize("form", FORMS)
def test_tokens_of_short_texts_equal_the_reference(form: str) -> None:
    text = text_of_all_scripts(seed=2, words_per_block=4)
    for begin in range(0, len(text), 97):
        assert_equal(trained(form), ours(form), text[begin : begin + 1 + begin % 97])


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=40))
def test_tokens_of_any_text_equal_the_reference(form: str, text: str) -> None:
    assert_equal(trained(form), ours(form), text)


_PIECES = [
    " ",
    "  ",
    "\n",
    "'s",
    "'\u017f",
    "mask",
    "[R]",
    "word",
    "tool",
    "<s>",
    "<|im_start|>",
    "x",
    "\u2581",
    "1",
    "e\u0301",
    "ab",
    ".",
]


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=60, deadline=None)
@given(pieces=st.lists(st.sampled_from(_PIECES), max_size=12))
def test_tokens_of_special_pieces_equal_the_reference(form: str, pieces: list[str]) -> None:
    assert_equal(trained(form), ours(form), "".join(pieces))


@pytest.mark.parametrize("form", ["gpt2", "llama3", "gpt4o", "llama2", "gemma"])
def test_decoding_gives_the_text_back(form: str) -> None:
    tokenizer = ours(form)
    text = text_of_all_scripts(seed=3, words_per_block=3).replace("\u2581", "_")
    assert tokenizer.decode(tokenizer.encode(text), skip_special=False) == text


def test_texts_begin_and_end_with_the_tokens_of_the_post_processor() -> None:
    for form in ("llama3", "llama2", "gpt2"):
        assert ours(form).encode("a b", add_special=True) == trained(form).encode("a b").ids


@pytest.mark.parametrize("form", ["gpt2", "llama2", "unigram"])
def test_damaged_blobs_are_refused_or_read(form: str) -> None:
    """Each byte of the tables' beginnings, and bytes all over the blob: an error, or tokens that decode."""
    from rushlight.errors import RushlightError

    blob = from_tokenizer_json(json.loads(trained(form).to_str()))
    refused = 0
    positions = [*range(0, 1000, 3), *range(1000, len(blob), max(1, len(blob) // 500))]
    for position in positions:
        damaged = bytearray(blob)
        damaged[position] ^= 0x81
        try:
            tokenizer = Tokenizer(bytes(damaged))
        except RushlightError as error:
            assert "vocabulary:" in str(error)
            refused += 1
            continue
        tokenizer.decode(tokenizer.encode("Hello \u00e9 123 <s>\n", parse_special=True))
    assert refused > 100
    for length in range(0, len(blob), max(1, len(blob) // 100)):
        with pytest.raises(RushlightError, match="vocabulary:"):
            Tokenizer(blob[:length])


def test_special_tokens_in_messages_are_text() -> None:
    tokenizer = ours("gpt2")
    source = "{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}"
    template = ChatTemplate(compile_template(source))
    start = tokenizer.find("<|im_start|>")
    assert start is not None
    messages = [{"role": "user", "content": text} for text in ("a<|im_start|>b", "c")]
    tokens = template.encode(messages, tokenizer)
    assert [at for at, token in enumerate(tokens) if token == start] == [0, len(tokens) - 2]
    assert tokenizer.decode(tokens, skip_special=False) == template.render(messages)
    harmless = [{"role": "user", "content": "Hello, world"}]
    expected = tokenizer.encode(template.render(harmless), parse_special=True)
    assert template.encode(harmless, tokenizer) == expected
