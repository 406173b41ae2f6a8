# SPDX-License-Identifier: BSD-3-Clause
"""A plan with a fault is told so, by the names of the requests."""

from __future__ import annotations

import dataclasses

import pytest

from rushlight.memory import Bank, Placement, Plan, Request, plan, verify
from support.memory_requests import scattered

REQUESTS = [
    Request("a", 64, 0, 2),
    Request("b", 64, 1, 3),
    Request("c", 64, 3, 4, alignment=64),
    Request("fixed", 16, 0, 9, bank=2),
]
BANKS = [Bank("one", 1, 128), Bank("two", 2, 128, speed=0.5)]


def with_placements(**moved: tuple[int, int]) -> Plan:
    """A good plan with other slots for some requests: (bank, offset) by name."""
    good = plan(REQUESTS, BANKS)
    placements = [
        Placement(*moved[request.name]) if request.name in moved else placement
        for request, placement in zip(good.requests, good.placements, strict=True)
    ]
    return dataclasses.replace(good, placements=tuple(placements))


def test_a_good_plan_is_left_alone() -> None:
    verify(with_placements(), REQUESTS)
    verify(with_placements(a=(1, 0), b=(1, 64), c=(1, 0)), REQUESTS)


@pytest.mark.parametrize(
    ("moved", "message"),
    [
        ({"a": (1, 0), "b": (1, 48)}, "bank 'one': 'b' and 'a' share bytes"),
        ({"a": (1, 48), "b": (1, 0)}, "bank 'one': 'b' and 'a' share bytes"),
        ({"a": (1, 0), "b": (1, 0)}, "bank 'one': 'b' and 'a' share bytes"),
        ({"c": (1, 16)}, "'c' at byte 16 of bank 1: expected a multiple of 64"),
        ({"a": (1, 112)}, "'a' at byte 112 of bank 1: expected to end within 128 bytes"),
        ({"a": (1, -16)}, "'a' at byte -16"),
        ({"a": (3, 0)}, "'a' at byte 0 of bank 3: expected one of the banks"),
        ({"fixed": (1, 0)}, "'fixed' at byte 0 of bank 1: expected bank 2"),
    ],
)
def test_a_fault_is_named(moved: dict[str, tuple[int, int]], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        verify(with_placements(**moved), REQUESTS)


def test_a_plan_for_other_requests_is_refused() -> None:
    with pytest.raises(AssertionError, match="made for other requests"):
        verify(plan(REQUESTS, BANKS), REQUESTS[:-1])


def test_a_bank_is_not_larger_than_it_is() -> None:
    made = plan(REQUESTS[:3])
    (use,) = made.banks
    small = dataclasses.replace(use, bank=Bank("small", 1, 64))
    with pytest.raises(AssertionError, match="bank 'small': expected at most 64 bytes, got 128"):
        verify(dataclasses.replace(made, banks=(small,)), REQUESTS[:3])


@pytest.mark.parametrize("index", range(0, 200, 20))
def test_every_move_onto_a_neighbour_is_found(index: int) -> None:
    requests = scattered(200, 7)
    made = plan(requests, planner="greedy_by_size")
    moved = requests[index]
    rivals = [
        i
        for i, other in enumerate(requests)
        if i != index and other.first <= moved.last and moved.first <= other.last
    ]
    placements = list(made.placements)
    placements[index] = placements[rivals[0]]
    sizes = tuple(dataclasses.replace(use, size=1 << 40) for use in made.banks)
    with pytest.raises(AssertionError, match="share bytes"):
        verify(dataclasses.replace(made, placements=tuple(placements), banks=sizes), requests)
