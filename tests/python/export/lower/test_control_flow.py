# SPDX-License-Identifier: BSD-3-Clause
"""cond, map, scan and while_loop, run."""

from __future__ import annotations

import pytest
import torch
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.map import map as map_over
from torch.export import Dim

from rushlight.lowered.lifetimes import lifetimes, loops
from support.lowered import check, lower, rows


def test_cond_runs_either_branch() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() + 1, (x,))

    check(function, (torch.ones(3),), (-torch.ones(3),), (torch.ones(3),))


def test_cond_inside_cond() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        def inner(x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.max() > 2, lambda x: x - 5, lambda x: x * 2, (x,))

        return torch.cond(x.sum() > 0, inner, lambda x: x + 7, (x,))

    check(function, (torch.ones(3),), (torch.full((3,), 3.0),), (-torch.ones(3),))


def test_cond_on_a_shape() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.shape[0] > 4, lambda x: x + 1, lambda x: x - 1, (x,))

    shapes = ({0: Dim("n", min=2, max=8)},)
    check(function, (torch.randn(3, 2),), (torch.randn(6, 2),), dynamic_shapes=shapes)


def test_map_stacks_what_each_round_makes() -> None:
    check(lambda x, y: map_over(lambda row, y: row * y + 1, x, y), (torch.randn(5, 3), torch.randn(3)))


def test_map_over_a_dynamic_length() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return map_over(lambda row, y: row * y, x, y) + 1

    shapes = ({0: Dim("n", min=2, max=6)}, None)
    calls = [(torch.randn(n, 3), torch.randn(3)) for n in (4, 2, 6)]
    check(function, *calls, dynamic_shapes=shapes)


def test_scan_carries_its_state() -> None:
    def function(start: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        def step(carry: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            new = carry * 0.5 + row
            return new, new + carry

        return scan(step, start, x)

    check(function, *[(torch.randn(3), torch.randn(5, 3)) for _ in range(2)])


def test_a_scan_whose_state_changes_places() -> None:
    def function(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        def step(carry: list[torch.Tensor], row: torch.Tensor) -> tuple[list[torch.Tensor], torch.Tensor]:
            return [carry[1].clone(), carry[0] + row], carry[0] * 2

        (a, b), stacked = scan(step, [a, b], x)
        return a - b + stacked

    check(function, (torch.randn(3), torch.randn(3), torch.randn(4, 3)))


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_while_loop_runs_as_often_as_its_condition_holds(rounds: int) -> None:
    def function(n: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        _, x = while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (n, x))
        return x

    check(function, (torch.tensor(5 - rounds), torch.randn(3)))


def test_while_loop_over_a_number() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, x + i), (0, x))[1]

    check(function, (torch.randn(3),), (torch.randn(3),))


def test_what_a_loop_needs_in_each_round_lives_until_its_end() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        weight = (y + 1).exp()
        return map_over(lambda row, w: row * w, x, weight)

    method = lower(function, torch.randn(5, 3), torch.randn(3))
    ((start, stop),) = loops(method)
    (exp,) = [i for i in method.code if getattr(i, "row", "") == "aten::exp.out"]
    (life,) = [life for life in lifetimes(method) if life.storage is exp.results[0].storage]
    assert life.first < start
    assert life.last >= stop


def test_a_loop_writes_no_assertions() -> None:
    method = lower(lambda x: map_over(lambda row: row + 1, x), torch.randn(5, 3))
    assert not [row for row in rows(method) if "assert" in row]
