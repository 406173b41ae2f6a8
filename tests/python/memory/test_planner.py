# SPDX-License-Identifier: BSD-3-Clause
"""Plans are valid, never below the lower bound, and say what does not fit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from rushlight.errors import DoesNotFit, InvalidArgument
from rushlight.memory import Bank, Request, plan, verify
from support.memory_requests import some_requests


@pytest.mark.parametrize("planner", ["naive", "greedy_by_size", "auto"])
@settings(max_examples=50, deadline=None)
@given(requests=some_requests())
def test_a_plan_is_valid_and_not_below_the_lower_bound(planner: str, requests: list[Request]) -> None:
    made = plan(requests, planner=planner)
    verify(made, requests)
    assert made.peak >= made.lower_bound


@settings(max_examples=20, deadline=None)
@given(requests=some_requests())
def test_a_plan_is_the_same_again(requests: list[Request]) -> None:
    assert plan(requests).placements == plan(requests).placements


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
    with pytest.raises(InvalidArgument, match=r"'a': expected one of 1 \('sram'\), got 3"):
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
