# SPDX-License-Identifier: BSD-3-Clause
"""A search over the orders in which requests are placed: near the optimum, for hundreds of requests."""

from __future__ import annotations

import random

import numpy as np

from rushlight.export.memory.problem import Problem

_Layout = tuple[int, list[int]]


def local_search(problem: Problem, start: list[int], target: int, visits: int) -> list[int]:
    """Offsets, shape (count,), whose size is not above that of the offsets `start`.

    Each request is put at the lowest place that it fits. An optimal layout comes out of some order (that of
    its own offsets), so orders are what is searched: requests that reach beyond `target` bytes, or what holds
    them up, swap turns with others; what is not worse is kept. Ends when `target` is reached or about so many
    `visits` of placed requests were made; random, with a fixed seed.
    """
    search = _Search(problem, target)
    generator = random.Random(len(problem))
    order = sorted(range(len(problem)), key=start.__getitem__)
    best, current = (problem.size_of(np.array(start)), start), search.place(order)
    best = min(best, current, key=_size)
    rounds = visits // max(search.work, 1)
    while rounds > 0 and best[0] > target:
        rounds -= 1
        trial = search.moved(order, current[1], generator)
        made = search.place(trial)
        if search.cost(made) <= search.cost(current):
            order, current = trial, made
            best = min(best, made, key=_size)
    return best[1]


def _size(layout: _Layout) -> int:
    return layout[0]


class _Search:
    def __init__(self, problem: Problem, target: int) -> None:
        self._sizes: list[int] = problem.sizes.tolist()
        self._alignments: list[int] = problem.alignments.tolist()
        self._lives: list[int] = (problem.last - problem.first + 1).tolist()
        self._target = target
        self._rivals = [
            np.flatnonzero((problem.first <= last) & (problem.last >= first)).tolist()
            for first, last in zip(problem.first.tolist(), problem.last.tolist(), strict=True)
        ]
        self.work = sum(len(rivals) + 10 for rivals in self._rivals)

    def place(self, order: list[int]) -> _Layout:
        """The size and the offsets if each in turn gets the lowest place that it fits."""
        sizes, alignments = self._sizes, self._alignments
        offsets = [-1] * len(order)
        top = 0
        for index in order:
            size, mask = sizes[index], alignments[index] - 1
            taken = [(offsets[rival], sizes[rival]) for rival in self._rivals[index] if offsets[rival] >= 0]
            taken.sort()
            offset = 0
            for begin, length in taken:
                if offset + size <= begin:
                    break
                end = begin + length
                if end > offset:
                    offset = (end + mask) & ~mask
            offsets[index] = offset
            if offset + size > top:
                top = offset + size
        return top, offsets

    def cost(self, layout: _Layout) -> tuple[int, int]:
        """What is to be small: the size, then the bytes × time beyond the target."""
        target = self._target
        over = sum(
            (offset + size - target) * lives
            for offset, size, lives in zip(layout[1], self._sizes, self._lives, strict=True)
            if offset + size > target
        )
        return layout[0], over

    def moved(self, order: list[int], offsets: list[int], generator: random.Random) -> list[int]:
        """The order, with a request that is to blame having swapped turns with another, or gone before it."""
        over = [index for index in order if offsets[index] + self._sizes[index] > self._target]
        chain = self._holding_up(generator.choice(over), offsets)
        one = generator.choice(chain)
        other = generator.choice(self._rivals[generator.choice(chain)])
        turns = list(order)
        at, to = turns.index(one), turns.index(other)
        if generator.random() < 0.5:
            turns[at], turns[to] = other, one
        else:
            turns.insert(to, turns.pop(at))
        return turns

    def _holding_up(self, index: int, offsets: list[int]) -> list[int]:
        """The request and what it lies on, down to the ground."""
        chain = [index]
        for held in chain:
            floor, alignment = offsets[held], self._alignments[held]
            for rival in self._rivals[held]:
                end = offsets[rival] + self._sizes[rival]
                if end <= floor < end + alignment and rival not in chain:
                    chain.append(rival)
        return chain
