# SPDX-License-Identifier: BSD-3-Clause
"""Tokenizers of the package `tokenizers`, trained here, in the forms of well-known models."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from support.scripts_text import text_of_all_scripts

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace("{1,3}", "")
GPT4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_MARK = "\u2581"
_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def _corpus() -> list[str]:
    return text_of_all_scripts(seed=1, words_per_block=6).split("\n")


def _byte_level(*splits: Any, normalizer: Any = None, **model: Any) -> Tokenizer:
    made = Tokenizer(models.BPE(**model))
    if normalizer is not None:
        made.normalizer = normalizer
    steps = [*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not splits)]
    made.pre_tokenizer = pre_tokenizers.Sequence(steps) if splits else steps[0]
    made.decoder = decoders.ByteLevel()
    special = [model["unk_token"]] if model else []
    alphabet = [] if model else pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=4000,
        initial_alphabet=alphabet,
        limit_alphabet=256 if alphabet else 150,
        special_tokens=special,
        show_progress=False,
    )
    made.train_from_iterator(_corpus(), trainer)
    made.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_start|>x", "<s>"])
    return made


def _split(pattern: str, behavior: str = "isolated", *, invert: bool = False) -> Any:
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def _gpt2() -> Tokenizer:
    return _byte_level()


def _missing_bytes() -> Tokenizer:
    return _byte_level(unk_token="<unk>", fuse_unk=True)


def _llama3() -> Tokenizer:
    made = _byte_level(_split(LLAMA3))
    document = json.loads(made.to_str())
    document["model"]["ignore_merges"] = True
    made = Tokenizer.from_str(json.dumps(document))
    made.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(
                single="<s> $A <|endoftext|>",
                special_tokens=[(text, made.token_to_id(text)) for text in ("<s>", "<|endoftext|>")],
            ),
        ]
    )
    return made


def _qwen2() -> Tokenizer:
    return _byte_level(_split(QWEN2), normalizer=normalizers.NFC())


def _gpt4o() -> Tokenizer:
    made = _byte_level(_split(GPT4O))
    made.add_tokens(
        [
            AddedToken("mask", lstrip=True, normalized=False),
            AddedToken("[R]", rstrip=True, lstrip=True),
            AddedToken("word", single_word=True),
        ]
    )
    return made


def _digits() -> Tokenizer:
    return _byte_level(
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.Digits(individual_digits=True),
        _split(r"\s+"),
    )


def _behaviors() -> Tokenizer:
    return _byte_level(
        _split(r"\p{P}", "merged_with_previous"),
        _split(r"[A-Z]", "merged_with_next"),
        _split(r"\p{N}+", "contiguous", invert=True),
        _split("a|ab|abc?d*?e", "removed"),
        normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
    )


def _whitespace() -> Tokenizer:
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    made.normalizer = normalizers.Sequence(
        [normalizers.NFD(), normalizers.Strip(), normalizers.Replace(Regex(r"\p{M}+"), "")]
    )
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(False)])
    made.decoder = decoders.Fuse()
    trainer = trainers.BpeTrainer(
        vocab_size=2000, special_tokens=["<unk>"], limit_alphabet=500, show_progress=False
    )
    made.train_from_iterator(_corpus(), trainer)
    return made


def _sentence_pieces(**model: Any) -> Tokenizer:
    """Merges over whole texts with bytes for characters that are no tokens."""
    made = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>", **model))
    trainer = trainers.BpeTrainer(
        vocab_size=3000,
        special_tokens=["<unk>", "<s>", "</s>", *_BYTES],
        limit_alphabet=1500,
        show_progress=False,
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    made.train_from_iterator(_corpus(), trainer)
    document = json.loads(made.to_str())
    document["added_tokens"] = [t for t in document["added_tokens"] if t["content"] not in _BYTES]
    document["pre_tokenizer"] = None
    return Tokenizer.from_str(json.dumps(document))


def _llama2() -> Tokenizer:
    made = _sentence_pieces()
    made.normalizer = normalizers.Sequence([normalizers.Prepend(_MARK), normalizers.Replace(" ", _MARK)])
    made.decoder = decoders.Sequence(
        [decoders.Replace(_MARK, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", made.token_to_id("<s>"))]
    )
    made.add_tokens([AddedToken("tool", normalized=True)])
    return made


def _gemma() -> Tokenizer:
    made = _sentence_pieces()
    made.normalizer = normalizers.Replace(" ", _MARK)
    made.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    made.decoder = decoders.Sequence([decoders.Replace(_MARK, " "), decoders.ByteFallback(), decoders.Fuse()])
    made.add_tokens([AddedToken(text, normalized=False) for text in ("\n\n", "\n\n\n", _MARK * 2, _MARK * 3)])
    return made


def _metaspace() -> Tokenizer:
    made = _sentence_pieces()
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])
    return made


def _unigram() -> Tokenizer:
    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=600, special_tokens=["<unk>", "</s>"], unk_token="<unk>", show_progress=False
    )
    made.train_from_iterator((line for line in _corpus() if line.isascii()), trainer)
    return made


FORMS = {
    form.__name__.removeprefix("_"): form
    for form in (
        _gpt2,
        _missing_bytes,
        _llama3,
        _qwen2,
        _gpt4o,
        _digits,
        _behaviors,
        _whitespace,
        _llama2,
        _gemma,
        _metaspace,
        _unigram,
    )
}


@cache
def trained(form: str) -> Tokenizer:
    return FORMS[form]()
