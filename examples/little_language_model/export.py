# SPDX-License-Identifier: BSD-3-Clause
"""Exports the model of train.py for a board: 4-bit weights and a short context. Writes prompt.h beside the
program: the prompt's tokens and the text of each token.

    python examples/little_language_model/export.py little -o little.pte --prompt "Create a new "
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tokenizers import Tokenizer

from rushlight import llm

MOST_TOKENS = 4
"""The most tokens of one call. A longer prompt takes several calls."""


def texts_of(tokenizer: Tokenizer) -> list[bytes]:
    """The bytes of each token. A byte-level vocabulary writes each byte as one of 256 letters."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    letters = {chr(byte): byte for byte in shown} | {chr(256 + i): byte for i, byte in enumerate(hidden)}
    named = {number: text for text, number in tokenizer.get_vocab().items()}
    return [
        b"" if number == 0 else bytes(letters[letter] for letter in named[number]) for number in sorted(named)
    ]


def header(tokenizer: Tokenizer, prompt: str, new_tokens: int, scratch: int) -> str:
    """prompt.h for main.cpp."""
    texts, tokens = texts_of(tokenizer), tokenizer.encode(prompt).ids
    offsets = [sum(map(len, texts[:i])) for i in range(len(texts) + 1)]
    return f"""// Written by export.py.
#pragma once

#include <cstddef>
#include <cstdint>

constexpr size_t kVocabulary = {len(texts)}, kMostTokens = {MOST_TOKENS}, kNewTokens = {new_tokens}, kEnd = 0;
constexpr size_t kLongestText = {max(map(len, texts))}, kScratchBytes = {scratch};
constexpr int64_t kPrompt[] = {{{", ".join(map(str, tokens))}}};
constexpr size_t kPromptTokens = sizeof(kPrompt) / sizeof(kPrompt[0]);
constexpr uint16_t kTextAt[] = {{{", ".join(map(str, offsets))}}};
constexpr uint8_t kTexts[] = {{{", ".join(str(byte) for byte in b"".join(texts))}}};
"""


def export(folder: Path, output: Path, prompt: str, context: int, new_tokens: int) -> llm.LlmReport:
    """Writes the program and prompt.h, and returns the report of the export."""
    program = llm.export(folder, weights="int4", context=context, max_seq=MOST_TOKENS, cache="int8")
    program.save(output)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    scratch = 2048  # for a quantized row, and for one head of a token
    (output.parent / "prompt.h").write_text(header(tokenizer, prompt, new_tokens, scratch))
    return program.report


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the folder that train.py wrote")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="program to write; prompt.h is written beside it"
    )
    parser.add_argument("--prompt", default="Create a new ")
    parser.add_argument("--context", type=int, default=128, help="positions in the cache [default: 128]")
    parser.add_argument("--tokens", type=int, default=64, help="tokens to generate [default: 64]")
    options = parser.parse_args()
    report = export(options.folder, options.output, options.prompt, options.context, options.tokens)
    print(
        f"{options.output}: {report.parameters:,} parameters, {report.file_bytes:,} bytes; "
        f"memory {report.planned_bytes:,} bytes, of which {report.cache_bytes:,} are the cache"
    )


if __name__ == "__main__":
    main()
