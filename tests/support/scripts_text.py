# SPDX-License-Identifier: BSD-3-Clause
"""Text of all scripts, for tokenizers: generated, always the same, 0.5 MB."""

from __future__ import annotations

import random
import sys
import unicodedata
from functools import cache

_EMOJI = [
    "\U0001f469\u200d\U0001f52c",
    "\U0001f1fa\U0001f1f3",
    "\U0001f44d\U0001f3fd",
    "\u2764\ufe0f\u200d\U0001f525",
    "1\ufe0f\u20e3",
]
_SPACES = [" ", "\n", "\t", "\r\n", "\u00a0", "\u2003", "\u3000", "\u2028", "\x85", "\x0b", "\x1c"]
_WORDS = [
    "don't",
    "I'M",
    "WE'LL",
    "they've",
    "he'd",
    "You'Re",
    "'ſa",
    "''s",
    "Hello,",
    "world!",
    "a.b.c",
    "foo_bar",
    "camelCaseWord",
    "HTTPServer\nx=3.14159;",
    "1234567",
    "12,345.67",
    "0x1F",
    "2nd",
    "3rd",
    "١٢٣",
    "½",
    "Ⅷ",
    "if(a[i]<=b){return!c;}",
    "<|endoftext|>",
    "<s>",
    "https://example.org/?q=1&r=2\n你好，世界",
    "こんにちは",
    "안녕하세요",
    "한",
    "é",
    "İstanbul",
    "straße",
    "ﬁn",
    "ẛ̣",
    "Ω",
    "Å",
    "̈́",
    "▁a▁▁b",
]


def assigned() -> list[list[str]]:
    """The characters of Python's Unicode version, in blocks of 128, without surrogates and private ones."""
    blocks: dict[int, list[str]] = {}
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co"):
            blocks.setdefault(code >> 7, []).append(chr(code))
    return list(blocks.values())


@cache
def text_of_all_scripts(seed: int = 0, words_per_block: int = 30) -> str:
    """Words of each block alone and mixed with Latin, numbers and punctuation, sequences of spaces, emoji
    sequences, combining marks after anything, control characters, and code."""
    draw = random.Random(seed)
    blocks = assigned()
    marks = [c for block in blocks for c in block if unicodedata.combining(c)]
    parts = []
    for block in blocks:
        for _ in range(words_per_block):
            parts.append("".join(draw.choices(block, k=draw.randint(1, 9))))
            parts.append(
                draw.choice(
                    ["", " ", draw.choice(marks), "".join(draw.choices(_SPACES, k=draw.randint(1, 4)))]
                )
            )
            if draw.random() < 0.3:
                parts += [draw.choice(_WORDS), draw.choice(["", " ", "  "])]
        parts.append(draw.choice(_EMOJI))
    parts += [" " * count + "x" + "\n" * count for count in range(1, 70)]
    parts += [chr(code) * 2 + "a" for code in range(0xA0)]
    parts += [" ".join(draw.choices(_WORDS, k=8)) + draw.choice(_SPACES) for _ in range(2000)]
    return "".join(parts)
