# SPDX-License-Identifier: BSD-3-Clause
"""Copies that are not made: new values of buffers, results of branches."""

from __future__ import annotations

import torch

from rushlight.export.lower.forward_copies import forward_copies
from support.graphs import LIBRARY
from support.lowered import check, lower, rows


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(x)
        return self.count * 2


class Cache(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 8, 4))
        self.register_buffer("position", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.keys[:, self.position] = x
        self.position.add_(1)
        return self.keys.sum(1)


class Swap(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(3))
        self.register_buffer("b", torch.ones(3))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        old = self.a.clone()
        self.a.copy_(self.b + x)
        self.b.copy_(old)
        return self.a * 2, old


class ReadsOldValue(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        old = self.state.clone()
        self.state.copy_(x * 3)
        return old + x


def test_a_buffer_is_updated_where_it_is() -> None:
    method = lower(Counter(), torch.ones(3))
    assert forward_copies(method, LIBRARY) == 1
    assert "aten::copy_" not in rows(method)
    check(Counter(), (torch.ones(3),), (torch.randn(3),), (torch.randn(3),))


def test_an_entry_is_put_into_a_cache_without_copying_it() -> None:
    method = lower(Cache(), torch.randn(1, 1, 4))
    forward_copies(method, LIBRARY)
    assert rows(method)[0] == "aten::index_put_"
    assert "aten::index_put.out" not in rows(method)
    check(Cache(), *[(torch.randn(1, 1, 4),) for _ in range(3)])


def test_without_an_operator_in_place_the_entry_is_copied_back() -> None:
    module = Cache()
    calls = [(torch.randn(1, 1, 4),) for _ in range(2)]
    exported = check(module, *calls, runtime="executorch")
    assert "aten::index_put_" not in exported.parts.methods[0].operators


def test_buffers_that_change_places_keep_their_values() -> None:
    check(Swap(), (torch.ones(3),), (torch.randn(3),), (torch.randn(3),))


def test_a_buffer_is_not_overwritten_before_its_last_reader() -> None:
    check(ReadsOldValue(), (torch.ones(3),), (torch.randn(3),), (torch.randn(3),))


def test_branches_write_the_results_of_cond() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x @ x, (x,)) * 2

    method = lower(function, torch.ones(2, 2))
    assert forward_copies(method, LIBRARY) == 2
    assert "aten::clone.out" not in rows(method)
    check(function, (torch.ones(2, 2),), (-torch.ones(2, 2),))


def test_a_branch_that_returns_its_input_copies_it() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.clone(), lambda x: x * 3, (x,)) * 2 + x

    check(function, (torch.ones(2, 2),), (-torch.ones(2, 2),))
