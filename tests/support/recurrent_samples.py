# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of recurrent layers of integers, the same for a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rushlight.integers.recurrent import GATES, Factor, Numbers, scaled


def arguments(
    kind: str, sizes: tuple[int, int, int, int], seed: int = 0, *, bits: int = 13, reverse: bool = False
) -> list[Any]:
    """Arguments of an operator quantized_<kind>, with weights in the layout of torch.nn. Sizes: steps, batch,
    features, units."""
    steps, batch, features, units = sizes
    draw = np.random.default_rng(seed)
    count = GATES[kind] * units

    def weight(depth: int, scale: float, zero_point: int) -> Factor:
        numbers = draw.integers(-127, 128, (count, depth)).astype(np.int8)
        scales = draw.uniform(0.5, 1.5, count) / 127 / max(units, 1) ** 0.5
        return Factor(numbers, scales, draw.uniform(-1, 1, count), scale, zero_point)

    scale, point = 1 / 120, int(draw.integers(-20, 20))
    factors = weight(features, 0.03, int(draw.integers(-30, 30))), weight(units, scale, point)
    gates = scaled(kind, *factors)
    numbers = Numbers.of(kind, bits, scale, point, -128, 127)
    assert gates is not None and numbers is not None
    tensors = [
        draw.integers(-128, 128, (steps, batch, features)).astype(np.int8),
        draw.integers(-128, 128, (batch, units)).astype(np.int8),
        draw.integers(-(2**bits), 2**bits, (batch, units)).astype(np.int16),
        *(each.numbers for each in factors),
        gates.multipliers,
        gates.hidden_multipliers,
        gates.bias,
    ]
    ends = [numbers.cell_bits, numbers.multiplier, numbers.shift, point, -128, 127, reverse]
    return [*map(torch.from_numpy, tensors), gates.shift, torch.from_numpy(numbers.tables), *ends]
