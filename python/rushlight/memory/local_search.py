# SPDX-License-Identifier: BSD-3-Clause
"""A search over the orders in which requests are placed: near the optimum, for hundreds of requests."""

from __future__ import annotations

import random

import numpy as np

from rushlight.memory.problem import Problem

_Layout = tuple[int, list[int]]

_FEW, _MOST = 12, 8_000_000
"""Rounds that are made even where they take more visits than asked for, but not more visits than that."""

_MEMORY = 30
"""The share of all rounds, as 1 / 30, that a layout may be as bad as one was before."""


def local_search(problem: Problem, start: list[int], target: int, visits: int) -> list[int]:
    """Offsets, shape (count,), whose size is not above that of the offsets `start`.

    Each request is put at the lowest place that it fits. An optimal layout comes out of some order (that of
    its own offsets), so orders are what is searched: requests that reach beyond `target` bytes, or what holds
    them up, change turns with others. What is not worse than some rounds ago is kept ("late acceptance").
    Ends when `target` is reached or about so many `visits` of placed requests were made; random, with a
    fixed seed.
    """
    search = _Search(problem, target)
    generator = random.Random(len(problem))
    order = sorted(range(len(problem)), key=start.__getitem__)
    best, current = (problem.size_of(np.array(start)), start), search.place(order)
    best = min(best, current, key=_size)
    rounds = max(visits // search.work, min(_FEW, _MOST // search.work))
    cost = search.cost(current)
    past = [cost] * max(rounds // _MEMORY, 1)
    for turn in range(rounds):
        if best[0] <= target:
            break
        trial = search.moved(order, current[1], generator)
        made = search.place(trial)
        if search.cost(made) <= max(cost, past[turn % len(past)]):
            order, current, cost = trial, made, search.cost(made)
            best = min(best, made, key=_size)
        past[turn % len(past)] = cost
    return best[1]


def _turns_changed(order: list[int], one: int, other: int, *, swap: bool) -> list[int]:
    """The two swap turns, or `one` goes before `other`."""
    turns = list(order)
    at, to = turns.index(one), turns.index(other)
    if swap:
        turns[at], turns[to] = other, one
    else:
        turns.insert(to, turns.pop(at))
    return turns


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
        """The order, changed to the good of a request that reaches beyond the target, chosen at random."""
        over = [index for index in order if offsets[index] + self._sizes[index] > self._target]
        index = generator.choice(over)
        kind = generator.random()
        if kind < 0.3:
            return self._all_before_one(order, over, self._large(self._rivals[index], generator))
        chain = self._holding_up(index, offsets)
        if kind < 0.6:
            one = self._large(chain, generator)
            other = self._large(self._rivals[one], generator)
        else:
            one = generator.choice(chain)
            other = generator.choice(self._rivals[generator.choice(chain)])
        return _turns_changed(order, one, other, swap=generator.random() < 0.5)

    def _large(self, indices: list[int], generator: random.Random) -> int:
        """One of them, rather a large one."""
        return generator.choices(indices, [self._sizes[index] for index in indices])[0]

    def _all_before_one(self, order: list[int], over: list[int], one: int) -> list[int]:
        """All that are beyond the target and meet `one` go before it: it may be in the way of each, as the
        concatenation of many results is."""
        group = {index for index in over if index != one}.intersection(self._rivals[one])
        rest = [index for index in order if index not in group]
        at = rest.index(one)
        return [*rest[:at], *(index for index in over if index in group), *rest[at:]]

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
