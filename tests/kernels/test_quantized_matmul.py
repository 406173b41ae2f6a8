# SPDX-License-Identifier: BSD-3-Clause
"""Products of two quantized matrices against their definition in the exporter's dialect."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import rushlight.export.dialect.integer_attention  # noqa: F401  # defines torch.ops.rushlight
from rushlight.integers.arithmetic import ROUNDINGS, requantization
from support.harness import Kernels, poison, with_dim_order

NAME = "rushlight::quantized_matmul.out"
POINTS = {torch.int8: (3, -8, 5), torch.uint8: (250, 0, 130)}
SHAPES = [
    ((3, 5), (5, 7)),
    ((2, 3, 70), (2, 70, 33)),
    ((1, 1, 1), (1, 1, 1)),
    ((4, 6, 64), (4, 64, 32)),
    ((17, 16), (16, 100)),
    ((3, 0), (0, 4)),
    ((0, 3), (3, 4)),
    ((0, 2, 3), (0, 3, 4)),
]


def numbers(shape: tuple[int, ...], dtype: torch.dtype = torch.int8, seed: int = 0) -> torch.Tensor:
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(seed)
    return torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)


def arguments(
    a: torch.Tensor, b: torch.Tensor, rounding: str = "single", points: tuple[int, int, int] | None = None
) -> list[Any]:
    """Arguments with an output scale that covers the whole range."""
    scale = 0.011 / math.sqrt(max(a.shape[-1], 1))
    to, info = requantization(np.array([scale]), rounding), torch.iinfo(a.dtype)
    assert to is not None
    shifts = None if to.shifts is None else torch.from_numpy(to.shifts)
    first, second, out = points or POINTS[a.dtype]
    end = [torch.from_numpy(to.multipliers), shifts, rounding, out, info.min, info.max]
    return [a, first, b, second, *end]


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize(("one", "other"), SHAPES, ids=str)
def test_products_are_as_defined(
    kernels: Kernels, one: tuple[int, ...], other: tuple[int, ...], dtype: torch.dtype, rounding: str
) -> None:
    given = arguments(numbers(one, dtype), numbers(other, dtype, 1), rounding)
    kernels.check(NAME, *given, rtol=0, atol=0)


@pytest.mark.parametrize("points", [(-128, 127, 0), (127, 127, -128), (0, 0, 127)], ids=str)
def test_any_zero_points(kernels: Kernels, points: tuple[int, int, int]) -> None:
    given = arguments(numbers((5, 40)), numbers((40, 50), seed=1), points=points)
    kernels.check(NAME, *given, rtol=0, atol=0)


def test_matrices_may_be_transposed(kernels: Kernels) -> None:
    a = with_dim_order(numbers((3, 4, 20)), [0, 2, 1])
    b = with_dim_order(numbers((3, 20, 40), seed=1), [2, 0, 1])
    kernels.check(NAME, *arguments(a, b), out_dim_order=[1, 2, 0], rtol=0, atol=0)


def test_the_longest_sums_fit(kernels: Kernels) -> None:
    """The largest products: 255 * 255, 33,025 times."""
    a, b = torch.full((1, 33_025), -128).to(torch.int8), torch.full((33_025, 1), -128).to(torch.int8)
    to = requantization(np.array([100 / (33_025 * 255 * 255)]))
    assert to is not None and to.shifts is not None
    end = [torch.from_numpy(to.multipliers), torch.from_numpy(to.shifts), "single", 0, -128, 127]
    out = torch.zeros(1, 1, dtype=torch.int8)
    kernels.run(NAME, [a, 127, b, 127, *end, out])
    assert out.item() == 100


@pytest.mark.parametrize(
    ("argument", "wrong", "message"),
    [
        (0, numbers((3,)), "expected rank 2, got 1"),
        (0, numbers((2, 2)), "2 columns on the left, 3 rows on the right"),
        (1, 128, "self_zero_point: expected -128 to 127, got 128"),
        (2, numbers((3, 4), torch.uint8), "the matrices"),
        (3, -129, "mat2_zero_point: expected -128 to 127, got -129"),
        (4, torch.zeros(4, dtype=torch.int32), "multipliers: expected one element"),
        (5, torch.tensor([-32], dtype=torch.int8), "shifts: expected -31 to 30, got -32"),
        (8, 1, "output_min, output_zero_point, output_max"),
        (10, numbers((2, 3)), "out"),
    ],
    ids=str,
)
def test_arguments_are_proven(kernels: Kernels, argument: int, wrong: Any, message: str) -> None:
    given = [*arguments(numbers((2, 3)), numbers((3, 4)), points=(3, 3, 0)), poison(numbers((2, 4)))]
    given[argument] = wrong
    with pytest.raises(Exception, match=message):
        kernels.run(NAME, given)


def test_sums_that_may_overflow_are_refused(kernels: Kernels) -> None:
    given = arguments(numbers((1, 33_026)), numbers((33_026, 1)))
    with pytest.raises(Exception, match="expected sums of at most"):
        kernels.run(NAME, [*given, poison(numbers((1, 1)))])
