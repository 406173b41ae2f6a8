# SPDX-License-Identifier: BSD-3-Clause
"""Shapes with bounds: in one and several dimensions, through convolution, pooling and attention, and
arithmetic on sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional

from support.interop.models import Fn
from support.interop.official import Case, one


def _images(module: nn.Module, channels: int = 3) -> Case:
    """Height and width are dynamic, and the batch too."""
    shapes = [(2, channels, 12, 10), (1, channels, 8, 8), (4, channels, 16, 24)]
    bounds = {0: Dim("n", min=1, max=4), 2: Dim("h", min=8, max=16), 3: Dim("w", min=8, max=24)}
    return one(module, *[(torch.randn(shape),) for shape in shapes], dynamic_shapes=(bounds,))


def _vectors(function: Callable[..., Any]) -> Case:
    calls = [(torch.randn(width, 4),) for width in (5, 4, 16)]
    return one(Fn(function), *calls, dynamic_shapes=(({0: Dim("n", min=4, max=16)},),))


class PooledClassifier(nn.Module):
    """Any image size: convolutions, both kinds of pooling, average over the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.second = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.classifier = nn.Linear(8, 5)

    def forward(self, image: Tensor) -> Tensor:
        x = functional.max_pool2d(self.first(image).relu(), 2)
        x = functional.avg_pool2d(self.second(x).relu(), 3, 1, 1)
        return self.classifier(x.mean((2, 3))).softmax(-1)


class Attention(nn.Module):
    """Self-attention with two heads over a dynamic number of tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, 2, 8).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.norm(x + self.out(mixed.transpose(1, 2).reshape(batch, length, 16)))


def _attention() -> Case:
    shapes = [(2, 7, 16), (2, 2, 16), (2, 32, 16)]
    bounds = {1: Dim("length", min=2, max=32)}
    return one(Attention(), *[(torch.randn(shape),) for shape in shapes], dynamic_shapes=(bounds,))


def _two_inputs() -> Case:
    """One dimension shared by two inputs, and one that is twice another."""
    n = Dim("n", min=2, max=8)
    calls = [(torch.randn(n, 3), torch.randn(n, 3), torch.randn(2 * n, 3)) for n in (4, 2, 8)]
    shapes = (({0: n}, {0: n}, {0: 2 * n}),)
    return one(Fn(lambda a, b, c: (a * b, torch.cat([a, b]) + c)), *calls, dynamic_shapes=shapes)


def _matmul() -> Case:
    m, n, k = Dim("m", min=2, max=8), Dim("n", min=2, max=9), Dim("k", min=2, max=7)
    calls = [(torch.randn(m, k), torch.randn(k, n)) for m, k, n in ((4, 5, 6), (2, 2, 2), (8, 7, 9))]
    return one(Fn(torch.matmul), *calls, dynamic_shapes=(({0: m, 1: k}, {0: k, 1: n}),))


def _conv1d() -> Case:
    layers = nn.Sequential(nn.Conv1d(2, 6, 5, stride=2), nn.ReLU(), nn.Conv1d(6, 4, 3, dilation=2))
    calls = [(torch.randn(1, 2, length),) for length in (40, 24, 100)]
    return one(layers, *calls, dynamic_shapes=({2: Dim("length", min=20, max=100)},))


def sizes_as_numbers(x: Tensor) -> tuple[Any, ...]:
    n = x.shape[0]
    return n, n * 2 + 1, n // 2, x.sum() / n, torch.full((n,), n), x.new_zeros(n + 1, 2)


def reshapes(x: Tensor) -> tuple[Tensor, ...]:
    n = x.shape[0]
    return x.view(n * 2, 2), x.reshape(-1), x.unflatten(1, (2, 2)).permute(2, 0, 1)


def slices(x: Tensor) -> tuple[Tensor, ...]:
    return x[1:], x[:-1, ::2], x[-1], x.narrow(0, 1, x.shape[0] - 1), x.select(1, 2)


def growth(x: Tensor) -> tuple[Tensor, ...]:
    n = x.shape[0]
    return (
        x.expand(3, n, 4),
        x.repeat(2, 1),
        functional.pad(x, (1, 2)),
        torch.arange(n) * 2,
        torch.cat([x, x[:1]]),
    )


def reductions(x: Tensor) -> tuple[Tensor, ...]:
    return x.mean(0), x.amax(0), x.argmax(0), x.softmax(0), x.cumsum(0), x.var(0), x.min(), x.prod(1)


def selections(x: Tensor) -> tuple[Tensor, ...]:
    order = torch.arange(x.shape[0] - 1, -1, -1)
    return x[order], x.index_select(0, order), x.flip(0), torch.tril(x @ x.t())


CASES: dict[str, Callable[[], Case]] = {
    "conv": lambda: _images(
        nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3, stride=2, padding=1))
    ),
    "conv_transposed": lambda: _images(nn.ConvTranspose2d(3, 5, 3, stride=2, padding=1, output_padding=1)),
    "conv1d": _conv1d,
    "max_pool": lambda: _images(nn.MaxPool2d(3, 2, 1)),
    "avg_pool": lambda: _images(nn.AvgPool2d(3, 2, 1, count_include_pad=False)),
    "adaptive_pool": lambda: _images(nn.AdaptiveAvgPool2d(1)),
    "batch_norm": lambda: _images(nn.BatchNorm2d(3)),
    "group_norm": lambda: _images(nn.GroupNorm(2, 4), 4),
    "upsample": lambda: _images(nn.Upsample(scale_factor=2, mode="nearest")),
    "classifier": lambda: _images(PooledClassifier()),
    "attention": _attention,
    "two_inputs": _two_inputs,
    "matmul": _matmul,
    "sizes_as_numbers": lambda: _vectors(sizes_as_numbers),
    "reshapes": lambda: _vectors(reshapes),
    "slices": lambda: _vectors(slices),
    "growth": lambda: _vectors(growth),
    "reductions": lambda: _vectors(reductions),
    "selections": lambda: _vectors(selections),
}
