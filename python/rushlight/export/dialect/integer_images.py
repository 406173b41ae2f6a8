# SPDX-License-Identifier: BSD-3-Clause
"""Bilinear interpolation of images in integers; matches the kernel bit for bit."""

from __future__ import annotations

from typing import Any

import torch

from rushlight.export.dialect.fused import NAMESPACE
from rushlight.export.dialect.integers import TO, requantize

FRACTION = 18
"""Fraction bits of a position."""
DROPPED = 14
"""Bits that are rounded off a sum of four elements before it is requantized."""

_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
_LIBRARY.define(
    "quantized_interpolate2d(Tensor input, int input_zero_point, Tensor rows, Tensor columns, "
    f"Tensor multipliers, Tensor? shifts, {TO}"
)


def _blend(numbers: torch.Tensor, positions: torch.Tensor, dim: int) -> torch.Tensor:
    """Linear interpolation between neighbours along a dimension; the result has FRACTION more fraction
    bits."""
    wide = positions.to(torch.int64)
    index, share = wide >> FRACTION, wide & ((1 << FRACTION) - 1)
    first = numbers.index_select(dim, index)
    second = numbers.index_select(dim, (index + 1).clamp(max=numbers.shape[dim] - 1))
    shape = [1] * numbers.dim()
    shape[dim] = -1
    return (first << FRACTION) + (second - first) * share.reshape(shape)


def _quantized_interpolate2d(
    input: torch.Tensor,
    input_zero_point: int,
    rows: torch.Tensor,
    columns: torch.Tensor,
    multipliers: torch.Tensor,
    shifts: torch.Tensor | None,
    *to: Any,
) -> torch.Tensor:
    numbers = input.to(torch.int64) - input_zero_point
    rank = input.dim()
    sums = _blend(_blend(numbers, columns, rank - 1), rows, rank - 2)
    rounded = (sums + (1 << (DROPPED - 1))) >> DROPPED
    scales = multipliers.reshape(()), None if shifts is None else shifts.reshape(())
    return requantize(rounded, *scales, *to).to(input.dtype)


_LIBRARY.impl("quantized_interpolate2d", _quantized_interpolate2d, "CompositeExplicitAutograd")
