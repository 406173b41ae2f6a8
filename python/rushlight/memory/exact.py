# SPDX-License-Identifier: BSD-3-Clause
"""Refines greedy plans: exact for small problems, near the optimum for larger ones.

Method: split the problem into independent parts, then branch and bound for small parts and local search
for the others, until the lower bound is reached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rushlight.memory.branch_and_bound import branch_and_bound
from rushlight.memory.greedy import greedy_by_size
from rushlight.memory.local_search import local_search
from rushlight.memory.parts import Part, split_problem
from rushlight.memory.problem import Problem
from rushlight.memory.requests import Layout


@dataclass(frozen=True)
class Effort:
    """The search budget, counted in work instead of seconds so that plans are reproducible.

    `nodes` of branch and bound (about 60 µs each) for parts of at most `exact_requests`, then `visits` of
    local search (about 0.1 µs each) for parts of at most `requests`.
    """

    nodes: int
    exact_requests: int
    visits: int
    requests: int


QUICK = Effort(nodes=1500, exact_requests=64, visits=1_500_000, requests=2000)
THOROUGH = Effort(nodes=60_000, exact_requests=200, visits=40_000_000, requests=5000)


def exact(problem: Problem) -> Layout:
    """The best layout, or the best that some seconds of search find."""
    return search(problem, THOROUGH)


def auto(problem: Problem) -> Layout:
    """The greedy layout if it reaches the lower bound, else the best that a quarter of a second finds."""
    return search(problem, QUICK)


def search(problem: Problem, effort: Effort) -> Layout:
    """The best layout within the effort; never larger than the greedy one."""
    greedy = greedy_by_size(problem)
    if greedy.optimal:
        return greedy
    offsets, parts = split_problem(problem)
    solved = [_Solved(problem, part) for part in parts]
    bound = max([problem.lower_bound, *(one.bound for one in solved)])
    above = sorted((one for one in solved if one.size > bound), key=lambda one: -one.size)
    goal = bound
    for one in above:
        one.improve(goal, effort, len(above))
        goal = max(goal, one.size)
    for one in solved:
        offsets[one.part.indices] = one.part.base + np.array(one.offsets, np.int64)
    size = problem.size_of(offsets)
    bound = max([problem.lower_bound, *(one.bound for one in solved)])
    if size >= greedy.size:
        return Layout(greedy.offsets, greedy.size, greedy.planner, greedy.size == bound)
    return Layout(tuple(offsets.tolist()), size, "exact", size == bound)


class _Solved:
    """A part with its best layout so far: `offsets` are relative to its base; `size` and `bound` are relative
    to the bottom of the bank."""

    def __init__(self, problem: Problem, part: Part) -> None:
        self.part = part
        self._problem = problem.part(part.indices)
        self.bound = part.base + self._problem.lower_bound
        self._keep(list(greedy_by_size(self._problem).offsets))

    def _keep(self, offsets: list[int]) -> None:
        self.offsets = offsets
        self.size = self.part.base + self._problem.size_of(np.array(offsets, np.int64))

    def improve(self, goal: int, effort: Effort, sharers: int) -> None:
        """Searches until `goal` is reached or this part's share of the effort (1 / `sharers`) is used."""
        problem, target = self._problem, max(goal, self.bound) - self.part.base
        if len(problem) <= effort.exact_requests:
            offsets, settled = branch_and_bound(problem, self.offsets, target, effort.nodes // sharers)
            self._keep(offsets)
            if settled and self.size > self.part.base + target:
                self.bound = self.size
        if len(problem) <= effort.requests and self.size > max(self.part.base + target, self.bound):
            self._keep(local_search(problem, self.offsets, target, effort.visits // sharers))
