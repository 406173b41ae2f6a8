# SPDX-License-Identifier: BSD-3-Clause
"""Branches and loops: only what is chosen runs, as often as it has to."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import Tensor, nn  # noqa: E402
from torch._higher_order_ops.map import map as torch_map  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402
from torch._higher_order_ops.while_loop import while_loop  # noqa: E402

from support.export.exported import check_export  # noqa: E402

X = torch.randn(3, 4)


class Calls(nn.Module):
    """A function as a module with weights."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function
        self.layer = nn.Linear(4, 4)

    def forward(self, *args: Any) -> Any:
        return self.function(self, *args)


def cond_by_sum(model: Any, x: Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: model.layer(x), lambda x: x * 2 - 1, (x,))


def cond_with_two_results(model: Any, x: Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: (x + 1, x.sum()), lambda x: (x - 1, x.mean()), (x,))


def cond_in_cond(model: Any, x: Tensor) -> Any:
    def inner(x: Tensor) -> Tensor:
        return torch.cond(x.max() > 2, lambda x: x / 2, lambda x: x + 10, (x,))

    return torch.cond(x.sum() > 0, inner, lambda x: x.neg(), (x,)) * 3


def cond_that_returns_its_input(model: Any, x: Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x.clone(), lambda x: x.abs(), (x,)) + x


@pytest.mark.parametrize(
    "function",
    [cond_by_sum, cond_with_two_results, cond_in_cond, cond_that_returns_its_input],
    ids=lambda function: function.__name__,
)
def test_one_branch_runs(function: Any) -> None:
    calls = [(X.abs(),), (-X.abs(),), (X.abs() + 5,), (torch.zeros(3, 4),)]
    check_export(Calls(function), calls[0], more=calls[1:])


def test_a_branch_is_chosen_by_a_size() -> None:
    def by_size(model: Any, x: Tensor) -> Tensor:
        return torch.cond(x.shape[0] > 3, lambda x: x + 1, lambda x: x - 1, (x,))

    rows = torch.export.Dim("rows", min=2, max=8)
    calls = [(torch.randn(n, 4),) for n in (5, 2, 8, 3)]
    check_export(Calls(by_size), calls[0], dynamic_shapes=(({0: rows},),), more=calls[1:])


def test_map_runs_for_each_slice() -> None:
    def mapped(model: Any, xs: Tensor, y: Tensor) -> Tensor:
        return torch_map(lambda x, y: model.layer(x) + y, xs, y)

    calls = [(torch.randn(5, 2, 4), torch.randn(4)) for _ in range(2)]
    check_export(Calls(mapped), calls[0], more=calls[1:])


def test_map_runs_for_as_many_slices_as_there_are() -> None:
    def mapped(model: Any, xs: Tensor, y: Tensor) -> Tensor:
        return torch_map(lambda x, y: x * y + 1, xs, y)

    slices = torch.export.Dim("slices", min=2, max=9)
    calls = [(torch.randn(n, 4), torch.randn(4)) for n in (5, 2, 9)]
    check_export(Calls(mapped), calls[0], dynamic_shapes=(({0: slices}, None),), more=calls[1:])


def test_scan_carries_a_state() -> None:
    def scanned(model: Any, start: Tensor, xs: Tensor) -> Any:
        def step(state: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            state = torch.tanh(model.layer(state) + x)
            return state, state * 2

        return scan(step, start, xs)

    calls = [(torch.zeros(1, 4), torch.randn(6, 1, 4)), (torch.ones(1, 4), torch.randn(6, 1, 4))]
    check_export(Calls(scanned), calls[0], more=calls[1:])


def test_while_loop_runs_until_its_condition_is_false() -> None:
    def looped(model: Any, x: Tensor, limit: Tensor) -> Any:
        return while_loop(lambda i, x: i < limit, lambda i, x: (i + 1, x * 1.5 + 1), (torch.tensor(0), x))

    calls = [(torch.randn(4), torch.tensor(n)) for n in (3, 0, 1, 9)]
    check_export(Calls(looped), calls[0], more=calls[1:])


def test_while_loop_swaps_what_it_carries() -> None:
    def looped(model: Any, x: Tensor, y: Tensor) -> Any:
        def body(i: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
            return i + 1, b.clone(), a + b

        return while_loop(lambda i, a, b: i < 5, body, (torch.tensor(0), x, y))

    check_export(Calls(looped), (torch.ones(2), torch.ones(2)), more=[(torch.randn(2), torch.randn(2))])


def test_a_branch_inside_of_a_loop_runs_by_turns() -> None:
    def looped(model: Any, x: Tensor) -> Any:
        def body(i: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return i + 1, torch.cond(x.sum() > 10, lambda x: x / 2, lambda x: x * 3 + 1, (x,))

        return while_loop(lambda i, x: i < 6, body, (torch.tensor(0), x))[1]

    check_export(Calls(looped), (torch.ones(3),), more=[(torch.randn(3),), (torch.full((3,), 20.0),)])
