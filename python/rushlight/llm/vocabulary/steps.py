# SPDX-License-Identifier: BSD-3-Clause
"""Collects the steps of a vocabulary's pipeline, and makes automata of their patterns at the end."""

from __future__ import annotations

import sys
import unicodedata
from typing import Literal

from rushlight.llm.vocabulary.automaton import determinize, partition
from rushlight.llm.vocabulary.blob import Behavior, Blob, Step, StepKind
from rushlight.llm.vocabulary.pattern import SPACE, WORD, Alphabet, Node, Parser

_SPACE_FLAG, _WORD_FLAG = 1, 2


class Steps:
    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self._alphabet = Alphabet()
        self._space = self._alphabet.add(SPACE)
        self._word = self._alphabet.add(WORD)
        self._patterns: dict[str, tuple[int, Node]] = {}

    def pattern(self, source: str) -> int:
        """The number of the automaton for a regular expression."""
        if source not in self._patterns:
            self._patterns[source] = len(self._patterns), Parser(source, self._alphabet).parse()
        return self._patterns[source][0]

    def normalize(self, kind: StepKind, *arguments: str | int) -> None:
        self._blob.normalizers.append(self._step(kind, arguments))

    def pre_tokenize(self, kind: StepKind, *arguments: str | int) -> None:
        self._blob.pre_tokenizers.append(self._step(kind, arguments))

    def split(self, source: str, behavior: Behavior = Behavior.ISOLATED, *, invert: bool = False) -> None:
        """Pieces by the matches of a regular expression."""
        self.pre_tokenize(StepKind.SPLIT, self.pattern(source), behavior, int(invert))

    def normal_form(self, form: str) -> None:
        """NFC, NFD, NFKC or NFKD."""
        blob = self._blob
        decompose: Literal["NFKD", "NFD"] = "NFKD" if "K" in form else "NFD"
        for code in range(0xA0, sys.maxunicode + 1):
            character = chr(code)
            if 0xAC00 <= code < 0xD7A4 or 0xD800 <= code < 0xE000:  # Hangul by arithmetic; surrogates
                continue
            parts = unicodedata.normalize(decompose, character)
            if parts != character:
                blob.decompositions[code] = parts
            if combining := unicodedata.combining(character):
                blob.combining[code] = combining
            pair = unicodedata.decomposition(character).split()
            canonical = len(pair) == 2 and not pair[0].startswith("<")
            if canonical and unicodedata.normalize("NFC", character) == character:
                blob.compositions[int(pair[0], 16), int(pair[1], 16)] = code
        self.normalize(StepKind.COMPOSE, int(form.endswith("C")))

    def lower_case(self) -> None:
        """Each character by itself, whatever stands around it."""
        for code in range(sys.maxunicode + 1):
            if chr(code).lower() != chr(code):
                self._blob.character_maps[code] = chr(code).lower()
        self.normalize(StepKind.MAP_CHARACTERS)

    def finish(self) -> None:
        """Writes classes and automata into the blob."""
        classes = partition(self._alphabet.masks)
        self._blob.ranges = classes.ranges
        self._blob.class_flags = [
            (_SPACE_FLAG if self._space in sets else 0) | (_WORD_FLAG if self._word in sets else 0)
            for sets in classes.members
        ]
        self._blob.automata = [
            determinize(source, node, self._alphabet, classes) for source, (_, node) in self._patterns.items()
        ]

    def _step(self, kind: StepKind, arguments: tuple[str | int, ...]) -> Step:
        numbers = [self._blob.strings.add(a) if isinstance(a, str) else int(a) for a in arguments]
        a, b, c = (*numbers, 0, 0, 0)[:3]
        return kind, a, b, c
