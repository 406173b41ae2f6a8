# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one number of 16 bits as cubic pieces, for `rushlight::quantized_curve`."""

from __future__ import annotations

import numpy as np

from rushlight.integers.graph import Array

_FRACTION = 15  # bits of a result behind the point
_MOST_PIECE_BITS = 10  # 16 kB
_LEAST_EQUAL = 0.999
_MOST_STEPS = 1 << 16  # what lies farther out is clamped


def evaluate(table: Array, low: int, high: int) -> Array:
    """The results for all numbers from -32768 on, bit for bit as the kernel computes them."""
    count = (1 << 16) // len(table)
    steps = (np.arange(count, dtype=np.int64) << 16) // count
    wide = table.astype(np.int64)[..., None]
    values = wide[:, 3]
    for place in (2, 1, 0):
        values = wide[:, place] + ((values * steps) >> 16)
    results: Array = np.clip((values + (1 << (_FRACTION - 1))) >> _FRACTION, low, high).reshape(-1)
    return results


def _fitted(steps: Array, pieces: int) -> Array | None:
    """The coefficients nearest to real results, by least squares in each piece; None where one has more than
    32 bits."""
    rows = steps.reshape(pieces, -1)
    powers = np.vander(np.arange(rows.shape[1]) / rows.shape[1], 4, increasing=True)
    coefficients = np.rint(rows @ np.linalg.pinv(powers).T * 2.0**_FRACTION)
    return coefficients.astype(np.int32) if np.abs(coefficients).max() < 2.0**31 else None


def fit(steps: Array, low: int, high: int) -> Array | None:
    """The fewest pieces, int32 [pieces, 4], for a function with these results, float64 in steps, which are
    rounded and clamped. No result is more than one step off, and 99.9 % are equal. None where that takes more
    than 1024 pieces: where the function jumps or has a kink inside of a piece."""
    exact = np.clip(np.rint(steps), low, high).astype(np.int64)
    bounded = np.clip(steps, -_MOST_STEPS + 1, _MOST_STEPS - 1)
    for bits in range(_MOST_PIECE_BITS + 1):
        table = _fitted(bounded, 1 << bits)
        if table is None:
            continue
        distances = np.abs(evaluate(table, low, high) - exact)
        if distances.max() <= 1 and np.mean(distances == 0) >= _LEAST_EQUAL:
            return table
    return None
