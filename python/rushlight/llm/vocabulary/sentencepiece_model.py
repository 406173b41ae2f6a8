# SPDX-License-Identifier: BSD-3-Clause
"""Compiles SentencePiece's tokenizer.model: a Protocol Buffers message, read without its schema.

The fields used, by their numbers in sentencepiece_model.proto: pieces (1) with text, score and type; the
trainer's (2) model type and special tokens; the normalizer's (3) table and flags. Token types have the
same numbers as in GGUF.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.llm.vocabulary.gguf_metadata import from_gguf

_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_MODEL_TYPE, _UNKNOWN_ID, _BOS_ID, _EOS_ID = 3, 40, 41, 42
_TABLE, _PREFIX, _REMOVES_SPACES = 2, 3, 4
_READ = (_PIECES, _TRAINER, _NORMALIZER)
_BPE = 2
_NORMAL = 1

Field = int | bytes


def from_sentencepiece(data: bytes) -> bytes:
    """The blob of a tokenizer.model. Errors: InvalidArgument for a damaged file, and for models other than
    byte pair encoding without normalization."""
    try:
        fields = list(_fields(data))
        messages = [(number, dict(_fields(_bytes(part)))) for number, part in fields if number in _READ]
        pieces = [message for number, message in messages if number == _PIECES]
        trainer, normalizer = (
            next((message for number, message in messages if number == which), {})
            for which in (_TRAINER, _NORMALIZER)
        )
        texts = [_text(piece[1]) for piece in pieces]
        scores = [struct.unpack("<f", _bytes(piece.get(2, bytes(4))))[0] for piece in pieces]
    except (IndexError, KeyError, TypeError, UnicodeError, struct.error) as error:
        raise _refusal("a model of SentencePiece", "damaged or other bytes") from error
    if trainer.get(_MODEL_TYPE, 1) != _BPE:
        raise _refusal("byte pair encoding", f"a model of kind {trainer.get(_MODEL_TYPE, 1)!r}")
    if normalizer.get(_TABLE) or normalizer.get(_REMOVES_SPACES, 1):
        raise _refusal("texts as they are", "a normalizer")
    metadata: dict[str, Any] = {
        "model": "llama",
        "tokens": texts,
        "scores": scores,
        "token_type": [piece.get(3, _NORMAL) for piece in pieces],
        "add_space_prefix": bool(normalizer.get(_PREFIX, 1)),
        "unknown_token_id": trainer.get(_UNKNOWN_ID, 0),
        "bos_token_id": trainer.get(_BOS_ID, 1),
        "eos_token_id": trainer.get(_EOS_ID, 2),
    }
    return from_gguf({f"tokenizer.ggml.{name}": value for name, value in metadata.items()})


def _refusal(expected: str, got: str) -> InvalidArgument:
    return InvalidArgument(
        f"tokenizer.model: expected {expected}, got {got}",
        next_step="Export with tokenizer=, the path of the model's tokenizer.json.",
    )


def _bytes(field: Field) -> bytes:
    if isinstance(field, int):
        raise TypeError
    return field


def _text(field: Field) -> str:
    return _bytes(field).decode()


def _fields(data: bytes) -> Iterator[tuple[int, Field]]:
    """The fields of a message with their numbers: varints as integers, others as bytes. Errors:
    IndexError."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            number, at = _varint(data, at)
            yield key >> 3, number
            continue
        if kind not in (1, 2, 5):
            raise IndexError
        length, at = _varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
        if length > len(data) - at:
            raise IndexError
        yield key >> 3, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """An integer of up to 64 bits in two's complement, and the offset after it. Errors: IndexError."""
    number = 0
    for shift in range(0, 70, 7):
        number |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return number - (1 << 64) if number >= 1 << 63 else number, at
    raise IndexError
