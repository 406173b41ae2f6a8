# SPDX-License-Identifier: BSD-3-Clause
"""Automata find the matches that a backtracking engine finds."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rushlight.errors import InvalidArgument
from rushlight.llm.vocabulary.automaton import MATCH, determinize, partition
from rushlight.llm.vocabulary.pattern import Alphabet, Parser
from rushlight.llm.vocabulary.split_patterns import BY_NAME
from support.trained_tokenizers import GPT4O, LLAMA3, QWEN2


class Matcher:
    """Runs an automaton as runtime/llm/split.cpp does."""

    def __init__(self, pattern: str) -> None:
        alphabet = Alphabet()
        node = Parser(pattern, alphabet).parse()
        classes = partition(alphabet.masks)
        self.transitions: NDArray[np.uint16] = determinize(pattern, node, alphabet, classes)
        self._firsts = [first for first, _ in classes.ranges]
        self._classes = [number for _, number in classes.ranges]

    def matches(self, text: str) -> list[str]:
        columns = [self._classes[np.searchsorted(self._firsts, ord(c), side="right") - 1] for c in text]
        found, at = [], 0
        while at < len(text):
            end, state, here = at, 1, at
            while state:
                row = self.transitions[state]
                transition = int(row[columns[here]] if here < len(text) else row[-1])
                end = here if transition & MATCH else end
                state = transition & (MATCH - 1) if here < len(text) else 0
                here += 1
            found += [text[at:end]] if end > at else []
            at = max(end, at + 1)
        return found


@cache
def matcher(pattern: str) -> Matcher:
    return Matcher(pattern)


PATTERNS = [
    *sorted({pattern for split in BY_NAME.values() for pattern in split.patterns}),
    "a|ab|abc",
    "abc|ab|a",
    "(?:a|ab)(?:c|bcd)(?:d*)",
    "a*?b|a+",
    "a{2,3}?a|b{2}|c{1,}?",
    "(a*)*b|a",
    "(?:a?b?)*c|[ab]",
    "(?i:ab)c|B",
    "a(?=b)|b(?!c)|c(?=\\s)",
    r"[^\s\d]+|\d",
    r"a?+b|a++c|c{1,2}+",
    r"\x61+|b|\p{Lu}|\P{L}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=60, deadline=None)
@given(text=st.text("abcdABCD 1\n'", max_size=14))
def test_matches_equal_those_of_backtracking(pattern: str, text: str) -> None:
    expected = [match[0] for match in regex.finditer(pattern, text) if match[0]]
    assert matcher(pattern).matches(text) == expected


def test_names_have_the_patterns_of_their_models() -> None:
    assert BY_NAME["llama-bpe"].patterns == (LLAMA3,)
    assert BY_NAME["qwen2"].patterns == (QWEN2,)
    assert BY_NAME["gpt-4o"].patterns == (GPT4O,)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a*", "without a match of nothing"),
        ("^a", "without an anchor"),
        (r"a\b", "without "),
        ("(?<=a)b", "without a group"),
        ("(?!ab)c", "more than one character"),
        ("a++ab", "a possessive repetition before characters of the same kind"),
        (r"\s++(?!x)", "a look-ahead after a possessive repetition"),
        ("(?:ab)++", "a possessive group"),
        ("(a", "an open group"),
        ("a)", "an unmatched"),
        ("[a", "an open end"),
        ("[a&&b]", "sets within a class"),
        ("a{1,2000}", "more than 1000 repetitions"),
        ("a\\", "an open end"),
    ],
)
def test_what_no_automaton_has_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        Matcher(pattern)
