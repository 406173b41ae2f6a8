# SPDX-License-Identifier: BSD-3-Clause
"""Minimum cuts, and the dim orders that they choose, against all choices."""

from __future__ import annotations

import itertools
import random

import pytest

from rushlight.integers.cut import UNLIMITED, MinimumCut
from rushlight.integers.order import OrderCosts


@pytest.mark.parametrize("seed", range(20))
def test_a_cut_costs_as_little_as_the_best_of_all(seed: int) -> None:
    chance = random.Random(seed)
    things = list(range(7))
    first = {thing: chance.choice([0, 3, 8]) for thing in things}
    second = {thing: chance.choice([0, 2, 9]) for thing in things}
    apart = {
        pair: chance.choice([1, 4, UNLIMITED])
        for pair in itertools.permutations(things, 2)
        if chance.random() < 0.3
    }

    def cost(chosen: set[int]) -> int:
        sides = sum(second[t] if t in chosen else first[t] for t in things)
        return sides + sum(c for (a, b), c in apart.items() if a in chosen and b not in chosen)

    cut: MinimumCut[int] = MinimumCut()
    for thing in things:
        cut.first(thing, first[thing])
        cut.second(thing, second[thing])
    for (one, other), value in apart.items():
        cut.apart(one, other, value)
    found = cut.solve()
    choices = [set(each) for n in range(8) for each in itertools.combinations(things, n)]
    least = min(map(cost, choices))
    assert cost(found) == least
    assert all(len(found) <= len(each) for each in choices if cost(each) == least)


@pytest.mark.parametrize("seed", range(20))
def test_orders_copy_the_fewest_bytes(seed: int) -> None:
    chance = random.Random(seed)
    calls = list(range(6))
    in_rows = {call: chance.choice([0, 0, 50]) for call in calls}
    reads = []
    for maker in [None, *calls]:
        later = [call for call in calls if maker is None or call > maker]
        readers: list[int | None] = [call for call in later if chance.random() < 0.5]
        if chance.random() < 0.4:
            readers.append(None)
        if readers:
            reads.append((maker, readers, chance.choice([10, 20, 40])))

    def cost(chosen: set[int]) -> int:
        """None, a call of row-major tensors, is never in a set of calls."""
        copied = sum(
            size for maker, readers, size in reads if any((r in chosen) != (maker in chosen) for r in readers)
        )
        return copied + sum(in_rows[call] for call in calls if call not in chosen)

    costs: OrderCosts[int] = OrderCosts()
    for call in calls:
        costs.call(call, in_rows[call])
    for index, (maker, readers, size) in enumerate(reads):
        costs.read(f"value {index}", maker, readers, size)
    found = costs.channels_last()
    choices = [set(each) for n in range(7) for each in itertools.combinations(calls, n)]
    assert cost(found) == min(map(cost, choices))


def test_nothing_is_converted_without_a_reason() -> None:
    costs: OrderCosts[str] = OrderCosts()
    costs.call("add")
    costs.read("x", None, ["add"], 100)
    costs.read("sum", "add", [None], 100)
    assert costs.channels_last() == set()
