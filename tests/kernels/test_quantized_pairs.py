# SPDX-License-Identifier: BSD-3-Clause
"""Sums and products of two quantized tensors against their definitions in the exporter's dialect."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from rushlight.export.dialect import integers
from rushlight.integers.arithmetic import ROUNDINGS, requantization
from support.harness import Kernels, poison

NAME = "rushlight::quantized_add.out"
DEFINED = integers.overload("rushlight::quantized_add")
HOW = (1_234_567, -987_654, 1 << 19, 20, -3, -128, 127)
MUL = "rushlight::quantized_mul.out"
MULTIPLY = integers.overload("rushlight::quantized_mul")
SHAPES = [
    ((2, 5, 4, 3), (2, 5, 4, 3)),
    ((2, 5, 4, 3), (5, 1, 1)),
    ((4, 1), (3, 1, 70)),
    ((), (6,)),
    ((0, 3), (1, 3)),
    ((1,), (1, 1)),
]
ORDERS = [[0, 1, 2, 3], [0, 2, 3, 1]]


def numbers(shape: tuple[int, ...], dtype: torch.dtype = torch.int8, seed: int = 0) -> torch.Tensor:
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(seed)
    return torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize(("one", "other"), SHAPES, ids=str)
def test_sums_are_as_defined(
    kernels: Kernels, dtype: torch.dtype, one: tuple[int, ...], other: tuple[int, ...]
) -> None:
    move = 0 if dtype == torch.int8 else 128
    how = (*HOW[:4], HOW[4] + move, HOW[5] + move, HOW[6] + move)
    for a, b in ((one, other), (other, one)):
        arguments = (numbers(a, dtype), numbers(b, dtype, 1), *how)
        kernels.check(NAME, *arguments, eager=DEFINED, rtol=0, atol=0)


@pytest.mark.parametrize(("first", "second", "out"), list(itertools.product(ORDERS, repeat=3)), ids=str)
def test_each_tensor_has_its_order(
    kernels: Kernels, first: list[int], second: list[int], out: list[int]
) -> None:
    a, b = numbers((2, 5, 4, 3)), numbers((2, 5, 4, 3), seed=1)
    formats = {0: torch.contiguous_format, 1: torch.channels_last}
    a = a.contiguous(memory_format=formats[ORDERS.index(first)])
    b = b.contiguous(memory_format=formats[ORDERS.index(second)])
    kernels.check(NAME, a, b, *HOW, eager=DEFINED, out_dim_order=out, rtol=0, atol=0)


@pytest.mark.parametrize("low_high", [(-128, 127), (-3, 90), (5, 5)], ids=str)
def test_sums_of_all_numbers_are_clamped(kernels: Kernels, low_high: tuple[int, int]) -> None:
    every = torch.arange(-128, 128).to(torch.int8)
    how = (*HOW[:4], low_high[0], *low_high)
    kernels.check(NAME, every[:, None], every[None, :], *how, eager=DEFINED, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({0: 1 << 24}, "may have more than 32 bits"),
        ({1: -(1 << 40)}, "may have more than 32 bits"),
        ({2: (1 << 31) - 1}, "may have more than 32 bits"),
        ({3: 31}, "shift: expected 0 to 30, got 31"),
        ({3: -1}, "shift: expected 0 to 30, got -1"),
        ({4: 127, 6: 126}, "output_min, output_zero_point, output_max"),
        ({5: -129}, "output_min, output_zero_point, output_max"),
    ],
    ids=str,
)
def test_arguments_are_proven(kernels: Kernels, changed: dict[int, int], message: str) -> None:
    how: list[Any] = [changed.get(argument, number) for argument, number in enumerate(HOW)]
    with pytest.raises(Exception, match=message):
        kernels.run(NAME, [numbers((3,)), numbers((3,)), *how, poison(numbers((3,)))])


def test_tensors_have_one_dtype(kernels: Kernels) -> None:
    with pytest.raises(Exception, match="self and other"):
        kernels.run(NAME, [numbers((3,)), numbers((3,), torch.uint8), *HOW, poison(numbers((3,)))])


def product(
    a: torch.Tensor,
    b: torch.Tensor,
    scale: float = 0.0039,
    rounding: str = "single",
    points: Any = (3, -8, 5),
) -> list[Any]:
    """The arguments of a product."""
    to = requantization(np.array([scale]), rounding)
    assert to is not None
    shifts = None if to.shifts is None else torch.from_numpy(to.shifts)
    info = torch.iinfo(a.dtype)
    numbers = [torch.from_numpy(to.multipliers), shifts, rounding, points[2], info.min, info.max]
    return [a, points[0], b, points[1], *numbers]


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize(("one", "other"), SHAPES, ids=str)
def test_products_are_as_defined(
    kernels: Kernels, dtype: torch.dtype, one: tuple[int, ...], other: tuple[int, ...], rounding: str
) -> None:
    points = (3, -8, 5) if dtype == torch.int8 else (250, 0, 130)
    for a, b in ((one, other), (other, one)):
        given = product(numbers(a, dtype), numbers(b, dtype, 1), 0.0039, rounding, points)
        kernels.check(MUL, *given, eager=MULTIPLY, rtol=0, atol=0)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("points", [(-128, 127, 0), (127, -128, -128), (0, 0, 127)], ids=str)
@pytest.mark.parametrize("scale", [1e-11, 2.0**-9, 0.013, 1.0, 2.0**14])
def test_products_of_all_numbers(
    kernels: Kernels, points: tuple[int, int, int], scale: float, rounding: str
) -> None:
    every = torch.arange(-128, 128).to(torch.int8)
    given = product(every[:, None], every[None, :], scale, rounding, points)
    kernels.check(MUL, *given, eager=MULTIPLY, rtol=0, atol=0)


@pytest.mark.parametrize("argument", [0, 2])
def test_a_product_may_lie_where_an_input_does(kernels: Kernels, argument: int) -> None:
    given = product(numbers((3, 50)), numbers((3, 50), seed=1))
    expected = MULTIPLY(*given)
    kernels.run(MUL, [*given, given[argument]])
    assert torch.equal(given[argument], expected)


@pytest.mark.parametrize(
    ("argument", "wrong", "message"),
    [
        (1, 128, "self_zero_point: expected -128 to 127, got 128"),
        (3, -129, "other_zero_point: expected -128 to 127, got -129"),
        (2, numbers((3,), torch.uint8), "self and other"),
        (4, torch.zeros(2, dtype=torch.int32), "multipliers: expected one element"),
        (4, torch.tensor([5], dtype=torch.int32), "multipliers: expected 0 or 2.30 at least, got 5"),
        (5, torch.tensor([31], dtype=torch.int8), "shifts: expected -31 to 30, got 31"),
        (5, None, "shifts: expected some"),
        (7, 128, "output_min, output_zero_point, output_max"),
        (2, numbers((2,)), "broadcast"),
    ],
    ids=str,
)
def test_arguments_of_products_are_proven(kernels: Kernels, argument: int, wrong: Any, message: str) -> None:
    given = product(numbers((3,)), numbers((3,)))
    given[argument] = wrong
    with pytest.raises(Exception, match=message):
        kernels.run(MUL, [*given, poison(numbers((3,)))])
