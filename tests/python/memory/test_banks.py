# SPDX-License-Identifier: BSD-3-Clause
"""Requests are spread over banks: what is used most to the fastest, the rest to the next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushlight.errors import DoesNotFit
from rushlight.memory import Bank, Request, plan, verify

FAST = Bank("fast", 2, 128, speed=4)
SLOW = Bank("slow", 1, 1024, speed=1)


def test_what_fits_is_in_the_fastest_bank() -> None:
    made = plan([Request("a", 64, 0, 1), Request("b", 64, 1, 2)], [SLOW, FAST])
    assert made.buffer_sizes == (0, 0, 128)


def test_what_is_used_most_is_in_the_fastest_bank() -> None:
    requests = [Request("rarely", 128, 0, 9, uses=2), Request("often", 128, 0, 9, uses=9)]
    made = plan(requests, [SLOW, FAST])
    assert made.by_name["often"].bank == 2
    assert made.by_name["rarely"].bank == 1
    assert made.buffer_sizes == (0, 128, 128)


def test_short_lives_share_the_fast_bank_rather_than_one_long_life_hold_it() -> None:
    short = [Request(f"t{i}", 128, i, i, uses=2) for i in range(8)]
    made = plan([Request("state", 128, 0, 9, uses=2), *short], [FAST, SLOW])
    assert made.by_name["state"].bank == 1
    assert {made.by_name[f"t{i}"].bank for i in range(8)} == {2}


def test_a_fixed_bank_is_kept_to() -> None:
    requests = [Request("a", 100, 0, 9, bank=1), Request("b", 100, 0, 9, bank=2), Request("c", 100, 0, 9)]
    made = plan(requests, [FAST, SLOW])
    assert [placement.bank for placement in made.placements] == [1, 2, 1]
    verify(made, requests)


def test_banks_that_requests_fix_need_no_description() -> None:
    made = plan([Request("a", 16, 0, 1, bank=3), Request("b", 32, 0, 1)])
    assert made.buffer_sizes == (0, 32, 0, 16)
    assert (made.peak, made.lower_bound) == (48, 48)


def test_the_lower_bound_counts_fixed_banks_by_themselves() -> None:
    made = plan([Request("a", 16, 0, 1, bank=1), Request("b", 32, 2, 3, bank=2)])
    assert (made.peak, made.lower_bound) == (48, 48)


def test_a_plan_over_several_banks_is_optimal_only_where_its_size_shows_it() -> None:
    """Each bank by itself could not be smaller, but both tensors fit one of 128 bytes, one after another."""
    spread = plan([Request("a", 128, 0, 1), Request("b", 128, 5, 6, bank=1)], [FAST, SLOW])
    assert (spread.peak, spread.lower_bound, spread.optimal) == (256, 128, False)
    alone = plan([Request("a", 128, 0, 1), Request("b", 128, 5, 6, bank=1)], [SLOW])
    assert (alone.peak, alone.optimal) == (128, True)


def test_a_tensor_larger_than_every_bank_is_named() -> None:
    with pytest.raises(DoesNotFit, match="the largest is smaller than 'huge'") as caught:
        plan([Request("huge", 2000, 0, 1, note="m.py:3"), Request("a", 16, 0, 1)], [FAST, SLOW])
    assert caught.value.alive == [("huge", 2000, "m.py:3")]


def test_a_shortage_in_a_fixed_bank_names_those_of_that_bank() -> None:
    requests = [Request("a", 100, 0, 2, bank=2), Request("b", 100, 1, 3, bank=2), Request("c", 100, 0, 9)]
    with pytest.raises(DoesNotFit, match="bank 'fast'") as caught:
        plan(requests, [FAST, SLOW])
    assert [row[0] for row in caught.value.alive] == ["a", "b"]


def test_a_shortage_over_several_banks_names_them_all() -> None:
    requests = [Request(f"t{i}", 512, 0, 9) for i in range(3)]
    with pytest.raises(DoesNotFit, match="banks 'fast' and 'slow'") as caught:
        plan(requests, [FAST, SLOW])
    assert (caught.value.needed, caught.value.available) == (1536, 1152)


@given(data=st.data(), sizes=st.tuples(st.integers(1, 500), st.integers(1, 500)))
def test_a_plan_over_banks_is_valid_or_refused(data: st.DataObject, sizes: tuple[int, int]) -> None:
    requests = []
    for index in range(data.draw(st.integers(0, 10))):
        first = data.draw(st.integers(0, 6))
        last = first + data.draw(st.integers(0, 4))
        bank = data.draw(st.sampled_from([None, None, None, 1, 2]))
        requests.append(Request(f"t{index}", data.draw(st.integers(0, 200)), first, last, bank=bank))
    banks = [Bank("one", 1, sizes[0], 2), Bank("two", 2, sizes[1], 3), Bank("three", 3, None, 1)]
    try:
        made = plan(requests, banks)
    except DoesNotFit as error:
        assert error.needed > error.available
        assert all(request.bank is not None for request in requests if request.name == error.alive[0][0])
    else:
        verify(made, requests)
        assert made.peak >= made.lower_bound
