# SPDX-License-Identifier: BSD-3-Clause
"""Takes a problem apart without loss: an optimal layout of the parts is one of the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rushlight.memory.problem import Ints, Problem


@dataclass(frozen=True)
class Part:
    """Requests that are laid out by themselves, above the first `base` bytes: `indices`, shape (count,)."""

    base: int
    indices: Ints


def take_apart(problem: Problem) -> tuple[Ints, list[Part]]:
    """Offsets of the requests that are settled, shape (count,), and the parts to solve; 0 is of all others.

    A request that lives as long as everything around it may as well lie at the bottom: what was below it
    moves up by its size. Once those are gone, requests fall into groups of which none meets another in time,
    and within a group the same is looked for again. Different alignments are only separated by time.
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
    """Put those that meet all others of the part at its bottom; the others, and where they begin."""
    first, last = problem.first[part.indices], problem.last[part.indices]
    if not len(first):
        return part.indices, part.base
    meets_all = (first <= last.min()) & (last >= first.max())
    bottom = part.indices[meets_all]
    ends = part.base + np.cumsum(problem.sizes[bottom])
    offsets[bottom] = ends - problem.sizes[bottom]
    return part.indices[~meets_all], int(ends[-1]) if len(ends) else part.base


def _groups(problem: Problem, indices: Ints) -> list[Ints]:
    """Split where nothing that lived before lives on."""
    if not len(indices):
        return []
    by_time = indices[np.argsort(problem.first[indices], kind="stable")]
    reached = np.maximum.accumulate(problem.last[by_time])
    begins = np.flatnonzero(problem.first[by_time][1:] > reached[:-1]) + 1
    return np.split(by_time, begins)
