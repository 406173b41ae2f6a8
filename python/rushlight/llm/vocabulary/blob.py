# SPDX-License-Identifier: BSD-3-Clause
"""The binary format of a vocabulary, as described in runtime/llm/vocabulary.h."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

import numpy as np
from numpy.typing import NDArray

NONE = 0xFFFFFFFF
_PER_BUCKET = 1


class ModelKind(IntEnum):
    MERGES = 0
    UNIGRAM = 1


class Strip(IntEnum):
    """The spaces that decoding removes at the start of a text."""

    NOTHING = 0
    ONE_SPACE = 1
    FIRST_TOKEN = 2


class StepKind(IntEnum):
    PREPEND = 0
    REPLACE = 1
    MAP_CHARACTERS = 2
    COMPOSE = 3
    REPLACE_PATTERN = 4
    STRIP_SPACES = 5
    SPLIT = 16
    PREFIX_PIECE = 17
    REPLACE_IN_PIECE = 18


class Behavior(IntEnum):
    ISOLATED = 0
    REMOVED = 1
    CONTIGUOUS = 2
    WITH_PREVIOUS = 3
    WITH_NEXT = 4


class TokenFlag(IntFlag):
    SPECIAL = 1
    WHOLE = 2
    BYTE = 4


class AddedFlag(IntFlag):
    LEFT_SPACES = 1
    RIGHT_SPACES = 2
    SINGLE_WORD = 4
    SPECIAL = 8


Step = tuple[StepKind, int, int, int]


class StringTable:
    """The strings of a blob, without duplicates."""

    def __init__(self) -> None:
        self._index: dict[bytes, int] = {}

    def add(self, text: str | bytes) -> int:
        """The index of `text`."""
        data = text.encode() if isinstance(text, str) else text
        return self._index.setdefault(data, len(self._index))

    def all(self) -> list[bytes]:
        return list(self._index)


@dataclass(frozen=True)
class AddedToken:
    text: str
    token: int
    flags: AddedFlag


@dataclass
class Blob:
    """The parts of a vocabulary; `pack` returns the bytes."""

    kind: ModelKind = ModelKind.MERGES
    by_characters: bool = False
    fuse_unknown: bool = False
    unknown: int = NONE
    bos: int = NONE
    eos: int = NONE
    strip: Strip = Strip.NOTHING
    unknown_score: float = 0.0
    texts: list[bytes] = field(default_factory=list)
    token_flags: list[int] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)
    looked_up: Sequence[int] = ()
    """The tokens in the hash table of keys."""
    merges: NDArray[np.uint32] = field(default_factory=lambda: np.zeros((0, 4), np.uint32))
    byte_tokens: Sequence[int] = ()
    characters: dict[int, int] = field(default_factory=dict)
    scores: Sequence[float] = ()
    ranges: Sequence[tuple[int, int]] = ((0, 0),)
    class_flags: Sequence[int] = (0,)
    automata: list[NDArray[np.uint16]] = field(default_factory=list)
    normalizers: list[Step] = field(default_factory=list)
    pre_tokenizers: list[Step] = field(default_factory=list)
    strings: StringTable = field(default_factory=StringTable)
    added: list[AddedToken] = field(default_factory=list)
    added_normalized: list[AddedToken] = field(default_factory=list)
    prefix: Sequence[int] = ()
    suffix: Sequence[int] = ()
    character_maps: dict[int, str] = field(default_factory=dict)
    decompositions: dict[int, str] = field(default_factory=dict)
    combining: dict[int, int] = field(default_factory=dict)
    compositions: dict[tuple[int, int], int] = field(default_factory=dict)

    def pack(self) -> bytes:
        added = [_added(self.strings, tokens) for tokens in (self.added, self.added_normalized)]
        maps = [
            [(code, self.strings.add(text)) for code, text in sorted(table.items())]
            for table in (self.character_maps, self.decompositions)
        ]
        token_begins, tokens = self._token_buckets()
        merge_begins, merges = _merge_buckets(self.merges)
        spans, transitions = _automata(self.automata)
        compositions = [(a, b, both) for (a, b), both in sorted(self.compositions.items())]
        sections = [
            self._facts(),
            *_strings(self.texts),
            bytes(self.token_flags),
            *_strings(self.keys),
            token_begins,
            tokens,
            merge_begins,
            merges,
            _words(self.byte_tokens),
            _words(sorted(self.characters.items())),
            np.asarray(self.scores, "<f4").tobytes(),
            _words(self.ranges),
            bytes(self.class_flags),
            spans,
            transitions,
            _words(self.normalizers),
            _words(self.pre_tokenizers),
            *_strings(self.strings.all()),
            *added,
            _words(self.prefix),
            _words(self.suffix),
            *(_words(table) for table in maps),
            _words(sorted(self.combining.items())),
            _words(compositions),
        ]
        return _joined(sections)

    def _facts(self) -> bytes:
        return struct.pack(
            "<7If",
            self.kind,
            self.by_characters,
            self.fuse_unknown,
            self.unknown,
            self.bos,
            self.eos,
            self.strip,
            self.unknown_score,
        )

    def _token_buckets(self) -> tuple[bytes, bytes]:
        if not self.looked_up:
            return b"", b""
        keys = self.keys or self.texts
        ids = np.array(self.looked_up, np.uint32)
        hashes = np.array([hash_bytes(keys[token]) for token in self.looked_up], np.uint32)
        begins, order = _buckets(hashes)
        return begins, ids[order].astype("<u4").tobytes()


def hash_bytes(data: bytes) -> int:
    """FNV-1a with the high bits folded in, as in runtime/llm/vocabulary.h."""
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value ^ value >> 15


def _merge_buckets(merges: NDArray[np.uint32]) -> tuple[bytes, bytes]:
    if not len(merges):
        return b"", b""
    hashes = merges[:, 0] * np.uint32(0x9E3779B1) ^ merges[:, 1] * np.uint32(0x85EBCA77)
    begins, order = _buckets(hashes ^ hashes >> np.uint32(15))
    return begins, merges[order].astype("<u4").tobytes()


def _buckets(hashes: NDArray[np.uint32]) -> tuple[bytes, NDArray[np.intp]]:
    """The start of each bucket (a power of two of them), and the order of the items by bucket."""
    count = 1 << max(0, (len(hashes) // _PER_BUCKET - 1).bit_length())
    buckets = hashes & np.uint32(count - 1)
    begins = np.zeros(count + 1, "<u4")
    np.cumsum(np.bincount(buckets, minlength=count), out=begins[1:])
    return begins.tobytes(), np.argsort(buckets, kind="stable")


def _added(strings: StringTable, tokens: Iterable[AddedToken]) -> bytes:
    ordered = sorted(tokens, key=lambda token: token.text.encode())
    return _words([(strings.add(token.text), token.token, int(token.flags)) for token in ordered])


def _automata(automata: Sequence[NDArray[np.uint16]]) -> tuple[bytes, bytes]:
    spans, first = [], 0
    for transitions in automata:
        spans.append((first, len(transitions)))
        first += transitions.size
    return _words(spans), b"".join(transitions.astype("<u2").tobytes() for transitions in automata)


def _words(rows: Iterable[int | Sequence[int]]) -> bytes:
    return np.array(list(rows), "<u4").tobytes()


def _strings(texts: Sequence[bytes]) -> tuple[bytes, bytes]:
    if not texts:
        return b"", b""
    offsets = np.zeros(len(texts) + 1, "<u4")
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return offsets.tobytes(), b"".join(texts)


def _joined(sections: Sequence[bytes]) -> bytes:
    sections_at, offset = [], 8 + 8 * len(sections)
    for section in sections:
        sections_at += [offset, len(section)]
        offset += len(section) + -len(section) % 4
    head = b"RLV1" + struct.pack(f"<{1 + len(sections_at)}I", len(sections), *sections_at)
    return head + b"".join(section + bytes(-len(section) % 4) for section in sections)
