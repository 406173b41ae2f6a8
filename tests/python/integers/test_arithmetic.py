# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of integer operators against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.integers.arithmetic import folded_bias, quantize, requantization

MOST = np.iinfo(np.int32).max


def made(scale: float, rounding: str = "single") -> tuple[int, int]:
    """Multiplier and shift of a scale."""
    to = requantization(np.array([scale]), rounding)
    assert to is not None and to.shifts is not None
    assert (to.rounding, to.multipliers.dtype, to.shifts.dtype) == (rounding, np.int32, np.int8)
    return int(to.multipliers[0]), int(to.shifts[0])


@pytest.mark.parametrize("rounding", ["single", "double"])
@settings(max_examples=300)
@given(scale=st.floats(2.0**-32, 2.0**30 - 1))
def test_a_scale_keeps_31_bits(rounding: str, scale: float) -> None:
    multiplier, shift = made(scale, rounding)
    assert 1 << 30 <= multiplier <= MOST
    assert -31 <= shift <= 30
    exact = Fraction(multiplier) * Fraction(2) ** (shift - 31)
    assert abs(exact / Fraction(scale) - 1) <= Fraction(1, 1 << 31)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (0.5, (1 << 30, 0)),
        (1.0, (1 << 30, 1)),
        (0.75, (3 << 29, 0)),
        (2.0**-32, (1 << 30, -31)),
        (math.nextafter(2.0**-32, 0), (1 << 30, -31)),  # rounds to 2^-32
        (2.0**-32 * 0.75, (0, 0)),
        (1e-300, (0, 0)),
        (5e-324, (0, 0)),
        (math.nextafter(1.0, 0), (1 << 30, 1)),  # 31 bits of it are a power of two
        (2.0**30 * 0.75, (3 << 29, 30)),
    ],
)
def test_scales_at_the_ends(scale: float, expected: tuple[int, int]) -> None:
    assert made(scale) == expected


@pytest.mark.parametrize("rounding", ["single", "double", "float"])
@pytest.mark.parametrize("scale", [0.0, -0.5, math.nan, math.inf, -math.inf])
def test_scales_that_are_none(scale: float, rounding: str) -> None:
    assert requantization(np.array([0.5, scale]), rounding) is None


def test_scales_that_are_too_large() -> None:
    assert requantization(np.array([2.0**30]), "single") is None
    assert requantization(np.array([1.0, math.nextafter(2.0**30, 0)]), "double") is None


def test_float_keeps_float32() -> None:
    scales = np.array([0.1, 1 / 3, 1e-40, 3e38])
    to = requantization(scales, "float")
    assert to is not None and to.shifts is None
    assert to.multipliers.dtype == np.float32
    assert np.array_equal(to.multipliers, scales.astype(np.float32))
    assert requantization(np.array([1e-60]), "float") is None  # 0 in float32


def test_float_refuses_what_float32_cannot_hold() -> None:
    assert requantization(np.array([1e39]), "float") is None


@settings(max_examples=100)
@given(
    numbers=st.lists(st.lists(st.integers(-128, 127), min_size=3, max_size=3), min_size=1, max_size=4),
    zero_point=st.integers(-128, 255),
    scale=st.floats(1e-4, 10),
    data=st.data(),
)
def test_a_bias_takes_the_zero_point_along(
    numbers: list[list[int]], zero_point: int, scale: float, data: st.DataObject
) -> None:
    reals = data.draw(st.lists(st.floats(-100, 100), min_size=len(numbers), max_size=len(numbers)))
    folded = folded_bias(
        np.array(reals), np.array(numbers, np.int8), zero_point, np.full(len(numbers), scale)
    )
    assert folded is not None and folded.dtype == np.int32
    for each, real, row in zip(folded.tolist(), reals, numbers, strict=True):
        steps = each + zero_point * sum(row)
        assert abs(steps - real / scale) <= 0.5 + 1e-6


def test_a_bias_rounds_halves_to_even() -> None:
    numbers = np.zeros((4, 1), np.int8)
    folded = folded_bias(np.array([0.5, 1.5, -0.5, 2.5]), numbers, 0, np.ones(1))
    assert folded is not None and folded.tolist() == [0, 2, 0, 2]


def test_without_a_bias_the_zero_point_is_left() -> None:
    folded = folded_bias(None, np.array([[1, 2], [-3, -4]], np.int8), -7, np.ones(1))
    assert folded is not None and folded.tolist() == [21, -49]


def test_weights_of_any_rank_are_sums_by_output() -> None:
    numbers = np.ones((3, 2, 5, 5), np.int8)
    folded = folded_bias(None, numbers, 2, np.ones(3))
    assert folded is not None and folded.tolist() == [-100] * 3


@pytest.mark.parametrize("real", [2.0**31, -(2.0**31), 1e30, math.inf, -math.inf, math.nan])
def test_a_bias_of_more_than_32_bits(real: float) -> None:
    assert folded_bias(np.array([real]), np.ones((1, 1), np.int8), 0, np.ones(1)) is None


def test_sums_of_32_bits_are_taken_and_no_larger_ones() -> None:
    numbers, most = np.zeros((1, 10), np.int8), MOST - 10 * 255 * 128
    for sign in (1.0, -1.0):
        folded = folded_bias(np.array([sign * most]), numbers, 0, np.ones(1))
        assert folded is not None and abs(int(folded[0])) == most
        assert folded_bias(np.array([sign * (most + 1)]), numbers, 0, np.ones(1)) is None
    depth = MOST // (255 * 128)
    assert folded_bias(None, np.zeros((1, depth), np.int8), 0, np.ones(1)) is not None
    assert folded_bias(None, np.zeros((1, depth + 1), np.int8), 0, np.ones(1)) is None


@pytest.mark.parametrize(
    ("real", "expected"), [(0.5, 3), (1.5, 5), (-0.5, 3), (1e9, 20), (-3e38, -10), (0.0, 3), (0.51, 4)]
)
def test_quantize_has_halves_to_even_and_clamps(real: float, expected: int) -> None:
    assert int(quantize(np.float32(real), 1.0, 3, -10, 20)) == expected
