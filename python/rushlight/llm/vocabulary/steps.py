# SPDX-License-Identifier: BSD-3-Clause
"""Collects the steps of a vocabulary's pipeline, and compiles their patterns to automata at the end."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable

from rushlight.llm.vocabulary.automaton import determinize, partition
from rushlight.llm.vocabulary.blob import Behavior, Blob, Step, StepKind
from rushlight.llm.vocabulary.pattern import SPACE, WORD, Alphabet, Characters, Node, Parser

_SPACE_FLAG, _WORD_FLAG = 1, 2


_OVERLAY, _ABOVE = "\u0334", "\u0301"  # marks of the combining classes 1 and 230


def _is_ordered(decompose: Callable[[str], str], mark: str) -> bool:
    """True if a normal form reorders the mark relative to another one."""
    pairs = ("b" + mark + _OVERLAY, "b" + _ABOVE + mark)
    return any(decompose(pair) != pair for pair in pairs)


class Steps:
    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self._alphabet = Alphabet()
        self._space = self._alphabet.add(SPACE)
        self._word = self._alphabet.add(WORD)
        self._patterns: dict[str, tuple[int, Node]] = {}

    def pattern(self, source: str) -> int:
        """The index of the automaton for a regular expression."""
        if source not in self._patterns:
            self._patterns[source] = len(self._patterns), Parser(source, self._alphabet).parse()
        return self._patterns[source][0]

    def normalize(self, kind: StepKind, *arguments: str | int) -> None:
        self._blob.normalizers.append(self._step(kind, arguments))

    def pre_tokenize(self, kind: StepKind, *arguments: str | int) -> None:
        self._blob.pre_tokenizers.append(self._step(kind, arguments))

    def split(self, source: str, behavior: Behavior = Behavior.ISOLATED, *, invert: bool = False) -> None:
        """Splits pieces at the matches of a regular expression."""
        self.pre_tokenize(StepKind.SPLIT, self.pattern(source), behavior, int(invert))

    def split_off_punctuation(self, behavior: Behavior) -> None:
        """Splits pieces at the characters that `tokenizers` treats as punctuation; its Unicode version is
        older."""
        from tokenizers import pre_tokenizers

        def find(text: str) -> list[str]:
            split = pre_tokenizers.Punctuation("isolated").pre_tokenize_str(text)
            marks = pre_tokenizers.Punctuation("removed").pre_tokenize_str(text)
            return [piece for piece, _ in set(split) - set(marks)]

        name = "Punctuation"
        node = Characters(self._alphabet.add_found(name, find))
        number, _ = self._patterns.setdefault(name, (len(self._patterns), node))
        self.pre_tokenize(StepKind.SPLIT, number, behavior)

    def normal_form(self, form: str) -> None:
        """Adds NFC, NFD, NFKC or NFKD with the tables of `tokenizers`, which are older than Python's."""
        from tokenizers import normalizers

        compatible = "K" in form
        decompose = (normalizers.NFKD() if compatible else normalizers.NFD()).normalize_str
        compose = normalizers.NFC().normalize_str
        blob = self._blob
        for code in range(0xA0, sys.maxunicode + 1):
            character = chr(code)
            if 0xAC00 <= code < 0xD7A4:  # Hangul syllables are decomposed by arithmetic
                continue
            parts = unicodedata.decomposition(character).split()
            if parts and (decomposed := decompose(character)) != character:
                blob.decompositions[code] = decomposed
            if len(parts) == 2 and not parts[0].startswith("<"):
                first, second = (int(part, 16) for part in parts)
                if compose(chr(first) + chr(second)) == character:
                    blob.compositions[first, second] = code
            combining = unicodedata.combining(character)
            if combining and _is_ordered(decompose, character):
                blob.combining[code] = combining
        self.normalize(StepKind.COMPOSE, int(form.endswith("C")))

    def lower_case(self) -> None:
        """Maps each character to lower case, independent of its context."""
        for code in range(sys.maxunicode + 1):
            if chr(code).lower() != chr(code):
                self._blob.character_maps[code] = chr(code).lower()
        self.normalize(StepKind.MAP_CHARACTERS)

    def finish(self) -> None:
        """Writes the character classes and the automata into the blob."""
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
