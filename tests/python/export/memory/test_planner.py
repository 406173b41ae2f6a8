# SPDX-License-Identifier: BSD-3-Clause
"""Plans are valid, never below the lower bound, and say what does not fit."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushlight.errors import DoesNotFit, InvalidArgument
from rushlight.export.memory import PLANNERS, Bank, Request, plan, verify

SIZES = st.integers(0, 200)


@st.composite
def a_request(draw: st.DrawFn, index: int = 0, alignments: tuple[int, ...] = (16,)) -> Request:
    first = draw(st.integers(0, 8))
    return Request(
        f"t{index}",
        draw(SIZES),
        first,
        first + draw(st.integers(0, 5)),
        alignment=draw(st.sampled_from(alignments)),
        uses=draw(st.integers(1, 4)),
    )


@st.composite
def some_requests(
    draw: st.DrawFn, most: int = 12, alignments: tuple[int, ...] = (1, 16, 64)
) -> list[Request]:
    return [draw(a_request(index, alignments)) for index in range(draw(st.integers(0, most)))]


def _meet(one: Request, other: Request) -> bool:
    return one.first <= other.last and other.first <= one.last


def least_size(requests: list[Request]) -> int:
    """The optimum, for alignment 1: the best of first fits in all orders."""
    least = sum(request.nbytes for request in requests)
    for order in itertools.permutations(requests):
        placed: list[tuple[Request, int]] = []
        for request in order:
            rivals = [(o, o + p.nbytes) for p, o in placed if _meet(p, request)]
            floors = sorted({0, *(end for _, end in rivals)})
            fits = (f for f in floors if all(f + request.nbytes <= o or e <= f for o, e in rivals))
            placed.append((request, next(fits)))
        least = min(least, max((offset + request.nbytes for request, offset in placed), default=0))
    return least


@pytest.mark.parametrize("planner", PLANNERS)
@given(requests=some_requests())
def test_a_plan_is_valid_and_not_below_the_lower_bound(planner: str, requests: list[Request]) -> None:
    made = plan(requests, planner=planner)
    verify(made, requests)
    assert made.peak >= made.lower_bound
    assert not made.optimal or planner == "exact" or made.gap == 0 or planner == "auto"


@given(requests=some_requests())
def test_a_plan_is_the_same_again(requests: list[Request]) -> None:
    assert plan(requests).placements == plan(requests).placements


@given(requests=some_requests(most=5, alignments=(1,)))
def test_what_is_called_optimal_is(requests: list[Request]) -> None:
    made = plan(requests)
    least = least_size(requests)
    assert made.peak >= least
    assert made.peak == least or not made.optimal


def test_requests_that_do_not_live_together_share_bytes() -> None:
    made = plan([Request("a", 64, 0, 1), Request("b", 64, 2, 3), Request("c", 16, 1, 2)])
    assert made.buffer_sizes == (0, 80)
    assert made.by_name["a"] == made.by_name["b"]
    assert made.optimal


def test_what_ends_where_another_begins_is_kept_apart() -> None:
    made = plan([Request("a", 64, 0, 1), Request("b", 64, 1, 2)])
    assert made.buffer_sizes == (0, 128)


def test_no_requests_need_no_memory() -> None:
    made = plan([])
    assert (made.peak, made.lower_bound, made.buffer_sizes, made.optimal) == (0, 0, (0,), True)


def test_an_unknown_planner_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"greedy_by_size.*got 'best'"):
        plan([], planner="best")


def test_a_bank_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"'a': one of 1 \('sram'\) expected, got 3"):
        plan([Request("a", 4, 0, 1, bank=3)], [Bank("sram", 1)])


def test_a_plan_that_does_not_fit_names_what_is_alive_at_the_peak() -> None:
    requests = [
        Request("early", 500, 0, 1),
        Request("x", 300, 2, 5, note="model.py:7"),
        Request("y", 400, 3, 4, note="model.py:8"),
        Request("z", 100, 4, 6),
    ]
    with pytest.raises(DoesNotFit) as caught:
        plan(requests, [Bank("sram", 1, 512)])
    error = caught.value
    assert (error.needed, error.available, error.short) == (816, 512, 304)
    assert [row[0] for row in error.alive] == ["y", "x", "z"]
    assert "bank 'sram': 816 bytes needed, 512 available, 304 short" in str(error)
    assert "instruction 4" in str(error)
    assert "400 bytes  y  model.py:8" in str(error)
    assert "early" not in str(error)
