# SPDX-License-Identifier: BSD-3-Clause
"""Random legal arguments of integer convolutions and linear layers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from rushlight.integers.arithmetic import requantization
from support.harness import with_dim_order

CONVOLUTION = "rushlight::quantized_convolution.out"
LINEAR = "rushlight::quantized_linear.out"
BYTES = [torch.int8, torch.uint8]
NUMBERS = [*BYTES, torch.int16]
LEAST, MOST = -(1 << 31), (1 << 31) - 1


def limits(dtype: torch.dtype) -> tuple[int, int]:
    """The range of a dtype."""
    info = torch.iinfo(dtype)
    return info.min, info.max


def most_sum(dtype: torch.dtype) -> int:
    """The largest sum of products that kernels accept for values of a dtype."""
    return (1 << 47) - 1 if dtype == torch.int16 else MOST


def most_products(depth: int, dtype: torch.dtype) -> int:
    """The largest sum of `depth` products."""
    return depth * (1 << 15 if dtype == torch.int16 else 255) * 128


def zero_points(dtype: torch.dtype) -> tuple[int, int]:
    """The least and the largest zero point of a dtype."""
    return (0, 0) if dtype == torch.int16 else limits(dtype)


class Draw:
    """Random arguments, the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.numbers = random.Random(seed)
        self._generator = torch.Generator().manual_seed(seed)

    def tensor(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Values from the whole range of a dtype, sometimes only its limits."""
        low, high = limits(dtype)
        if self.numbers.random() < 0.15:
            ends = torch.randint(0, 2, tuple(shape), generator=self._generator)
            return (ends * (high - low) + low).to(dtype)
        return torch.randint(low, high + 1, tuple(shape), generator=self._generator).to(dtype)

    def bias(self, count: int, depth: int, dtype: torch.dtype) -> torch.Tensor | None:
        """None, values about as large as the sums of products, or the largest accepted values."""
        most = most_sum(dtype) - most_products(depth, dtype)
        wide = torch.int64 if dtype == torch.int16 else torch.int32
        kind = self.numbers.randrange(5)
        if kind == 0:
            return None
        if kind == 1:
            return torch.tensor([self.numbers.choice([-most, most]) for _ in range(count)], dtype=wide)
        near = min(most, (1_000_000 if wide == torch.int64 else 4000) * (depth + 1))
        return torch.tensor([self.numbers.randint(-near, near) for _ in range(count)], dtype=wide)

    def range_of(self, dtype: torch.dtype) -> tuple[int, int, int]:
        """Zero point, low and high: often the whole range."""
        low, high = limits(dtype)
        if self.numbers.random() < 0.5:
            least, most = zero_points(dtype)
            return self.numbers.choice([least, most, self.numbers.randint(least, most)]), low, high
        ends = sorted(self.numbers.randint(low, high) for _ in range(3))
        if dtype == torch.int16:
            return 0, min(ends[0], 0), max(ends[2], 0)
        return ends[1], ends[0], ends[2]

    def to(
        self, rounding: str, columns: int, depth: int, bias: torch.Tensor | None, dtype: torch.dtype
    ) -> list[Any]:
        """Scales that map sums to results: they spread most sums over the range, or lie anywhere between the
        accepted limits."""
        count = self.numbers.choice([1, columns])
        if self.numbers.random() < 0.7:
            scales = [
                2.0 ** self.numbers.uniform(-4, 2) / (60 * 60 * (depth + 1) ** 0.5) for _ in range(count)
            ]
            scales = [scale * 64 for scale in scales]
            made = requantization(np.array(scales), rounding)
            assert made is not None
            shifts = None if made.shifts is None else torch.from_numpy(made.shifts)
            return [torch.from_numpy(made.multipliers), shifts, rounding, *self.range_of(dtype)]
        if rounding == "float":
            scales = [
                self.numbers.choice([1e-45, 1.2e-38, 3.4e38, 0.5, 1.0, 1.5, 1 / 3]) for _ in range(count)
            ]
            return [torch.tensor(scales), None, rounding, *self.range_of(dtype)]
        bound = most_products(depth, dtype) + (0 if bias is None else int(bias.to(torch.int64).abs().max()))
        most = 30
        if dtype == torch.int16:
            most = 7 if rounding == "double" else 15
        while dtype != torch.int16 and rounding == "double" and most > 0 and bound << most > MOST:
            most -= 1
        multipliers = [
            self.numbers.choice([0, 1 << 30, (1 << 30) + 1, MOST, self.numbers.randint(1 << 30, MOST)])
            for _ in range(count)
        ]
        shifts = [
            self.numbers.choice([-31, -30, most, self.numbers.randint(-31, most)]) for _ in range(count)
        ]
        return [
            torch.tensor(multipliers, dtype=torch.int32),
            torch.tensor(shifts, dtype=torch.int8),
            rounding,
            *self.range_of(dtype),
        ]

    def order(self, rank: int, known: Sequence[Sequence[int]]) -> list[int]:
        """A dim order: one that kernels support directly, or any."""
        if self.numbers.random() < 0.75:
            return list(self.numbers.choice([*known, range(rank)]))
        return self.numbers.sample(range(rank), rank)


def channels_last(rank: int) -> list[int]:
    """The dim order with channels innermost."""
    return [0, *range(2, rank), 1]


def drawn_convolution(seed: int, rounding: str, dtype: torch.dtype) -> tuple[list[Any], list[int]]:
    """All arguments without the out, and the out's dim order."""
    draw = Draw(seed)
    pick = draw.numbers
    while True:
        spatial, transposed = pick.choice([1, 2, 2, 2, 3]), pick.random() < 0.25
        groups = pick.choice([1, 1, 1, 2, 3])
        per_group, outs = pick.choice([1, 2, 3, 4, 8, 17]), pick.choice([1, 2, 3, 5, 8, 16, 33])
        if pick.random() < 0.3:  # depthwise, sometimes with a multiplier
            groups, per_group, outs = pick.choice([1, 3, 8, 16, 19, 35]), 1, pick.choice([1, 1, 1, 2, 3])
        kernel = [pick.choice([1, 1, 2, 3, 3, 5]) for _ in range(spatial)]
        stride = [pick.choice([1, 1, 2, 3]) for _ in range(spatial)]
        dilation = [pick.choice([1, 1, 1, 2, 3]) for _ in range(spatial)]
        padding = [pick.choice([0, 1, 1, 2, 4]) for _ in range(spatial)]
        more = [pick.randrange(max(s, d)) if transposed else 0 for s, d in zip(stride, dilation, strict=True)]
        sizes = [pick.randint(1, 11 if spatial < 3 else 6) for _ in range(spatial)]
        reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
        rows = list(zip(sizes, padding, reach, stride, more, strict=True))
        if transposed and all((n - 1) * s - 2 * p + r + m > 0 for n, p, r, s, m in rows):
            break
        if not transposed and all(n + 2 * p >= r for n, p, r, _, _ in rows):
            break
    batch, channels = pick.choice([1, 1, 2, 3]), groups * per_group
    weight_shape = (channels, outs) if transposed else (groups * outs, per_group)
    rank = spatial + 2
    depth = per_group * int(np.prod(kernel))
    bias = draw.bias(groups * outs, depth, dtype)
    low, high = zero_points(dtype)
    x = with_dim_order(draw.tensor((batch, channels, *sizes), dtype), draw.order(rank, [channels_last(rank)]))
    weight = with_dim_order(
        draw.tensor((*weight_shape, *kernel), torch.int8),
        draw.order(rank, [channels_last(rank), [*range(1, rank), 0]]),
    )
    settings = [stride, padding, dilation, transposed, more, groups]
    to = draw.to(rounding, groups * outs, depth, bias, dtype)
    zero_point = pick.choice([low, high, pick.randint(low, high)])
    arguments = [x, zero_point, weight, bias, *to[:2], *settings, *to[2:]]
    return arguments, draw.order(rank, [channels_last(rank)])


def drawn_linear(seed: int, rounding: str, dtype: torch.dtype) -> tuple[list[Any], list[int]]:
    """All arguments without the out, and the out's dim order."""
    draw = Draw(seed)
    pick = draw.numbers
    rank = pick.choice([1, 2, 2, 3, 4])
    depth, features = pick.choice([1, 2, 3, 7, 16, 33, 64, 129]), pick.choice([1, 2, 5, 8, 16, 17, 40, 65])
    shape = [pick.choice([1, 2, 3, 5, 13]) for _ in range(rank - 1)]
    bias = draw.bias(features, depth, dtype)
    x = with_dim_order(draw.tensor((*shape, depth), dtype), draw.order(rank, [range(rank)]))
    weight = with_dim_order(draw.tensor((features, depth), torch.int8), draw.order(2, [[0, 1], [1, 0]]))
    arguments = [x, weight, bias, *draw.to(rounding, features, depth, bias, dtype)]
    return arguments, draw.order(rank, [range(rank)])
