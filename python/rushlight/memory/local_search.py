# SPDX-License-Identifier: BSD-3-Clause
"""Local search over placement orders: near the optimum for hundreds of requests."""

from __future__ import annotations

import random

import numpy as np

from rushlight.memory.problem import Problem

_Layout = tuple[int, list[int]]

_FEW, _MOST = 12, 8_000_000
"""The minimum number of rounds, even beyond the requested visits, but within this many visits."""

_MEMORY = 30
"""Late acceptance compares with the cost of 1 / 30 of all rounds ago."""


def local_search(problem: Problem, start: list[int], target: int, visits: int) -> list[int]:
    """Offsets, shape (count,), with a size not above that of the offsets `start`.

    Each request takes its lowest free offset. Some order (that of an optimal layout's offsets) gives an
    optimal layout, so the search is over orders: requests that extend beyond `target` bytes, or their
    supports, swap positions with others. A trial is accepted if it is no worse than some rounds ago (late
    acceptance, Burke and Bykov). Ends when `target` is reached or after about `visits` visits of placed
    requests; random with a fixed seed.
    """
    search = _Search(problem, target)
    generator = random.Random(len(problem))
    order = sorted(range(len(problem)), key=start.__getitem__)
    best, current = (problem.size_of(np.array(start)), start), search.lay_out(order)
    best = min(best, current, key=_size)
    rounds = max(visits // search.work, min(_FEW, _MOST // search.work))
    cost = search.cost(current)
    past = [cost] * max(rounds // _MEMORY, 1)
    for round_index in range(rounds):
        if best[0] <= target:
            break
        trial = search.moved(order, current[1], generator)
        made = search.lay_out(trial)
        if search.cost(made) <= max(cost, past[round_index % len(past)]):
            order, current, cost = trial, made, search.cost(made)
            best = min(best, made, key=_size)
        past[round_index % len(past)] = cost
    return best[1]


def _reordered(order: list[int], one: int, other: int, *, swap: bool) -> list[int]:
    """The order with `one` and `other` swapped, or with `one` moved before `other`."""
    changed = list(order)
    at, to = changed.index(one), changed.index(other)
    if swap:
        changed[at], changed[to] = other, one
    else:
        changed.insert(to, changed.pop(at))
    return changed


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

    def lay_out(self, order: list[int]) -> _Layout:
        """The size and the offsets if each request, in order, takes its lowest free offset."""
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
        """The cost to minimize: the size, then the bytes × time beyond the target."""
        target = self._target
        over = sum(
            (offset + size - target) * lives
            for offset, size, lives in zip(layout[1], self._sizes, self._lives, strict=True)
            if offset + size > target
        )
        return layout[0], over

    def moved(self, order: list[int], offsets: list[int], generator: random.Random) -> list[int]:
        """The order with a change in favour of a random request that extends beyond the target."""
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
        return _reordered(order, one, other, swap=generator.random() < 0.5)

    def _large(self, indices: list[int], generator: random.Random) -> int:
        """A random index, with probability proportional to its size."""
        return generator.choices(indices, [self._sizes[index] for index in indices])[0]

    def _all_before_one(self, order: list[int], over: list[int], one: int) -> list[int]:
        """Moves all requests that extend beyond the target and overlap `one` in time before it: it may block
        each of them, as a concatenation of many results does."""
        group = {index for index in over if index != one}.intersection(self._rivals[one])
        rest = [index for index in order if index not in group]
        at = rest.index(one)
        return [*rest[:at], *(index for index in over if index in group), *rest[at:]]

    def _holding_up(self, index: int, offsets: list[int]) -> list[int]:
        """The request and the chain of requests that support it, down to offset 0."""
        chain = [index]
        for held in chain:
            floor, alignment = offsets[held], self._alignments[held]
            for rival in self._rivals[held]:
                end = offsets[rival] + self._sizes[rival]
                if end <= floor < end + alignment and rival not in chain:
                    chain.append(rival)
        return chain
