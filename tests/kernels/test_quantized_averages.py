# SPDX-License-Identifier: BSD-3-Clause
"""Means and average pools of integers against their definitions in the dialect, bit for bit, and against
exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight.export.dialect.integers as dialect
from rushlight.integers.arithmetic import ROUNDINGS, requantization
from support.harness import Kernels, with_dim_order

MEAN = "rushlight::quantized_mean.out"
POOL = "rushlight::quantized_avg_pool2d.out"
ADAPTIVE = "rushlight::quantized_adaptive_avg_pool2d.out"
DTYPES = [torch.int8, torch.uint8]


def numbers(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Values from the whole range of a dtype, many of them its limits."""
    generator = torch.Generator().manual_seed(seed)
    info = torch.iinfo(dtype)
    values = torch.randint(info.min - 40, info.max + 41, shape, generator=generator)
    return values.clamp(info.min, info.max).to(dtype)


def scale_of(scale: float, rounding: str) -> list[Any]:
    """The arguments that encode a scale."""
    to = requantization(np.array([scale]), rounding)
    assert to is not None
    shifts = None if to.shifts is None else torch.from_numpy(to.shifts)
    return [torch.from_numpy(to.multipliers), shifts, rounding]


def range_of(dtype: torch.dtype, zero_point: int = 3) -> list[int]:
    """The whole range of a dtype."""
    info = torch.iinfo(dtype)
    return [zero_point, info.min, info.max]


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "order", "dim"),
    [
        ((2, 70, 5, 7), (0, 2, 3, 1), [2, 3]),
        ((2, 70, 5, 7), (0, 1, 2, 3), [-1, -2]),
        ((1, 300, 4, 4), (0, 2, 3, 1), [2, 3]),
        ((3, 40), (0, 1), [1]),
        ((3, 40), (0, 1), [0]),
        ((3, 40), (0, 1), []),
        ((3, 5, 4, 6), (0, 1, 2, 3), [0, 2]),
        ((3, 5, 4, 6), (2, 0, 3, 1), [1, 2]),
        ((3, 5, 2, 6, 3), (0, 1, 2, 3, 4), [0, 2, 4]),
        ((2, 1000), (0, 1), [1]),
        ((1, 17, 1, 1), (0, 2, 3, 1), [2, 3]),
        ((0, 5, 3), (0, 1, 2), [1]),
        ((), (), None),
    ],
)
def test_a_mean_has_the_bits_of_its_definition(
    kernels: Kernels, shape: Any, order: Any, dim: Any, dtype: torch.dtype, rounding: str
) -> None:
    x = with_dim_order(numbers(shape, dtype), order)
    for scale, keepdim in ((1.0, True), (0.37, False), (3.9, True)):
        kernels.check(MEAN, x, 5, dim, keepdim, *scale_of(scale, rounding), *range_of(dtype), rtol=0, atol=0)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_pool_has_the_bits_of_its_definition(kernels: Kernels, data: st.DataObject) -> None:
    def draw(low: int, high: int) -> list[int]:
        return data.draw(st.lists(st.integers(low, high), min_size=2, max_size=2))

    dtype, rounding = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from(ROUNDINGS))
    size = (data.draw(st.sampled_from([1, 3, 16, 133])), *draw(1, 19))
    x = numbers((2, *size)[data.draw(st.integers(0, 1)) :], dtype)
    rank = x.dim()
    orders = [tuple(range(rank)), (*range(rank - 3), rank - 2, rank - 1, rank - 3)]
    x = with_dim_order(x, data.draw(st.sampled_from(orders)))
    where = [
        draw(1, 5),
        data.draw(st.one_of(st.just([]), st.lists(st.integers(1, 4), min_size=1, max_size=2))),
        draw(0, 2),
        data.draw(st.booleans()),
        data.draw(st.booleans()),
        data.draw(st.one_of(st.none(), st.integers(1, 30))),
    ]
    to = [*scale_of(data.draw(st.sampled_from([1.0, 0.5, 0.713, 2.9])), rounding), *range_of(dtype, 7)]
    try:
        torch.ops.aten.avg_pool2d(x.float(), *where)
    except RuntimeError:
        out = torch.empty((*x.shape[:-2], 1, 1), dtype=dtype)
        assert kernels.refuse(POOL, x, 4, *where, *to, outs=[out]).error == "InvalidArgument"
        return
    for order in orders:
        kernels.check(POOL, x, 4, *where, *to, out_dim_order=order, rtol=0, atol=0)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(2, 3, 9, 11), (5, 7, 30), (2, 33, 8, 8), (1, 200, 5, 3), (0, 3, 4, 4)], ids=str
)
def test_an_adaptive_pool_has_the_bits_of_its_definition(
    kernels: Kernels, shape: tuple[int, ...], dtype: torch.dtype, rounding: str
) -> None:
    rank = len(shape)
    for order in (tuple(range(rank)), (*range(rank - 3), rank - 2, rank - 1, rank - 3)):
        x = with_dim_order(numbers(shape, dtype), order)
        for size in ([1, 1], [2, 3], [4, 5], [7, 6], [13, 1], [5, 40]):
            to = [*scale_of(0.73, rounding), *range_of(dtype, 7)]
            kernels.check(ADAPTIVE, x, 5, size, *to, out_dim_order=order, rtol=0, atol=0)


def test_adaptive_windows_that_are_too_large_are_refused(kernels: Kernels) -> None:
    x = torch.zeros((1, 3000, 3000), dtype=torch.int8)
    to, out = [*scale_of(0.5, "single"), *range_of(torch.int8)], torch.empty((1, 1, 1), dtype=torch.int8)
    with pytest.raises(Exception, match="expected sums of at most"):
        kernels.run(ADAPTIVE, [x, 0, [1, 1], *to, out])
    for size in ([-1, 1], [1], [1, 1, 1]):
        assert kernels.refuse(ADAPTIVE, x, 0, size, *to, outs=[out]).error == "InvalidArgument"


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_a_mean_is_the_nearest_number(kernels: Kernels, rounding: str) -> None:
    """Halves, which occur for all even counts at a scale of 1, may round either way: to one of the nearest
    integers. The first rounding of "double" may add an error of another half."""
    most = Fraction(1) if rounding == "double" else Fraction(1, 2)
    for count in (1, 2, 3, 4, 6, 7, 12, 49, 64, 100):
        x = numbers((500, count), torch.int8, seed=count)
        for scale in (1.0, 0.3):
            out = torch.empty(500, dtype=torch.int8)
            kernels.run(MEAN, [x, -3, [1], False, *scale_of(scale, rounding), -3, -128, 127, out])
            for row, got in zip(x.tolist(), out.tolist(), strict=True):
                exact = Fraction(sum(row) + 3 * count) * Fraction(scale) / count - 3
                distance = abs(max(min(exact, Fraction(127)), Fraction(-128)) - got)
                assert distance <= most + Fraction(1, 100000)


@pytest.mark.parametrize(("rounding", "expected"), [("single", [1, 2, 0, -1]), ("float", [0, 2, 0, -2])])
def test_halves_are_rounded_as_documented(kernels: Kernels, rounding: str, expected: list[int]) -> None:
    x = torch.tensor([[0, 1], [1, 2], [0, -1], [-1, -2]], dtype=torch.int8)
    out = torch.empty(4, dtype=torch.int8)
    kernels.run(MEAN, [x, 0, [1], False, *scale_of(1.0, rounding), 0, -128, 127, out])
    assert out.tolist() == expected


def test_wrong_arguments_are_refused(kernels: Kernels) -> None:
    x, out = numbers((2, 4), torch.int8), torch.empty(2, dtype=torch.int8)
    scale, to = scale_of(0.5, "single"), range_of(torch.int8)

    def refuse(*arguments: Any, name: str = MEAN) -> str:
        return kernels.refuse(name, *arguments, outs=[out]).error

    assert refuse(x.float(), 0, [1], False, *scale, *to) == "InvalidType"
    assert refuse(x.to(torch.uint8), 0, [1], False, *scale, *to) == "InvalidType"
    assert refuse(x, 128, [1], False, *scale, *to) == "InvalidArgument"
    assert refuse(x, 0, [2], False, *scale, *to) == "InvalidArgument"
    assert refuse(x, 0, [1], False, *scale[:2], "up", *to) == "InvalidArgument"
    assert (
        refuse(x, 0, [1], False, torch.full((2,), 1 << 30).int(), scale[1], "single", *to)
        == "InvalidArgument"
    )
    assert refuse(x, 0, [1], False, *scale, 3, 4, 127) == "InvalidArgument"
    empty = torch.empty((2, 0), dtype=torch.int8)
    assert refuse(empty, 0, [1], False, *scale, *to) == "InvalidArgument"
    planes = numbers((2, 3, 4, 4), torch.int8)
    for divisor in (0, -2, 1 << 31):
        where = [[2, 2], [2, 2], [0, 0], False, True, divisor]
        assert refuse(planes, 0, *where, *scale, *to, name=POOL) == "InvalidArgument"


def test_quotients_of_scales_are_near(kernels: Kernels) -> None:
    """Checks the definition that kernels are compared with."""
    counts = torch.tensor([1, 2, 3, 6, 7, 49, 4096, 3600, 2**31 - 1, 2**31 + 1, 2**40 - 1, 3 * 2**60])
    for scale in (1.0, 0.1, 777.7, 1e-4):
        multipliers, shifts, _ = scale_of(scale, "single")
        found, moved = dialect.divided(multipliers, shifts, counts)
        assert moved is not None
        quotients = found.double() * 2.0 ** (moved.double() - 31)
        torch.testing.assert_close(quotients, scale / counts.double(), rtol=2.0**-29, atol=2.0**-33)
