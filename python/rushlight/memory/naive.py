# SPDX-License-Identifier: BSD-3-Clause
"""The planner without sharing, as a baseline and for debugging."""

from __future__ import annotations

from rushlight.memory.problem import Problem
from rushlight.memory.requests import Layout


def naive(problem: Problem) -> Layout:
    """Places requests one after another, whatever their lifetimes."""
    offsets = []
    end = 0
    for size, alignment in zip(problem.sizes.tolist(), problem.alignments.tolist(), strict=True):
        offset = -(-end // alignment) * alignment
        offsets.append(offset)
        end = offset + size
    return Layout(tuple(offsets), end, "naive", end == problem.lower_bound)
