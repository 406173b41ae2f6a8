# SPDX-License-Identifier: BSD-3-Clause
"""Search finds the optimum of small problems, and is never worse than greedy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from rushlight.memory import Plan, Request, plan, verify
from support.memory_requests import least_size, packed, recurrent, scattered, some_requests

LEAVES_A_HOLE = [
    Request("a", 32, 1, 1),
    Request("b", 48, 1, 2),
    Request("c", 64, 4, 6),
    Request("d", 48, 5, 6),
    Request("e", 48, 5, 6),
    Request("f", 64, 2, 4),
]


# Its largest live set, 144 bytes, cannot be reached.
ABOVE_ITS_LIVE_SET = [
    Request("a", 48, 5, 6),
    Request("b", 32, 4, 5),
    Request("c", 64, 1, 1),
    Request("d", 16, 3, 5),
    Request("e", 32, 2, 5),
    Request("f", 64, 0, 3),
    Request("g", 32, 3, 4),
    Request("h", 64, 6, 7),
    Request("i", 16, 5, 6),
]


def made_valid(requests: list[Request], planner: str) -> Plan:
    made = plan(requests, planner=planner)
    verify(made, requests)
    return made


def test_search_finds_an_order_that_greedy_does_not_try() -> None:
    greedy, made = plan(LEAVES_A_HOLE, planner="greedy_by_size"), made_valid(LEAVES_A_HOLE, "auto")
    assert (greedy.peak, greedy.optimal) == (176, False)
    assert (made.peak, made.optimal, made.planner) == (160, True, "exact")


def test_an_optimum_above_the_largest_live_set_is_proven() -> None:
    greedy, made = plan(ABOVE_ITS_LIVE_SET, planner="greedy_by_size"), made_valid(ABOVE_ITS_LIVE_SET, "auto")
    assert greedy.peak == 176
    assert (made.peak, made.lower_bound, made.gap, made.optimal) == (160, 144, 16, True)


@settings(max_examples=150, deadline=None)
@given(requests=some_requests(most=6, alignments=(16,)))
def test_small_problems_are_solved_exactly(requests: list[Request]) -> None:
    made = made_valid(requests, "auto")
    assert made.optimal
    assert made.peak == least_size(requests)


@settings(max_examples=150, deadline=None)
@given(requests=some_requests(most=6, alignments=(16, 32, 64)))
def test_small_problems_of_several_alignments_are_solved_exactly(requests: list[Request]) -> None:
    made = made_valid(requests, "exact")
    assert made.optimal
    assert made.peak == least_size(requests)


@settings(max_examples=50, deadline=None)
@given(requests=some_requests(most=14, alignments=(16,)))
def test_a_dozen_requests_are_solved_with_proof(requests: list[Request]) -> None:
    made = made_valid(requests, "auto")
    assert made.optimal
    assert made.peak == made_valid(requests, "exact").peak


def test_what_lives_all_the_time_lies_at_the_bottom_of_an_exact_plan() -> None:
    requests = [Request("state", 160, 1, 6), *LEAVES_A_HOLE]
    made = made_valid(requests, "auto")
    assert made.by_name["state"].offset == 0
    assert made.peak == 160 + plan(LEAVES_A_HOLE).peak


@settings(max_examples=30, deadline=None)
@given(requests=some_requests(most=20))
def test_search_is_not_worse_than_greedy(requests: list[Request]) -> None:
    assert made_valid(requests, "auto").peak <= plan(requests, planner="greedy_by_size").peak


@pytest.mark.parametrize("seed", [1, 8, 10, 11, 12, 13])
def test_search_fills_the_gaps_that_greedy_leaves(seed: int) -> None:
    requests = packed(40, seed)
    assert plan(requests, planner="greedy_by_size").gap > 10_000
    made = made_valid(requests, "auto")
    assert (made.peak, made.gap, made.optimal) == (65536, 0, True)


@pytest.mark.parametrize("seed", range(3))
def test_hundreds_of_requests_come_nearer_to_the_bound(seed: int) -> None:
    requests = scattered(500, seed)
    made = made_valid(requests, "auto")
    assert made.gap <= 0.09 * made.lower_bound
    assert made.gap < plan(requests, planner="greedy_by_size").gap
    assert made.placements == plan(requests).placements


@pytest.mark.parametrize("layers", [2, 3])
def test_search_finds_the_least_memory_of_recurrent_networks(layers: int) -> None:
    """Where results of steps lie decides where the next layer's product can."""
    requests = recurrent(60, layers)
    assert plan(requests, planner="greedy_by_size").gap > 0.05 * plan(requests).lower_bound
    assert made_valid(requests, "auto").gap == 0
