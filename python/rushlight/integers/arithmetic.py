# SPDX-License-Identifier: BSD-3-Clause
"""Constants of integer operators: fixed-point scales, biases and tables. kernels/ukernel/requantize.h defines
how kernels use them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rushlight.integers.graph import Array

ROUNDINGS = ("single", "double", "float")
_LEAST_SHIFT, MOST_SHIFT = -31, 30
_MOST_WIDE_SHIFT = {"single": 15, "double": 7}
_LARGEST = {"int8": 255, "uint8": 255, "int16": 1 << 15}  # magnitude of an element less its zero point
_LARGEST_WEIGHT = 128
MOST_SUM = {"int8": 2**31 - 1, "uint8": 2**31 - 1, "int16": 2**47 - 1}
"""The largest sum of products with elements of each dtype."""


@dataclass(frozen=True)
class Requantization:
    """The operator arguments that define how sums are requantized."""

    rounding: str
    multipliers: Array
    shifts: Array | None


def requantization(
    scales: Array, rounding: str = "single", most_shift: int = MOST_SHIFT
) -> Requantization | None:
    """The fixed-point form of scales (float64, one or more elements); None if a scale is not finite, not
    above 0, or out of range.

    A scale is multiplier * 2^(shift - 31) with a 31-bit multiplier (relative error below 2^-31); "float"
    stores it as float32. A scale below 2^-32 requantizes every sum to 0, as a multiplier of 0 does.
    """
    if not np.isfinite(scales).all() or (scales <= 0).any():
        return None
    if rounding == "float":
        with np.errstate(over="ignore"):
            narrow = scales.astype(np.float32)
        fits = np.isfinite(narrow).all() and (narrow > 0).all()
        return Requantization(rounding, narrow, None) if fits else None
    fractions, exponents = np.frexp(scales)
    multipliers = np.floor(fractions * 2.0**31 + 0.5).astype(np.int64)
    whole = multipliers == 1 << 31
    multipliers[whole] >>= 1
    exponents = exponents + whole
    if (exponents > most_shift).any():
        return None
    tiny = exponents < _LEAST_SHIFT
    multipliers[tiny], exponents[tiny] = 0, 0
    return Requantization(rounding, multipliers.astype(np.int32), exponents.astype(np.int8))


def most_shift_of_products(dtype: str, rounding: str) -> int:
    """The largest shift for sums of products of weights with elements of a dtype."""
    return _MOST_WIDE_SHIFT.get(rounding, MOST_SHIFT) if dtype == "int16" else MOST_SHIFT


def folded_bias(
    bias: Array | None, numbers: Array, zero_point: int, scale: Array, dtype: str = "int8"
) -> Array | None:
    """The bias for sums of products of stored integers: the real bias in steps of `scale`, minus zero_point
    times the sum of each output's weights. `numbers` has the weights, [outputs, ...]. The result is int32,
    or int64 for int16 elements; None if a sum could exceed 32 bits (48 for int16)."""
    rows = numbers.reshape(numbers.shape[0], -1)
    folded: Array = -zero_point * rows.sum(1, dtype=np.int64)
    if bias is not None:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steps = np.rint(bias.astype(np.float64) / scale)
        if not np.isfinite(steps).all() or (np.abs(steps) > 2.0**47).any():
            return None
        folded = folded + steps.astype(np.int64)
    most = np.abs(folded).max(initial=0) + rows.shape[1] * _LARGEST[dtype] * _LARGEST_WEIGHT
    if most > MOST_SUM[dtype]:
        return None
    return folded if dtype == "int16" else folded.astype(np.int32)


def quantize(real: Array, scale: float, zero_point: int, low: int, high: int) -> Array:
    """Quantizes as `quantize_per_tensor` does in float32: real * (1 / scale), ties to even. Returns int64."""
    with np.errstate(over="ignore", invalid="ignore"):
        inverse = np.float32(1.0 / scale)
        steps = np.rint(np.asarray(real, np.float32) * inverse) + np.float32(zero_point)
    # 0 times an infinite inverse is NaN: 0 quantizes to the zero point.
    known = np.where(np.isnan(steps), np.float32(zero_point), steps)
    quantized: Array = np.clip(known, low, high).astype(np.int64)
    return quantized


def pack_halves(numbers: Array) -> Array:
    """Packs int8 values from -8 to 7, [rows, columns], two per byte with the first in the low half: uint8
    [rows, (columns + 1) / 2]. Both are stored plus 8; an odd row is padded with one 0."""
    rows, columns = numbers.shape
    counted = np.pad(numbers.astype(np.int16), ((0, 0), (0, columns % 2))) + 8
    pairs = counted.reshape(rows, (columns + 1) // 2, 2)
    return (pairs[..., 0] + pairs[..., 1] * 16).astype(np.uint8)
