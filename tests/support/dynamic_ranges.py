# SPDX-License-Identifier: BSD-3-Clause
"""Inputs of dynamic quantization that show how a definition computes its scale."""

from __future__ import annotations

import numpy as np


def inverse_seen(rows: int = 32) -> np.ndarray:
    """float32 [rows, 4]: least, greatest, and two values in between whose int8 depends on the factor that
    they are multiplied by: 255 / (greatest - least), or the inverse of that factor's inverse."""
    one = np.float32
    generator = np.random.default_rng(0)
    found: list[list[np.float32]] = []
    halves = np.arange(-100, 100) + 0.5
    while len(found) < rows:
        least, greatest = (one(sign * abs(generator.normal())) for sign in (-1, 1))
        inverse = one(255) / (greatest - least)
        again = one(1) / (one(1) / inverse)
        values = (halves / np.float64(inverse)).astype(one)
        values = np.concatenate([values, np.nextafter(values, one(9)), np.nextafter(values, one(-9))])
        differs = np.rint(values * inverse) != np.rint(values * again)
        values = values[differs & (values > least) & (values < greatest)]
        if len(values) >= 2:
            found.append([least, greatest, values[0], values[1]])
    return np.array(found, dtype=one)
