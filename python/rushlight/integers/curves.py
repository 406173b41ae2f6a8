# SPDX-License-Identifier: BSD-3-Clause
"""Fits functions of one int16 value by piecewise cubics, for `rushlight::quantized_curve`.

Least squares per piece; the number of pieces doubles until the fit is within one step. A direct table
would have 65536 entries.
"""

from __future__ import annotations

import numpy as np

from rushlight.integers.graph import Array

_FRACTION = 15  # fraction bits of a result
_MOST_PIECE_BITS = 10  # 16 kB
_LEAST_EQUAL = 0.999
_MOST_STEPS = 1 << 16  # results beyond are clamped


def evaluate(table: Array, low: int, high: int) -> Array:
    """The results for all int16 values in ascending order, bit for bit as the kernel computes them."""
    count = (1 << 16) // len(table)
    steps = (np.arange(count, dtype=np.int64) << 16) // count
    wide = table.astype(np.int64)[..., None]
    values = wide[:, 3]
    for power in (2, 1, 0):
        values = wide[:, power] + ((values * steps) >> 16)
    results: Array = np.clip((values + (1 << (_FRACTION - 1))) >> _FRACTION, low, high).reshape(-1)
    return results


def _fitted(steps: Array, pieces: int) -> Array | None:
    """The least-squares coefficients of each piece, int32 [pieces, 4]; None if one exceeds 32 bits."""
    rows = steps.reshape(pieces, -1)
    powers = np.vander(np.arange(rows.shape[1]) / rows.shape[1], 4, increasing=True)
    coefficients = np.rint(rows @ np.linalg.pinv(powers).T * 2.0**_FRACTION)
    return coefficients.astype(np.int32) if np.abs(coefficients).max() < 2.0**31 else None


def fit(steps: Array, low: int, high: int) -> Array | None:
    """Fits a function with the fewest pieces: int32 [pieces, 4]. `steps` has its 65536 results, float64 in
    steps of the output, which are rounded and clamped from low to high. No fitted result is more than one
    step off, and 99.9 % are equal. None if that needs more than 1024 pieces, as for a function with a jump
    or a kink inside a piece."""
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
