# SPDX-License-Identifier: BSD-3-Clause
"""Minimum cuts: divides things in two at the least cost.

Dinic's algorithm (E. A. Dinic, 1970): blocking flows over shortest paths. O(V^2 E) in theory; graphs of a
model's tensors take a few rounds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

_Thing = TypeVar("_Thing", bound=Hashable)

UNLIMITED = 1 << 62
"""A cost that no cut pays if another cut exists."""


class MinimumCut(Generic[_Thing]):
    """A directed graph with two terminals: the sides to divide the things into."""

    def __init__(self) -> None:
        self._numbers: dict[_Thing, int] = {}
        # By node: its edges. By edge: target and remaining capacity; edge e ^ 1 is its reverse.
        self._edges: list[list[int]] = [[], []]
        self._targets: list[int] = []
        self._left: list[int] = []

    def first(self, thing: _Thing, cost: int) -> None:
        """Adds the cost of dividing `thing` to the second side."""
        self._edge(0, self._number(thing), cost)

    def second(self, thing: _Thing, cost: int) -> None:
        """Adds the cost of dividing `thing` to the first side."""
        self._edge(self._number(thing), 1, cost)

    def apart(self, one: _Thing, other: _Thing, cost: int) -> None:
        """Adds the cost of `one` on the first side and `other` on the second."""
        self._edge(self._number(one), self._number(other), cost)

    def solve(self) -> set[_Thing]:
        """The things of the first side of the cheapest division, the fewest if several are the cheapest. Call
        it once."""
        while (levels := self._levels())[1] >= 0:
            at = [0] * len(self._edges)
            while self._push(levels, at):
                pass
        return {thing for thing, number in self._numbers.items() if levels[number] >= 0}

    def _number(self, thing: _Thing) -> int:
        if thing not in self._numbers:
            self._numbers[thing] = len(self._edges)
            self._edges.append([])
        return self._numbers[thing]

    def _edge(self, source: int, target: int, capacity: int) -> None:
        for here, there, left in ((source, target, capacity), (target, source, 0)):
            self._edges[here].append(len(self._targets))
            self._targets.append(there)
            self._left.append(left)

    def _levels(self) -> list[int]:
        """The distance of each node from the first terminal over edges with capacity; -1 if out of reach."""
        levels = [-1] * len(self._edges)
        levels[0] = 0
        waiting = deque([0])
        while waiting:
            node = waiting.popleft()
            for edge in self._edges[node]:
                target = self._targets[edge]
                if self._left[edge] > 0 and levels[target] < 0:
                    levels[target] = levels[node] + 1
                    waiting.append(target)
        return levels

    def _push(self, levels: list[int], at: list[int]) -> bool:
        """Pushes flow along one shortest path; False if none is left. `at` has each node's next edge."""
        path: list[int] = []
        node = 0
        while node != 1:
            edges = self._edges[node]
            while at[node] < len(edges) and not self._leads(edges[at[node]], levels, node):
                at[node] += 1
            if at[node] < len(edges):
                path.append(edges[at[node]])
                node = self._targets[path[-1]]
            elif path:
                node = self._targets[path.pop() ^ 1]
                at[node] += 1
            else:
                return False
        flow = min(self._left[edge] for edge in path)
        for edge in path:
            self._left[edge] -= flow
            self._left[edge ^ 1] += flow
        return True

    def _leads(self, edge: int, levels: list[int], node: int) -> bool:
        return self._left[edge] > 0 and levels[self._targets[edge]] == levels[node] + 1
