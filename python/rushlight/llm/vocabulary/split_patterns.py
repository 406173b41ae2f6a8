# SPDX-License-Identifier: BSD-3-Clause
"""The pre-tokenizers that GGUF files name (`tokenizer.ggml.pre`), as patterns that split successively."""

from __future__ import annotations

from dataclasses import dataclass

from rushlight.llm.vocabulary.pipeline import GPT2


@dataclass(frozen=True)
class Split:
    """Patterns, and the other settings of a pre-tokenizer.

    Attributes:
        ignore_merges: a piece that equals a token becomes that token, regardless of merges.
        add_bos: texts begin with the begin-of-sequence token if the file does not say.
    """

    patterns: tuple[str, ...]
    normal_form: str = ""
    ignore_merges: bool = False
    add_bos: bool = False


_SUFFIXES = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_OTHERS = r"\s*[\r\n]+|\s+(?!\S)|\s+"


def _words(numbers: str, *, slash: str = "") -> str:
    """The pattern of GPT-4 and its successors."""
    return (
        rf"{_SUFFIXES}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{numbers}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n{slash}]*|{_OTHERS}"
    )


_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_FIRST = r"[^\r\n\p{L}\p{N}]?"


def _cased_words(suffixes: str, numbers: str) -> str:
    """The pattern of GPT-4o and its successors: capital letters begin words."""
    return (
        rf"{_FIRST}{_UPPER}*{_LOWER}+{suffixes}|{_FIRST}{_UPPER}+{_LOWER}*{suffixes}|{numbers}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_OTHERS}"
    )


_GPT2 = Split((GPT2,))
_DIGITS = Split((r"\p{N}", GPT2))
_LLAMA3 = Split((_words(r"\p{N}{1,3}"),), ignore_merges=True, add_bos=True)
_GPT4 = Split((_words(r"\p{N}{1,3}"),))
_QWEN2 = Split((_words(r"\p{N}"),), normal_form="NFC")
_ONE_DIGIT = Split((_words(r"\p{N}"),))
_GPT4O = Split((_cased_words(rf"{_SUFFIXES}?", r"\p{N}{1,3}"),))
_TEKKEN = Split((_cased_words("", r"\p{N}"),), ignore_merges=True, add_bos=True)
_DEFAULT = Split((r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"))
_FALCON = Split((r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"))

BY_NAME = {
    "default": _DEFAULT,
    "falcon": _FALCON,
    "gpt-4o": _GPT4O,
    "llama4": _GPT4O,
    "tekken": _TEKKEN,
    **dict.fromkeys(("llama3", "llama-v3", "llama-bpe", "falcon3", "pixtral"), _LLAMA3),
    **dict.fromkeys(("dbrx", "smaug-bpe", "chatglm-bpe"), _GPT4),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen"), _QWEN2),
    **dict.fromkeys(("stablelm2", "hunyuan", "megrez"), _ONE_DIGIT),
    **dict.fromkeys(
        ("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"), _DIGITS
    ),
    **dict.fromkeys(
        ("gpt-2", "phi-2", "mpt", "olmo", "jais", "roberta-bpe", "jina-es", "jina-de", "jina-v2-code"), _GPT2
    ),
}
