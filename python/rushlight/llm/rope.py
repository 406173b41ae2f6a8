# SPDX-License-Identifier: BSD-3-Clause
"""Rotary position embeddings as tables of cosines and sines, and the methods that stretch them to longer
contexts.

Reference: Su et al., RoFormer (2021); Peng et al., YaRN (2023); the Llama 3.1 model card for "llama3".
Values are float32, rounded as in transformers: tests compare logits with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.errors import InvalidArgument

Array = NDArray[Any]


@dataclass(frozen=True)
class Rope:
    """The frequency of each pair of elements, in radians per position; cosines and sines are multiplied by
    `factor`."""

    frequencies: tuple[float, ...]
    factor: float = 1.0

    def tables(self, context: int) -> tuple[Array, Array]:
        """The cosines and sines, float32 [context, pairs]."""
        positions = np.arange(context, dtype=np.float32)
        angles = np.outer(positions, np.asarray(self.frequencies, np.float32)).astype(np.float32)
        factor = np.float32(self.factor)
        return np.cos(angles) * factor, np.sin(angles) * factor


NO_ROPE = Rope((0.0,))
"""The identity: leaves queries and keys unchanged."""


def plain(base: float, numbers: int) -> Rope:
    """The unscaled embedding of `numbers` elements per head."""
    exponents = np.arange(0, numbers, 2, dtype=np.float32) / np.float32(numbers)
    return _rope(np.float32(1) / np.float32(base) ** exponents)


def linear(rope: Rope, factor: float) -> Rope:
    """Positions divided by a factor."""
    return _rope(_frequencies(rope) / np.float32(factor), rope.factor)


def divided(rope: Rope, divisors: Sequence[float]) -> Rope:
    """Each frequency divided by a separate divisor, as GGUF stores them for Llama 3."""
    return _rope(_frequencies(rope) / np.asarray(divisors, np.float32), rope.factor)


def llama3(rope: Rope, factor: float, low: float, high: float, original: int) -> Rope:
    """Divides wavelengths longer than original / low by the factor, keeps wavelengths shorter than original /
    high, and blends the ones between."""
    kept = _frequencies(rope)
    waves = np.float32(2 * math.pi) / kept
    with np.errstate(all="ignore"):  # checked at the end
        smooth = (np.float32(original) / waves - np.float32(low)) / np.float32(high - low)
        blended = (1 - smooth) * kept / np.float32(factor) + smooth * kept
    long, short = waves > original / low, waves < original / high
    return _rope(np.where(long, kept / np.float32(factor), np.where(short, kept, blended)), rope.factor)


def yarn(
    rope: Rope, base: float, factor: float, original: int, fast: float, slow: float, attention: float | None
) -> Rope:
    """YaRN: keeps pairs that rotate more than `fast` times within the original context, divides pairs that
    rotate less than `slow` times by the factor, and blends the others. `attention` multiplies cosines and
    sines; None means the paper's formula."""
    kept = _frequencies(rope)
    pairs = len(kept)

    def pair_of(rotations: float) -> float:
        return pairs * math.log(original / (rotations * 2 * math.pi)) / math.log(base)

    first = max(math.floor(pair_of(fast)), 0)
    last = min(math.ceil(pair_of(slow)), 2 * pairs - 1)
    ramp = (np.arange(pairs, dtype=np.float32) - first) / np.float32(max(last - first, 0.001))
    share = np.clip(ramp, 0, 1)
    if attention is None:
        attention = 0.1 * math.log(factor) + 1.0 if factor > 1 else 1.0
    return _rope(kept / np.float32(factor) * share + kept * (1 - share), attention)


def _frequencies(rope: Rope) -> Array:
    return np.asarray(rope.frequencies, np.float32)


def _rope(frequencies: Array, factor: float = 1.0) -> Rope:
    if not np.isfinite(frequencies).all():
        raise InvalidArgument("rotary embedding: expected finite frequencies, got others")
    return Rope(tuple(frequencies.astype(np.float32).tolist()), factor)
