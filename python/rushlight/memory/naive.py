# SPDX-License-Identifier: BSD-3-Clause
"""The planner that shares nothing, to compare others with and to find faults with."""

from __future__ import annotations

from rushlight.memory.problem import Problem
from rushlight.memory.requests import Layout


def naive(problem: Problem) -> Layout:
    """One request behind the other, whether they live at the same time or not."""
    offsets = []
    end = 0
    for size, alignment in zip(problem.sizes.tolist(), problem.alignments.tolist(), strict=True):
        offset = -(-end // alignment) * alignment
        offsets.append(offset)
        end = offset + size
    return Layout(tuple(offsets), end, "naive", end == problem.lower_bound)
