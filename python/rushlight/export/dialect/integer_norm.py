# SPDX-License-Identifier: BSD-3-Clause
"""Layer normalization that computes in integers, bit for bit as the kernel does."""

from __future__ import annotations

import math

import torch

from rushlight.export.dialect.fused import NAMESPACE

FRACTION = 19
"""Bits behind the point of a normalized element."""

_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
_LIBRARY.define(
    "quantized_layer_norm(Tensor input, Tensor weight, Tensor bias, int epsilon, int epsilon_shift, "
    "int shift, int bias_shift, int output_zero_point, int output_min, int output_max) -> Tensor"
)


def _reciprocal(value: int, halvings: int) -> tuple[int, int]:
    """1 / sqrt(value / 4^halvings) = multiplier * 2^(FRACTION - shift); 0 where that is too large."""
    if value == 0:
        return 0, 1
    doublings = (64 - value.bit_length()) // 2
    shift = 62 - FRACTION - doublings - halvings
    root = math.isqrt(value << (2 * doublings))
    return (min((1 << 62) // root, 2**31 - 1), shift) if shift >= 1 else (0, 1)


def _quantized_layer_norm(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    epsilon: int,
    epsilon_shift: int,
    shift: int,
    bias_shift: int,
    zero_point: int,
    low: int,
    high: int,
) -> torch.Tensor:
    count = weight.numel()
    numbers = input.reshape(-1, max(count, 1)).to(torch.int64)
    sums = numbers.sum(1, keepdim=True)
    spread = (count * (numbers * numbers).sum(1) - sums[:, 0] * sums[:, 0]).tolist()
    made = [_reciprocal((each << epsilon_shift) + epsilon, epsilon_shift // 2) for each in spread]
    found = torch.tensor(made, dtype=torch.int64).reshape(-1, 2, 1)
    multipliers, shifts = found[:, 0], found[:, 1]
    elements = ((count * numbers - sums) * multipliers + (1 << (shifts - 1))) >> shifts
    scaled = elements * weight.reshape(-1).to(torch.int64) + (bias.reshape(-1).to(torch.int64) << bias_shift)
    steps = (scaled + (1 << (shift - 1))) >> shift
    return (steps + zero_point).clamp(low, high).reshape(input.shape).to(input.dtype)


_LIBRARY.impl("quantized_layer_norm", _quantized_layer_norm, "CompositeExplicitAutograd")
torch.library.register_fake(
    f"{NAMESPACE}::quantized_layer_norm", lambda input, *_: torch.empty_like(input, dtype=input.dtype)
)
