# SPDX-License-Identifier: BSD-3-Clause
"""Compiles patterns to deterministic automata that find the same matches as a backtracking engine.

A state is the list of positions in the pattern at which a backtracking engine would continue, in order of
preference. Positions after one that has matched are never reached and are dropped (Cox, "Regular
Expression Matching: the Virtual Machine Approach", 2009, made deterministic). Characters that belong to
the same sets share a class. A match is marked on the transition after it, when the next character is
known, so look-ahead costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rushlight.llm.vocabulary.pattern import (
    Ahead,
    Alphabet,
    Characters,
    Choice,
    Mask,
    Node,
    Repeat,
    Sequence_,
    refuse,
)

MATCH = 0x8000
_MOST_STATES = 8192


@dataclass(frozen=True)
class Partition:
    """Classes of characters as `ranges` of code points (begin, class). `members[c]` are the sets that contain
    class c."""

    ranges: list[tuple[int, int]]
    members: list[frozenset[int]]


def partition(masks: Sequence[Mask]) -> Partition:
    """Groups characters that belong to the same sets into one class."""
    if len(masks) > 64:
        raise refuse("", f"{len(masks)} different sets of characters (at most 64)")
    keys = np.zeros(len(masks[0]), np.uint64)
    for bit, mask in enumerate(masks):
        keys |= mask.astype(np.uint64) << np.uint64(bit)
    unique, classes = np.unique(keys, return_inverse=True)
    begins = np.flatnonzero(np.diff(classes, prepend=-1))
    ranges = [(int(begin), int(classes[begin])) for begin in begins]
    members = [frozenset(bit for bit in range(len(masks)) if int(key) >> bit & 1) for key in unique]
    return Partition(ranges, members)


@dataclass
class _State:
    """A position in the pattern: consumes a character of the set `characters`, looks ahead, matches, or
    continues at all of `next`, in order of preference."""

    next: list[int] = field(default_factory=list)
    characters: int | None = None
    ahead: Ahead | None = None
    matches: bool = False


class _Nfa:
    """Thompson's construction, from the end of the pattern to its start."""

    def __init__(self, pattern: str, node: Node) -> None:
        self._pattern = pattern
        self._possessive: list[tuple[int, int]] = []
        self.all: list[_State] = [_State(matches=True)]
        self.start = self._before(0, node)

    def _add(self, state: _State) -> int:
        self.all.append(state)
        return len(self.all) - 1

    def _before(self, after: int, node: Node) -> int:
        """The position at which `node` begins, such that it continues at `after`."""
        if isinstance(node, Characters):
            return self._add(_State([after], characters=node.index))
        if isinstance(node, Ahead):
            return self._add(_State([after], ahead=node))
        if isinstance(node, Choice):
            return self._add(_State([self._before(after, part) for part in node.parts]))
        if isinstance(node, Sequence_):
            for part in reversed(node.parts):
                after = self._before(after, part)
            return after
        return self._repeat(after, node)

    def _repeat(self, after: int, node: Repeat) -> int:
        if node.possessive:
            if not isinstance(node.part, Characters):
                raise refuse(self._pattern, "a possessive group")
            self._possessive.append((node.part.index, after))

        def either(body: int) -> list[int]:
            return [after_all, body] if node.lazy else [body, after_all]

        after_all = after
        if node.most is None:
            loop = self._add(_State())
            self.all[loop].next = either(self._before(loop, node.part))
            after = loop
        else:
            for _ in range(node.most - node.least):
                after = self._add(_State(either(self._before(after, node.part))))
        for _ in range(node.least):
            after = self._before(after, node.part)
        return after

    def check_possessive(self, masks: Sequence[Mask]) -> None:
        """Refuses possessive repetitions that differ from greedy ones: what follows could consume a character
        that a greedy repetition would give back."""
        for characters, after in self._possessive:
            for state in self.reached(after):
                follows = self.all[state]
                if follows.ahead is not None:
                    raise refuse(self._pattern, "a look-ahead after a possessive repetition")
                if follows.characters is not None and (masks[characters] & masks[follows.characters]).any():
                    raise refuse(self._pattern, "a possessive repetition before characters of the same kind")

    def reached(self, start: int) -> list[int]:
        """The positions reachable from `start` without consuming a character."""
        seen, waiting = [], [start]
        while waiting:
            state = waiting.pop()
            if state in seen:
                continue
            seen.append(state)
            follows = self.all[state]
            if follows.characters is None and follows.ahead is None:
                waiting += follows.next
        return seen


def determinize(pattern: str, node: Node, alphabet: Alphabet, classes: Partition) -> NDArray[np.uint16]:
    """The transitions: a row for each state, a column for each class and one for the end of the text."""
    nfa = _Nfa(pattern, node)
    nfa.check_possessive(alphabet.masks)
    columns: list[frozenset[int] | None] = [*classes.members, None]
    states: dict[tuple[int, ...], int] = {(): 0, (nfa.start,): 1}
    rows: list[list[int]] = []
    waiting: list[tuple[int, ...]] = [(), (nfa.start,)]
    while len(rows) < len(waiting):
        row = []
        for sets in columns:
            after, matched = _step(nfa.all, waiting[len(rows)], sets)
            if matched and len(rows) == 1:
                raise refuse(pattern, "a match of nothing")
            if after not in states:
                states[after] = len(states)
                waiting.append(after)
            row.append(states[after] | (MATCH if matched else 0))
        rows.append(row)
        if len(states) > _MOST_STATES:
            raise refuse(pattern, f"more than {_MOST_STATES} states")
    return np.array(rows, np.uint16)


def _step(
    nfa: Sequence[_State], state: Sequence[int], sets: frozenset[int] | None
) -> tuple[tuple[int, ...], bool]:
    """The positions after a character of `sets` (None: end of the text), and True if a match ends before
    it."""
    after: list[int] = []
    seen: set[int] = set()
    waiting = list(reversed(state))
    while waiting:
        index = waiting.pop()
        if index in seen:
            continue
        seen.add(index)
        each = nfa[index]
        if each.matches:
            return tuple(dict.fromkeys(after)), True
        if each.characters is not None:
            if sets is not None and each.characters in sets:
                after += each.next
        elif each.ahead is None or (sets is not None and each.ahead.index in sets) != each.ahead.negative:
            waiting += reversed(each.next)
    return tuple(dict.fromkeys(after)), False
