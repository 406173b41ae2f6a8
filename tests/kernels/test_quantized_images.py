# SPDX-License-Identifier: BSD-3-Clause
"""Interpolation, 3-D pools and divisions of integers against their definitions in the exporter's dialect and
against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.export.dialect import integer_images, integers  # noqa: F401  # define torch.ops.rushlight
from rushlight.integers.arithmetic import ROUNDINGS, requantization
from rushlight.integers.rules import images
from support.harness import Kernels, poison, with_dim_order

INTERPOLATE = "rushlight::quantized_interpolate2d.out"
POOL = "rushlight::quantized_avg_pool3d.out"
QUOTIENT = "rushlight::quantized_div.out"
BYTES = [torch.int8, torch.uint8]


def numbers(shape: tuple[int, ...], dtype: torch.dtype = torch.int8, seed: int = 0) -> torch.Tensor:
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(seed)
    return torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)


def scale_of(scale: float, rounding: str, dtype: torch.dtype = torch.int8, zero_point: int = 3) -> list[Any]:
    to = requantization(np.array([scale]), rounding)
    assert to is not None
    shifts = None if to.shifts is None else torch.from_numpy(to.shifts)
    info = torch.iinfo(dtype)
    return [torch.from_numpy(to.multipliers), shifts, rounding, zero_point, info.min, info.max]


def positions(size: int, wanted: int, align: bool = False) -> torch.Tensor:
    return torch.from_numpy(images.positions(size, wanted, align, None))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize(
    ("shape", "wanted"),
    [((2, 3, 4, 5), (8, 10)), ((5, 4, 7), (9, 3)), ((1, 17, 6, 6), (6, 6)), ((2, 3, 1, 1), (4, 3)),
     ((0, 3, 4, 4), (8, 8)), ((1, 2, 9, 9), (1, 1))],
    ids=str,
)  # fmt: skip
def test_interpolation_is_as_defined(
    kernels: Kernels, shape: tuple[int, ...], wanted: tuple[int, int], dtype: torch.dtype, rounding: str
) -> None:
    rank = len(shape)
    for order in (tuple(range(rank)), (*range(rank - 3), rank - 2, rank - 1, rank - 3)):
        x = with_dim_order(numbers(shape, dtype), order)
        for align in (True, False):
            rows, columns = (positions(n, m, align) for n, m in zip(shape[-2:], wanted, strict=True))
            for scale in (1.0, 0.37, 2.9):
                to = scale_of(scale * 2.0**-22, rounding, dtype)
                kernels.check(INTERPOLATE, x, 5, rows, columns, *to, out_dim_order=order, rtol=0, atol=0)


def test_the_largest_sums_have_32_bits(kernels: Kernels) -> None:
    """All four elements at one limit, the zero point at the other."""
    for value, zero_point in ((-128, 127), (127, -128)):
        x = torch.full((1, 1, 2, 2), value, dtype=torch.int8)
        for position in (0, 1, 1 << 17, (1 << 18) - 1, 1 << 18):
            at = torch.tensor([position], dtype=torch.int32)
            to = scale_of(2.0**-23, "float")
            kernels.check(INTERPOLATE, x, zero_point, at, at, *to, rtol=0, atol=0)


def test_the_rules_know_the_bits_of_the_kernel() -> None:
    assert images.FRACTION == integer_images.FRACTION


@pytest.mark.parametrize(
    ("argument", "wrong", "named"),
    [
        (0, torch.zeros(2, 2, dtype=torch.int8), "input"),
        (1, 128, "input_zero_point"),
        (2, torch.zeros(3, dtype=torch.int64), "rows: expected dtype int32"),
        (2, torch.zeros(3, 1, dtype=torch.int32), "rows: expected rank 1, got 2"),
        (2, torch.tensor([0, -1, 0], dtype=torch.int32), "rows: expected 0 to 262144, got -1"),
        (3, torch.tensor([0, 524289], dtype=torch.int32), "columns: expected 0 to 524288, got 524289"),
        (4, torch.tensor([0], dtype=torch.int32), "multipliers"),
    ],
)
def test_wrong_arguments_of_interpolation_are_named(
    kernels: Kernels, argument: int, wrong: Any, named: str
) -> None:
    x = numbers((1, 2, 2, 3))
    given = [
        x,
        5,
        positions(2, 3),
        positions(3, 2),
        *scale_of(2.0**-22, "float"),
        poison(numbers((1, 2, 3, 2))),
    ]
    given[argument] = wrong
    with pytest.raises(Exception, match=named):
        kernels.run(INTERPOLATE, given)


def test_positions_that_the_result_lies_over_stay_inside(kernels: Kernels) -> None:
    """A program may place the result over its indices: the kernel then reads wrong elements of the input."""
    rows = positions(2, 16)
    out = rows.view(torch.int8).reshape(1, 1, 16, 4)
    x = numbers((1, 1, 2, 2))
    kernels.run(INTERPOLATE, [x, 0, rows, positions(2, 4), *scale_of(2.0**-22, "float"), out])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_pool_of_volumes_is_as_defined(kernels: Kernels, data: st.DataObject) -> None:
    def draw(low: int, high: int) -> list[int]:
        return data.draw(st.lists(st.integers(low, high), min_size=3, max_size=3))

    dtype, rounding = data.draw(st.sampled_from(BYTES)), data.draw(st.sampled_from(ROUNDINGS))
    x = numbers(
        (2, data.draw(st.sampled_from([1, 3, 9])), *draw(1, 7))[data.draw(st.integers(0, 1)) :], dtype
    )
    where = [
        draw(1, 4), data.draw(st.one_of(st.just([]), st.lists(st.integers(1, 3), min_size=1, max_size=1))),
        draw(0, 1), data.draw(st.booleans()), data.draw(st.booleans()),
        data.draw(st.one_of(st.none(), st.integers(1, 30))),
    ]  # fmt: skip
    to = scale_of(data.draw(st.sampled_from([1.0, 0.5, 0.713, 2.9])), rounding, dtype)
    try:
        torch.ops.aten.avg_pool3d(x.double(), *where)
    except RuntimeError:
        out = torch.empty((*x.shape[:-3], 1, 1, 1), dtype=dtype)
        assert kernels.refuse(POOL, x, 4, *where, *to, outs=[out]).error == "InvalidArgument"
        return
    kernels.check(POOL, x, 4, *where, *to, rtol=0, atol=0)


def quotient(a: torch.Tensor, b: torch.Tensor, scale: float, points: Any = (3, -8, 5)) -> list[Any]:
    to = requantization(np.array([scale]))
    assert to is not None and to.shifts is not None
    info = torch.iinfo(a.dtype)
    return [
        a,
        points[0],
        b,
        points[1],
        int(to.multipliers[0]),
        int(to.shifts[0]),
        points[2],
        info.min,
        info.max,
    ]


@pytest.mark.parametrize("scale", [1.0, 40.0, 0.3, 1e-9, 1e9, 2.0**-32], ids=str)
def test_all_quotients_are_as_defined_and_the_nearest(kernels: Kernels, scale: float) -> None:
    every = torch.arange(-128, 128).to(torch.int8)
    given = quotient(every[:, None], every[None, :], scale)
    kernels.check(QUOTIENT, *given, rtol=0, atol=0)
    out = torch.empty(256, 256, dtype=torch.int8)
    kernels.run(QUOTIENT, [*given, out])
    real = Fraction(given[4]) * Fraction(2) ** (given[5] - 31)
    for i in range(0, 256, 7):
        for j in range(256):
            a, b = int(every[i]) - 3, int(every[j]) + 8
            if b == 0:
                expected = 0 if a == 0 else 127 if a > 0 else -128
            else:
                expected = min(max(round(Fraction(a, b) * real) + 5, -128), 127)
            assert int(out[i, j]) == expected, (a, b)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize(
    ("one", "other"),
    [((3, 5), (3, 5)), ((4, 1), (5,)), ((2, 3, 4), (3, 1)), ((), (7,)), ((0, 3), (3,))],
    ids=str,
)
def test_quotients_broadcast(
    kernels: Kernels, one: tuple[int, ...], other: tuple[int, ...], dtype: torch.dtype
) -> None:
    points = (3, 8, 5)
    given = quotient(numbers(one, dtype), numbers(other, dtype, 1), 0.9, points)
    kernels.check(QUOTIENT, *given, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("argument", "wrong", "named"),
    [
        (1, 128, "self_zero_point"),
        (3, -129, "other_zero_point"),
        (4, -1, "multiplier: expected 0 to"),
        (4, 1 << 31, "multiplier: expected 0 to"),
        (5, 31, "shift: expected -31 to 30, got 31"),
        (5, -32, "shift: expected -31 to 30, got -32"),
        (8, 128, "output_min, output_zero_point, output_max"),
        (2, torch.zeros(3, dtype=torch.uint8), "self and other"),
    ],
)
def test_wrong_arguments_of_quotients_are_named(
    kernels: Kernels, argument: int, wrong: Any, named: str
) -> None:
    given = [*quotient(numbers((3,)), numbers((3,)), 0.7), poison(numbers((3,)))]
    given[argument] = wrong
    with pytest.raises(Exception, match=named):
        kernels.run(QUOTIENT, given)
