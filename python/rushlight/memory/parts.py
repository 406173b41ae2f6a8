# SPDX-License-Identifier: BSD-3-Clause
"""Splits a problem without loss: optimal layouts of the parts give an optimal layout of the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rushlight.memory.problem import Ints, Problem


@dataclass(frozen=True)
class Part:
    """Requests that are planned separately above the first `base` bytes: `indices`, shape (count,)."""

    base: int
    indices: Ints


def split_problem(problem: Problem) -> tuple[Ints, list[Part]]:
    """The offsets of settled requests, shape (count,), 0 for all others; and the parts to solve.

    A request that is alive with every other one can go to the bottom: everything below it moves up by its
    size. Without those, requests split into groups with disjoint lifetimes, and each group is split again.
    With different alignments, the problem is split by time only.
    """
    offsets = np.zeros(len(problem), np.int64)
    one_alignment = len(np.unique(problem.alignments)) <= 1
    waiting = [Part(0, np.flatnonzero(problem.sizes))]
    parts = []
    while waiting:
        part = waiting.pop()
        rest, base = part.indices, part.base
        if one_alignment:
            rest, base = _settle_bottom(problem, part, offsets)
        groups = _groups(problem, rest)
        if len(groups) == 1 and len(rest) == len(part.indices):
            parts.append(part)
        else:
            waiting.extend(Part(base, group) for group in groups)
    return offsets, parts


def _settle_bottom(problem: Problem, part: Part, offsets: Ints) -> tuple[Ints, int]:
    """Places the requests that overlap all others in time at the part's bottom. Returns the others, and their
    base."""
    first, last = problem.first[part.indices], problem.last[part.indices]
    if not len(first):
        return part.indices, part.base
    meets_all = (first <= last.min()) & (last >= first.max())
    bottom = part.indices[meets_all]
    ends = part.base + np.cumsum(problem.sizes[bottom])
    offsets[bottom] = ends - problem.sizes[bottom]
    return part.indices[~meets_all], int(ends[-1]) if len(ends) else part.base


def _groups(problem: Problem, indices: Ints) -> list[Ints]:
    """Splits at positions that no lifetime crosses."""
    if not len(indices):
        return []
    by_time = indices[np.argsort(problem.first[indices], kind="stable")]
    reached = np.maximum.accumulate(problem.last[by_time])
    begins = np.flatnonzero(problem.first[by_time][1:] > reached[:-1]) + 1
    return np.split(by_time, begins)
