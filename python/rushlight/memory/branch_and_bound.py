# SPDX-License-Identifier: BSD-3-Clause
"""Branch and bound over bottom-aligned layouts: exact for some dozen requests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rushlight.memory.problem import Ints, Problem

_NEVER = 1 << 62


def branch_and_bound(problem: Problem, start: list[int], target: int, nodes: int) -> tuple[list[int], bool]:
    """Offsets, shape (count,), and True if they are final: they reach `target`, or no smaller size exists.

    `start` are initial offsets; sizes must not be 0. After `nodes` search nodes it returns the best
    offsets so far. Requests are placed in order of their offsets, each directly above what lies below it:
    some optimal layout has every request at its lowest possible offset. At each position, the lowest
    offset still available plus the bytes still to place bound the size from below.
    """
    search = _Search(problem, np.array(start, np.int64), target, nodes)
    lowest = np.zeros(len(problem), np.int64)
    settled = search.descend(_Node(lowest, np.ones(len(problem), bool), search.demand, 0, -1))
    return search.best.tolist(), settled


@dataclass
class _Node:
    """A partial layout: `lowest` has the offset of each placed request, and for others the lowest free offset
    above the placed ones; `waiting` marks requests without an offset; `demand` has the bytes to place at
    each position. The last request placed is `index` at `floor`."""

    lowest: Ints
    waiting: np.ndarray
    demand: Ints
    floor: int
    index: int


class _Search:
    def __init__(self, problem: Problem, start: Ints, target: int, nodes: int) -> None:
        self._problem = problem
        self._target = target
        self._nodes = nodes
        self._covers = _maximal_live_sets(problem)
        self._areas = problem.sizes * (problem.last - problem.first + 1)
        first, last = problem.first[:, None], problem.last[:, None]
        self._meets = (first <= problem.last) & (last >= problem.first)
        self._twins = _twins(problem)
        self.demand: Ints = self._covers @ problem.sizes
        self.best = start
        self._size = problem.size_of(start)

    def descend(self, node: _Node) -> bool:
        """Tries all completions of a node; False if the node budget ran out."""
        if not node.waiting.any():
            size = self._problem.size_of(node.lowest)
            if size < self._size:
                self.best, self._size = node.lowest, size
            return True
        for index in self._candidates(node):
            if self._size <= self._target:
                return True
            child = self._placed(node, index)
            if self._bound(child) < self._size:
                self._nodes -= 1
                if self._nodes < 0 or not self.descend(child):
                    return False
        return True

    def _candidates(self, node: _Node) -> list[int]:
        """The requests that may be next: not below the last one, and not so high that another request fits
        below."""
        lowest = node.lowest
        fits_below = np.where(node.waiting, lowest + self._problem.sizes, _NEVER).min()
        later = np.arange(len(lowest)) > node.index
        in_order = (lowest > node.floor) | ((lowest == node.floor) & later)
        allowed = node.waiting & in_order & (lowest < fits_below)
        twin = self._twins
        allowed &= (twin < 0) | ~node.waiting[twin]
        indices = np.flatnonzero(allowed)
        ordered: list[int] = indices[np.lexsort((-self._areas[indices], lowest[indices]))].tolist()
        return ordered

    def _placed(self, node: _Node, index: int) -> _Node:
        """The node after placing one more request."""
        floor = int(node.lowest[index])
        waiting = node.waiting.copy()
        waiting[index] = False
        alignments = self._problem.alignments
        above = (floor + self._problem.sizes[index] + alignments - 1) & -alignments
        rivals = self._meets[index] & waiting
        lowest = np.where(rivals, np.maximum(node.lowest, above), node.lowest)
        demand = node.demand - self._covers[:, index] * self._problem.sizes[index]
        return _Node(lowest, waiting, demand, floor, index)

    def _bound(self, node: _Node) -> int:
        """A lower bound on the size of every completion."""
        floors = np.where(node.waiting, np.maximum(node.lowest, node.floor), _NEVER)
        tops = np.where(node.waiting, 0, node.lowest + self._problem.sizes)
        least = np.where(self._covers, floors, _NEVER).min(axis=1)
        bounds = np.where(node.demand > 0, least + node.demand, 0)
        return int(max(bounds.max(), tops.max()))


def _maximal_live_sets(problem: Problem) -> np.ndarray:
    """The requests alive at each relevant position, bool (positions, count): positions where some lifetime
    ends. At every other position the alive set is a subset of the next one's."""
    at = np.unique(problem.last)[:, None]
    return (problem.first <= at) & (problem.last >= at)


def _twins(problem: Problem) -> Ints:
    """For each request the index of the previous one with equal size and lifetime, which may come first; -1
    for none."""
    seen: dict[tuple[int, ...], int] = {}
    twins = []
    columns = (problem.sizes, problem.first, problem.last, problem.alignments)
    for index, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        twins.append(seen.get(row, -1))
        seen[row] = index
    return np.array(twins, np.int64)
