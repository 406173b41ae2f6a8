# SPDX-License-Identifier: BSD-3-Clause
"""A vocabulary and a chat template for the tiny language model: tokens are letters, some words,
special tokens, and parts of characters."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from rushlight.llm.vocabulary import KEY, from_tokenizer_json
from rushlight.llm.vocabulary.byte_level import CHARACTER_OF
from rushlight.program import read_program
from rushlight.program.parts import parts_of
from rushlight.program.writer import write_program

SPECIAL = ["<pad>", "<begin>", "<end>", "<user>", "<system>", "<model>"]
LETTERS = "abcdefghijklmnopqrstuvwxyz .!?\n"
WORDS = ["th", "in", "er", "an"]
PARTIAL = [b"\xc3", b"\xa9", b"\xe2", b"\x82", b"\xac"]
"""The bytes of two characters, é and €."""
TEXTS: list[bytes] = [*(each.encode() for each in [*SPECIAL, *LETTERS, *WORDS]), *PARTIAL]


def _spelled(data: bytes) -> str:
    """As byte-level vocabularies write it."""
    return "".join(CHARACTER_OF[byte] for byte in data)


def vocabulary(replaced: Mapping[bytes, bytes] | None = None) -> bytes:
    """The blob of the vocabulary, with some texts of tokens replaced. A text begins with <begin>."""
    plain = [(replaced or {}).get(text, text) for text in TEXTS[len(SPECIAL) :]]
    vocab = {_spelled(text): len(SPECIAL) + i for i, text in enumerate(plain)}
    added = [{"id": i, "content": text, "special": True} for i, text in enumerate(SPECIAL)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    template = [{"SpecialToken": {"id": "<begin>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return from_tokenizer_json(
        {
            "added_tokens": added,
            "normalizer": None,
            "pre_tokenizer": byte_level,
            "post_processor": {
                "type": "TemplateProcessing",
                "single": template,
                "special_tokens": {"<begin>": {"id": "<begin>", "ids": [1], "tokens": ["<begin>"]}},
            },
            "decoder": byte_level,
            "model": {"type": "BPE", "vocab": vocab, "merges": [list(word) for word in WORDS]},
        },
        {"bos_token": "<begin>", "eos_token": "<end>"},
    )


def chat_template() -> bytes:
    """The blob of: <begin> (<system>text<end>)? (<user>text<end><model>text<end>)*"""
    texts = [
        "<begin>",
        "<begin><system>",
        "<end>",
        "<user>",
        "<user>",
        "<end>",
        "<model>",
        "<end>",
        "<model>",
        "",
    ]
    data = [text.encode() for text in texts]
    offsets = [sum(map(len, data[:i])) for i in range(len(data) + 1)]
    return b"RLC1" + struct.pack(f"<II{len(offsets)}I", 0, len(data), *offsets) + b"".join(data)


def add_texts(
    path: Path, *, with_template: bool = True, replaced: Mapping[bytes, bytes] | None = None
) -> None:
    """Puts the vocabulary and the template into a program."""
    parts = parts_of(read_program(path.read_bytes()))
    named = {**parts.named_data, KEY: vocabulary(replaced)}
    if with_template:
        named["rushlight.chat_template"] = chat_template()
    parts = type(parts)(parts.methods, parts.constants, parts.mutable, named)
    path.write_bytes(write_program(parts).tobytes())


def text_of(tokens: Sequence[int]) -> str:
    """The text of the tokens, without special ones."""
    plain = b"".join(TEXTS[token] for token in tokens if token >= len(SPECIAL))
    return plain.decode("utf-8", "replace")
