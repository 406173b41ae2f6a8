# SPDX-License-Identifier: BSD-3-Clause
"""Problems are taken apart without loss."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from rushlight.memory import Request
from rushlight.memory.parts import split_problem
from rushlight.memory.problem import Problem
from support.memory_requests import scattered, some_requests


def names(requests: list[Request]) -> tuple[dict[str, int], list[tuple[int, set[str]]]]:
    """Offsets of what is settled; the base and the names of each part."""
    offsets, parts = split_problem(Problem.of(requests))
    in_parts = {int(index) for part in parts for index in part.indices}
    settled = {r.name: int(offsets[i]) for i, r in enumerate(requests) if i not in in_parts}
    return settled, [(part.base, {requests[int(i)].name for i in part.indices}) for part in parts]


def test_what_lives_all_the_time_lies_below_the_rest() -> None:
    ring = [Request("a", 16, 0, 1), Request("b", 16, 1, 2), Request("c", 16, 2, 3), Request("d", 16, 3, 4)]
    settled, parts = names([Request("state", 32, 0, 4), Request("input", 16, 0, 2), *ring])
    assert settled == {"state": 0}
    assert parts == [(32, {"input", "a", "b", "c", "d"})]


def test_what_does_not_meet_is_apart() -> None:
    early = [Request(f"e{i}", 16, i, i + 1) for i in range(4)]
    late = [Request(f"l{i}", 16, i + 10, i + 11) for i in range(4)]
    settled, parts = names([*early, *late])
    assert settled == {}
    assert {base for base, _ in parts} == {0}
    assert sorted(sorted(group) for _, group in parts) == [["e0", "e1", "e2", "e3"], ["l0", "l1", "l2", "l3"]]


def test_a_chain_of_two_alive_at_a_time_needs_no_search() -> None:
    settled, parts = names([Request("whole", 64, 0, 2), Request("a", 16, 0, 0), Request("b", 32, 2, 2)])
    assert settled == {"whole": 0, "a": 64, "b": 64}
    assert parts == []


def test_other_alignments_are_not_put_at_the_bottom() -> None:
    settled, parts = names([Request("state", 16, 0, 4, alignment=64), Request("a", 16, 0, 1)])
    assert (settled, parts) == ({}, [(0, {"state", "a"})])


@given(requests=some_requests(most=20, alignments=(16,)))
def test_every_request_is_settled_or_in_one_part(requests: list[Request]) -> None:
    problem = Problem.of(requests)
    _, parts = split_problem(problem)
    indices = np.concatenate([np.empty(0, np.int64), *(part.indices for part in parts)])
    assert len(np.unique(indices)) == len(indices)
    bounds = [part.base + problem.part(part.indices.tolist()).lower_bound for part in parts]
    settled = [i for i in range(len(requests)) if i not in set(indices.tolist())]
    offsets, _ = split_problem(problem)
    tops = [int(offsets[i] + problem.sizes[i]) for i in settled]
    assert max([*bounds, *tops], default=0) == problem.lower_bound


def test_a_long_program_is_taken_apart_in_many_parts() -> None:
    _, parts = names(scattered(2000, 1, longest=3))
    assert len(parts) > 20
