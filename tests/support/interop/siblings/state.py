# SPDX-License-Identifier: BSD-3-Clause
"""Mutable buffers: with and without initial values, several, of other types, shared, and caches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import Tensor, nn
from torch.nn import functional

from support.interop.official import Case, Entry, one


class Buffers(nn.Module):
    """A module of named buffers and a function that may change them."""

    def __init__(self, function: Callable[..., Any], **buffers: Tensor) -> None:
        super().__init__()
        self.function = function
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(self, *inputs)


def count_both(self: Buffers, x: Tensor) -> Any:
    self.count.add_(1)
    self.total.add_(x.sum())
    return self.count.clone(), self.total.clone(), x / self.count


def read_before_write(self: Buffers, x: Tensor) -> Tensor:
    before = self.last.clone()
    self.last.copy_(x)
    return before


def write_twice(self: Buffers, x: Tensor) -> Tensor:
    self.last.mul_(0.5)
    half = self.last + x
    self.last.copy_(half * 2)
    return half


def delay_line(self: Buffers, x: Tensor) -> Tensor:
    """A filter over the last eight samples."""
    self.line.copy_(torch.cat([self.line[1:], x]))
    return (self.line * self.taps).sum()


def ring(self: Buffers, x: Tensor) -> Any:
    index = self.position % 4
    self.ring[index] = x
    self.position.add_(1)
    return self.ring.sum(0), self.position.clone()


def running_mean(self: Buffers, x: Tensor) -> Tensor:
    self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
    return x - self.mean


def unchanged(self: Buffers, x: Tensor) -> Tensor:
    return x * self.scale


def flags(self: Buffers, x: Tensor) -> Any:
    self.seen.logical_or_(x > 0)
    return self.seen.clone()


class Cache(nn.Module):
    """Attention over a cache that is written at a slice of dynamic length."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 2, 16, 4))
        self.register_buffer("values", torch.zeros(1, 2, 16, 4))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, positions: Tensor) -> Tensor:
        self.keys.index_copy_(2, positions, key)
        self.values.index_copy_(2, positions, value)
        mask = torch.arange(16)[None, :] <= positions[:, None]
        return functional.scaled_dot_product_attention(query, self.keys, self.values, attn_mask=mask)


def _cache(dynamic: bool) -> Case:
    steps = [range(5), range(5, 6), range(6, 8)] if dynamic else [range(i, i + 1) for i in range(5)]
    calls = []
    for step in steps:
        tokens = tuple(torch.randn(1, 2, len(step), 4) for _ in range(3))
        calls.append((*tokens, torch.tensor(list(step))))
    length = torch.export.Dim("length", min=1, max=8)
    shapes = ({2: length}, {2: length}, {2: length}, {0: length}) if dynamic else None
    return one(Cache(), *calls, dynamic_shapes=shapes)


def _buffers(function: Callable[..., Any], *shape: int, calls: int = 4, **buffers: Tensor) -> Case:
    return one(Buffers(function, **buffers), *[(torch.randn(shape),) for _ in range(calls)])


def _initialized(function: Callable[..., Any], names: list[str], *shape: int, **buffers: Tensor) -> Case:
    case = _buffers(function, *shape, **buffers)
    case.backend = lambda: ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(names)])
    return case


def _shared_by_methods() -> Case:
    """Each method has a copy of the buffer unless the planner shares it."""
    return Case(
        {
            "write": Entry(Buffers(write_twice, last=torch.zeros(3)), [(torch.randn(3),) for _ in range(3)]),
            "read": Entry(Buffers(read_before_write, last=torch.zeros(3)), [(torch.randn(3),)] * 2),
        }
    )


def _names() -> Case:
    case = _buffers(write_twice, 3, last=torch.zeros(3))
    case.backend = lambda: ExecutorchBackendConfig(emit_mutable_buffer_names=True)
    return case


def _one_buffer_two_methods() -> Case:
    """Planned to share the buffer; instances of methods with separate memory still do not."""
    module = Accumulator()
    add = Entry(Calls(module, "add"), [(torch.randn(3),) for _ in range(3)])
    get = Entry(Calls(module, "get"), [(torch.randn(3),)])
    return Case(
        {"add": add, "get": get},
        backend=lambda: ExecutorchBackendConfig(
            memory_planning_pass=MemoryPlanningPass(share_mutable_buffers=True),
            emit_mutable_buffer_names=True,
        ),
    )


class Accumulator(nn.Module):
    """A sum that one method updates and another one reads."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("sum", torch.zeros(3))

    def add(self, x: Tensor) -> Tensor:
        self.sum.add_(x)
        return self.sum.clone()

    def get(self, x: Tensor) -> Tensor:
        self.sum.mul_(1)
        return self.sum + x


class Calls(nn.Module):
    """Another method of a module as forward."""

    def __init__(self, module: nn.Module, method: str) -> None:
        super().__init__()
        self.module = module
        self.method = method

    def forward(self, x: Tensor) -> Tensor:
        return getattr(self.module, self.method)(x)


CASES: dict[str, Callable[[], Case]] = {
    "two_buffers": lambda: _buffers(count_both, 3, count=torch.zeros(1), total=torch.zeros(())),
    "read_before_write": lambda: _buffers(read_before_write, 2, 3, last=torch.zeros(2, 3)),
    "write_twice": lambda: _buffers(write_twice, 3, last=torch.zeros(3)),
    "write_twice_initialized": lambda: _initialized(
        write_twice, ["last"], 3, last=torch.tensor([1.0, -2.0, 3.0])
    ),
    "delay_line": lambda: _buffers(delay_line, 1, calls=12, line=torch.zeros(8), taps=torch.randn(8)),
    "ring": lambda: _buffers(
        ring, 3, calls=6, ring=torch.zeros(4, 3), position=torch.zeros(1, dtype=torch.int64)
    ),
    "ring_initialized": lambda: _initialized(
        ring, ["ring", "position"], 3, ring=torch.ones(4, 3), position=torch.tensor([2])
    ),
    "running_mean": lambda: _buffers(running_mean, 5, 3, mean=torch.zeros(3)),
    "running_mean_initialized": lambda: _initialized(running_mean, ["mean"], 5, 3, mean=torch.randn(3)),
    "unchanged": lambda: _buffers(unchanged, 3, scale=torch.randn(3)),
    "flags": lambda: _buffers(flags, 6, seen=torch.zeros(6, dtype=torch.bool)),
    "named": _names,
    "two_methods_apart": _shared_by_methods,
    "two_methods_shared": _one_buffer_two_methods,
    "cache": lambda: _cache(False),
    "cache_dynamic": lambda: _cache(True),
}
