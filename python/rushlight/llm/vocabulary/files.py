# SPDX-License-Identifier: BSD-3-Clause
"""Reads tokenizers from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rushlight.documents import read_json
from rushlight.errors import FileFailed, InvalidArgument
from rushlight.llm.vocabulary.sentencepiece_model import from_sentencepiece
from rushlight.llm.vocabulary.tokenizer_json import from_tokenizer_json


def vocabulary_of_file(path: Path) -> bytes:
    """The blob of a tokenizer.json, using the tokenizer_config.json beside it if there is one, or of a
    tokenizer.model. Errors: InvalidArgument, FileFailed."""
    if path.suffix == ".model":
        try:
            return from_sentencepiece(path.read_bytes())
        except OSError as error:
            raise FileFailed.of(error) from error
    config = path.with_name("tokenizer_config.json")
    return from_tokenizer_json(read_mapping(path), read_mapping(config) if config.is_file() else None)


def read_mapping(path: Path) -> dict[str, Any]:
    """The mapping in a JSON file. Errors: InvalidArgument."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise InvalidArgument(f"{path}: expected a mapping, got {type(found).__name__}")
    return found
