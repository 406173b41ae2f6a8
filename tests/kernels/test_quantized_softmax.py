# SPDX-License-Identifier: BSD-3-Clause
"""Softmax of integers against its definition in the exporter's dialect, and against PyTorch in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import rushlight.export.dialect.integer_attention  # noqa: F401  # defines torch.ops.rushlight
from rushlight.integers.arithmetic import requantization
from rushlight.integers.rules.attention import exponentials
from support.harness import Kernels, poison, with_dim_order

NAME = "rushlight::quantized_softmax.out"
BYTES = [torch.int8, torch.uint8]


def numbers(shape: tuple[int, ...], dtype: torch.dtype = torch.int8, seed: int = 0) -> torch.Tensor:
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(seed)
    return torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)


def arguments(
    x: torch.Tensor, dim: int = -1, scale: float = 0.05, step: float = 1 / 256, zero_point: int | None = None
) -> list[Any]:
    """Arguments with a scale of the input and a step of the output."""
    to, info = requantization(np.array([1 / step])), torch.iinfo(x.dtype)
    assert to is not None and to.shifts is not None
    table = torch.from_numpy(exponentials(scale))
    point = info.min if zero_point is None else zero_point
    return [x, dim, table, int(to.multipliers[0]), int(to.shifts[0]), point, info.min, info.max]


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize(
    ("shape", "dim"),
    [
        ((2, 12), -1),
        ((3, 5, 7), 1),
        ((3, 5, 7), 0),
        ((4, 1), 1),
        ((), 0),
        ((0, 3), 1),
        ((3, 0), 1),
        ((2, 3000), 1),
    ],
    ids=str,
)
def test_rows_are_as_defined(kernels: Kernels, shape: tuple[int, ...], dim: int, dtype: torch.dtype) -> None:
    for scale in (0.004, 0.05, 0.7):
        kernels.check(NAME, *arguments(numbers(shape, dtype), dim, scale), rtol=0, atol=0)


@pytest.mark.parametrize("step", [1e-9, 1 / 300, 1 / 127, 0.7, 1e6, 4e9])
def test_any_step_and_zero_point(kernels: Kernels, step: float) -> None:
    for zero_point in (-128, 0, 100):
        kernels.check(NAME, *arguments(numbers((3, 40)), -1, 0.03, step, zero_point), rtol=0, atol=0)


def test_tensors_may_lie_in_any_order(kernels: Kernels) -> None:
    x = with_dim_order(numbers((2, 5, 3, 4)), [1, 0, 3, 2])
    kernels.check(NAME, *arguments(x, 1), out_dim_order=[0, 2, 3, 1], rtol=0, atol=0)


def test_the_result_may_lie_where_the_input_does(kernels: Kernels) -> None:
    given = arguments(numbers((6, 50)))
    expected = torch.ops.rushlight.quantized_softmax(*given)
    kernels.run(NAME, [*given, given[0]])
    assert torch.equal(given[0], expected)


@pytest.mark.parametrize("length", [1, 2, 12, 197, 1000, 5000])
@pytest.mark.parametrize("scale", [0.002, 0.03, 0.2, 3.0])
def test_nearly_all_results_are_the_nearest(kernels: Kernels, length: int, scale: float) -> None:
    """Outputs in steps of 2^-15, clamped to 255 steps, so that results of long rows are not 0."""
    x = numbers((20_000 // length + 1, length), torch.uint8, seed=length)
    given = arguments(x, -1, scale, 2.0**-15)
    out = torch.empty_like(x)
    kernels.run(NAME, [*given, out])
    exact = torch.softmax(x.double() * scale, -1) * 2.0**15
    off = (out.double() - exact.clamp(0, 255)).abs()
    assert off.max() <= 0.5 + 1e-3


@pytest.mark.parametrize(
    ("argument", "wrong", "named"),
    [
        (0, torch.zeros(4, dtype=torch.int32), "input: "),
        (1, 1, "dim"),
        (2, torch.zeros(255, dtype=torch.int32), "table: expected 256 elements of int32, got 255 of int32"),
        (2, torch.zeros(256, dtype=torch.int8), "table: expected 256 elements of int32, got 256 of int8"),
        (3, 0, "multiplier: expected 2.30 to 2.31 - 1, got 0"),
        (3, 1 << 31, "multiplier: "),
        (4, 31, "shift: expected -31 to 30, got 31"),
        (4, -32, "shift: expected -31 to 30, got -32"),
        (7, 128, "output_min, output_zero_point, output_max"),
        (8, torch.zeros(4, dtype=torch.uint8), "input and out"),
        (8, torch.zeros(5, dtype=torch.int8), "out"),
    ],
)
def test_wrong_arguments_are_named(kernels: Kernels, argument: int, wrong: Any, named: str) -> None:
    given = [*arguments(numbers((4,))), poison(numbers((4,)))]
    given[argument] = wrong
    with pytest.raises(Exception, match=named):
        kernels.run(NAME, given)
    table = torch.full((256,), -1, dtype=torch.int32)  # the values of a table form no address
    kernels.run(NAME, [numbers((4,)), -1, table, *arguments(numbers((4,)))[3:], poison(numbers((4,)))])
