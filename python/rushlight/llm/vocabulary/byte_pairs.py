# SPDX-License-Identifier: BSD-3-Clause
"""Byte pair encoding: the table of merges, and the tokens that their own text encodes to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Pairs = dict[tuple[int, int], tuple[int, int]]
"""Rank and result for each pair of tokens."""


def pairs_of(merges: Iterable[tuple[str, str]], vocabulary: Mapping[str, int]) -> Pairs:
    """The merges in order of rank; pairs with a part or result that is no token are left out."""
    pairs: Pairs = {}
    for rank, (left, right) in enumerate(merges):
        tokens = [vocabulary.get(text) for text in (left, right, left + right)]
        if None not in tokens:
            a, b, both = (token for token in tokens if token is not None)
            pairs[a, b] = rank, both
    return pairs


def pairs_by_score(vocabulary: Mapping[str, int], scores: Sequence[float]) -> Pairs:
    """SentencePiece's rule: two tokens merge if their concatenation is a token, the one with the highest
    score first. All splits of a token have the same rank."""
    ranks = {score: rank for rank, score in enumerate(sorted(set(scores), reverse=True))}
    pairs: Pairs = {}
    for text, both in vocabulary.items():
        for cut in range(1, len(text)):
            left, right = vocabulary.get(text[:cut]), vocabulary.get(text[cut:])
            if left is not None and right is not None:
                pairs[left, right] = ranks[scores[both]], both
    return pairs


def table_of(pairs: Pairs) -> NDArray[np.uint32]:
    """The merges as rows of left, right, rank, result."""
    rows = [(*pair, *rank) for pair, rank in pairs.items()]
    return np.array(rows, np.uint32).reshape(-1, 4)


def join(tokens: list[int], pairs: Pairs) -> list[int]:
    """Applies the merges to the tokens of a piece, the lowest rank first, and returns the result."""
    while len(tokens) > 1:
        ranked = [(pairs[pair], i) for i, pair in enumerate(pairwise(tokens)) if pair in pairs]
        if not ranked:
            break
        (_, both), at = min(ranked, key=lambda found: (found[0][0], found[1]))
        tokens[at : at + 2] = [both]
    return tokens


def whole_tokens(
    vocabulary: Mapping[str, int], pairs: Pairs, first_tokens: Callable[[str], list[int]]
) -> list[int]:
    """The tokens whose own text encodes to exactly that token: a piece equal to one of them needs no
    merging."""
    return [token for text, token in vocabulary.items() if join(first_tokens(text), pairs) == [token]]
