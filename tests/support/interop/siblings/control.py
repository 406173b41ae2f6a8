# SPDX-License-Identifier: BSD-3-Clause
"""Control flow: cond, map and scan, nested and with several values. The exporter has no while_loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch._higher_order_ops.map import map as torch_map
from torch._higher_order_ops.scan import scan

from support.interop.models import Fn
from support.interop.official import Case, one


def cond_two_outputs(x: Tensor, y: Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x, y: (x + y, x * y), lambda x, y: (x - y, y * 2), (x, y))


def cond_nested(x: Tensor) -> Any:
    def positive(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 10, lambda x: x * 10, lambda x: x + 1, (x,))

    def negative(x: Tensor) -> Tensor:
        return torch.cond(x.sum() < -10, lambda x: x / 10, lambda x: x - 1, (x,))

    return torch.cond(x.sum() > 0, positive, negative, (x,))


def cond_chained(x: Tensor) -> Any:
    first = torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))
    return torch.cond(first.sum() > 1, lambda x, y: x + y, lambda x, y: x - y, (first, x)) * 2


def cond_on_input(flag: Tensor, x: Tensor) -> Any:
    return torch.cond(flag, lambda x: x.relu(), lambda x: x.abs().sqrt(), (x,))


def cond_integers(x: Tensor) -> Any:
    return torch.cond((x > 3).any(), lambda x: x * 2, lambda x: x + 100, (x,))


def map_two(rows: Tensor, bias: Tensor) -> Any:
    return torch_map(lambda row, bias: row.relu() + bias, rows, bias)


def scan_two_carries(items: Tensor) -> Any:
    def step(carry: tuple[Tensor, Tensor], item: Tensor) -> Any:
        a, b = carry
        return (a + item, b * 0.5 + item), (a * b, b - item)

    return scan(step, (torch.zeros(3), torch.ones(3)), items)


def scan_two_inputs(start: Tensor, a: Tensor, b: Tensor) -> Any:
    return scan(lambda carry, items: (carry + items[0] * items[1], carry.clone()), start, (a, b))


def scan_then_more(start: Tensor, items: Tensor) -> Any:
    last, all_of_them = scan(lambda carry, item: (carry * item, carry + item), start, items)
    return all_of_them @ last


def scan_twice(start: Tensor, items: Tensor) -> Any:
    last, steps = scan(lambda carry, item: (carry + item, carry * 2), start, items)
    return scan(lambda carry, item: (carry - item, carry + 1), last, steps)


def cond_in_scan(start: Tensor, items: Tensor) -> Any:
    def step(carry: Tensor, item: Tensor) -> Any:
        new = torch.cond(item.sum() > 0, lambda c, i: c + i, lambda c, i: c - i, (carry, item))
        return new, new * 2

    return scan(step, start, items)


class Recurrence(nn.Module):
    """A scan with weights."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 6)

    def forward(self, start: Tensor, items: Tensor) -> Any:
        def step(carry: Tensor, item: Tensor) -> Any:
            new = self.cell(item, carry)
            return new, new.clone()

        return scan(step, start, items)


class Branches(nn.Module):
    """A cond whose branches are modules."""

    def __init__(self) -> None:
        super().__init__()
        self.yes = nn.Linear(4, 3)
        self.no = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Any:
        return torch.cond(x.mean() > 0, lambda x: self.yes(x), lambda x: self.no(x), (x,))


def _signs(function: Callable[..., Any], inputs: int = 1) -> Case:
    """Calls that take every branch."""
    values = (torch.full((3, 4), v) for v in (0.5, 5.0, -0.5, -5.0))
    return one(Fn(function), *[(x, torch.randn(3, 4))[:inputs] for x in values])


def _flags() -> Case:
    return one(Fn(cond_on_input), *[(torch.tensor(flag), torch.randn(5)) for flag in (True, False, True)])


def _dynamic_map() -> Case:
    calls = [(torch.randn(n, 3), torch.randn(3)) for n in (4, 2, 3)]
    return one(Fn(map_two), *calls, dynamic_shapes=(({0: torch.export.Dim("n", min=2, max=8)}, None),))


CASES: dict[str, Callable[[], Case]] = {
    "cond_two_outputs": lambda: _signs(cond_two_outputs, 2),
    "cond_nested": lambda: _signs(cond_nested),
    "cond_chained": lambda: _signs(cond_chained),
    "cond_on_input": _flags,
    "cond_integers": lambda: one(Fn(cond_integers), (torch.arange(4),), (torch.arange(4) + 3,)),
    "cond_modules": lambda: one(Branches(), (torch.ones(2, 4),), (-torch.ones(2, 4),)),
    "map_two_inputs": lambda: one(Fn(map_two), (torch.randn(5, 3), torch.randn(3))),
    "map_dynamic": _dynamic_map,
    "scan_two_carries": lambda: one(Fn(scan_two_carries), (torch.randn(5, 3),)),
    "scan_two_inputs": lambda: one(
        Fn(scan_two_inputs), (torch.randn(3), torch.randn(4, 3), torch.randn(4, 3))
    ),
    "scan_then_more": lambda: one(Fn(scan_then_more), (torch.randn(3), torch.randn(4, 3))),
    "scan_twice": lambda: one(
        Fn(scan_twice), (torch.randn(3), torch.randn(4, 3)), (torch.ones(3), torch.ones(4, 3))
    ),
    "scan_with_weights": lambda: one(Recurrence(), (torch.zeros(2, 6), torch.randn(5, 2, 4))),
    "cond_in_scan": lambda: one(Fn(cond_in_scan), (torch.zeros(3), torch.randn(6, 3))),
}
