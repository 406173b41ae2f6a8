# SPDX-License-Identifier: BSD-3-Clause
"""Assigns requests to banks: the fastest bank takes the requests with the most uses per byte."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rushlight.memory.greedy import Placed, greedy_by_size
from rushlight.memory.problem import Problem
from rushlight.memory.requests import Bank, Layout, Request

Planner = Callable[[Problem], Layout]

_REPLANS, _REPLANNED = 16, 2000
"""Limits on the time spent planning a bank again to fit one more request: the number of plans, and the number
of requests over all of them."""


@dataclass
class Share:
    """The requests of one bank: their indices and current offsets in bytes."""

    bank: Bank
    indices: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)


class DoesNotFit(Exception):
    """`index` is a request that fits in no allowed bank, in any order tried."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def spread(
    requests: Sequence[Request], problem: Problem, banks: Sequence[Bank], planner: Planner
) -> list[Share]:
    """A share for each bank, in the order of `banks`: of several tries the one with the least time for reads
    and writes.

    Requests with a fixed bank come first, then the most used: by uses per byte and instruction of
    lifetime, by bytes × uses, by size. Errors: DoesNotFit.
    """
    best: list[Share] | None = None
    least = float("inf")
    lost: DoesNotFit | None = None
    for order in _orders(requests, problem):
        try:
            shares = _fill(requests, problem, banks, order, planner)
        except DoesNotFit as error:
            lost = lost or error
            continue
        cost = _cost(requests, shares)
        if cost < least:
            best, least = shares, cost
    if best is None:
        assert lost is not None
        raise lost
    return best


def _orders(requests: Sequence[Request], problem: Problem) -> list[list[int]]:
    """Placement orders of the requests; in each, those with a fixed bank come first."""
    uses = np.array([request.uses for request in requests], np.float64)
    lives = np.array([request.last - request.first + 1 for request in requests], np.float64)
    free = np.array([request.bank is None for request in requests], np.int64)
    keys = (uses / lives, uses * problem.sizes, problem.sizes)
    return [np.lexsort((problem.first, -problem.sizes, -key, free)).tolist() for key in keys]


def _cost(requests: Sequence[Request], shares: Sequence[Share]) -> float:
    """The time of all reads and writes, in the units of the banks' speeds."""
    return sum(
        requests[index].nbytes * requests[index].uses / share.bank.speed
        for share in shares
        for index in share.indices
    )


def _fill(
    requests: Sequence[Request],
    problem: Problem,
    banks: Sequence[Bank],
    order: Sequence[int],
    planner: Planner,
) -> list[Share]:
    """Places each request of `order` in the fastest bank where it fits."""
    fillings = [_Filling(problem, bank) for bank in banks]
    fastest = sorted(fillings, key=lambda filling: -filling.share.bank.speed)
    for index in order:
        allowed = [f for f in fastest if requests[index].bank in (None, f.share.bank.id)]
        if any(filling.add(index) for filling in allowed):
            continue
        if not any(filling.replan_with(index, planner) for filling in allowed):
            raise DoesNotFit(index)
    return [filling.share for filling in fillings]


class _Filling:
    """A bank while it is being filled."""

    def __init__(self, problem: Problem, bank: Bank) -> None:
        self.share = Share(bank)
        self._problem = problem
        self._placed = Placed(len(problem))
        self._replans = min(_REPLANS, _REPLANNED // max(len(problem), 1))

    def add(self, index: int) -> bool:
        """Adds a request in the best gap, or by planning the bank again; False if it does not fit."""
        problem = self._problem
        size, first, last = (int(column[index]) for column in (problem.sizes, problem.first, problem.last))
        offset = self._placed.best_fit(size, first, last, int(problem.alignments[index]))
        if self.share.bank.size is None or offset + size <= self.share.bank.size:
            self._placed.insert(offset, size, first, last)
            self.share.indices.append(index)
            self.share.offsets.append(offset)
            return True
        self._replans -= 1
        return self._replans >= 0 and self.replan_with(index, greedy_by_size)

    def replan_with(self, index: int, planner: Planner) -> bool:
        """Plans the bank again with one more request; False if it does not fit."""
        capacity = self.share.bank.size
        assert capacity is not None
        indices = [*self.share.indices, index]
        part = self._problem.part(indices)
        if part.lower_bound > capacity:
            return False
        layout = planner(part)
        if layout.size > capacity:
            return False
        self.share.indices, self.share.offsets = indices, list(layout.offsets)
        self._placed = Placed(len(self._problem))
        for at, offset in zip(indices, layout.offsets, strict=True):
            size, first, last = (
                int(column[at]) for column in (self._problem.sizes, self._problem.first, self._problem.last)
            )
            self._placed.insert(offset, size, first, last)
        return True
