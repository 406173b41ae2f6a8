# SPDX-License-Identifier: BSD-3-Clause
"""Block weights with random values, in the stored order and as the float64 matrix that they represent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEATURES = 16
"""Number of features of a panel."""


@dataclass(frozen=True)
class BlockForm:
    """The format of a block weight, as a call states it; `scales` is float16 or float32. 16 bits mean
    float16."""

    bits: int
    group: int
    scales: str
    has_minimum: bool


@dataclass(frozen=True)
class BlockSample:
    """`stored` is uint8 [panels, bytes], `values` float64 [features, depth]."""

    form: BlockForm
    stored: NDArray[np.uint8]
    values: NDArray[np.float64]


def draw_block_weight(form: BlockForm, features: int, depth: int, seed: int) -> BlockSample:
    """Random values of all sizes with scales around 0.01."""
    random = np.random.default_rng(seed)
    if form.bits == 16:
        halves = random.uniform(-1, 1, (features, depth)).astype(np.float16)
        stored = _by_panels(halves, -(-features // FEATURES) * FEATURES)
        return BlockSample(
            form, stored.reshape(len(stored), depth * FEATURES).view(np.uint8), halves.astype(np.float64)
        )
    groups, panels = -(-depth // form.group), -(-features // FEATURES)
    dtype = np.dtype(form.scales)
    numbers = random.integers(0, 1 << form.bits, (features, depth), dtype=np.uint8)
    scales = random.uniform(-0.01, 0.02, (features, groups)).astype(dtype)
    minimums = random.uniform(-0.05, 0.05, (features, groups)).astype(dtype)
    wide, deep = panels * FEATURES, groups * form.group
    padded = np.zeros((wide, deep), np.uint8)
    padded[:features, :depth] = numbers
    # [panel, group, span, feature, byte]
    run = 32 // form.bits
    grouped = padded.reshape(panels, FEATURES, groups, form.group // run, run).transpose(0, 2, 3, 1, 4)
    words = grouped[..., :4] | grouped[..., 4:] << 4 if form.bits == 4 else grouped
    parts = [_by_panels(scales, wide), _by_panels(minimums, wide)][: 2 if form.has_minimum else 1]
    flat = [part.view(np.uint8).reshape(panels, groups, -1) for part in parts]
    flat.append(words.reshape(panels, groups, -1))
    stored = np.concatenate(flat, axis=2).reshape(panels, -1)
    spread = np.repeat(scales.astype(np.float64), form.group, axis=1)[:, :depth]
    if form.has_minimum:
        values = spread * numbers + np.repeat(minimums.astype(np.float64), form.group, axis=1)[:, :depth]
    else:
        values = spread * (numbers.astype(np.float64) - (1 << (form.bits - 1)))
    return BlockSample(form, stored, values)


def _by_panels(scales: NDArray[np.generic], wide: int) -> NDArray[np.generic]:
    """[features, groups] as [panels, groups, 16]."""
    padded = np.zeros((wide, scales.shape[1]), scales.dtype)
    padded[: len(scales)] = scales
    return np.ascontiguousarray(
        padded.reshape(wide // FEATURES, FEATURES, scales.shape[1]).transpose(0, 2, 1)
    )
