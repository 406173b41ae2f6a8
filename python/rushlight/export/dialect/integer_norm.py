# SPDX-License-Identifier: BSD-3-Clause
"""Layer, group and RMS normalization in integers; they match the kernels bit for bit."""

from __future__ import annotations

import math

import torch

from rushlight.export.dialect.fused import NAMESPACE

FRACTION = 19
"""Fraction bits of a normalized element."""

_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
_LIBRARY.define(
    "quantized_layer_norm(Tensor input, Tensor weight, Tensor bias, int epsilon, int epsilon_shift, "
    "int shift, int bias_shift, int output_zero_point, int output_min, int output_max) -> Tensor"
)
_LIBRARY.define(
    "quantized_group_norm(Tensor input, Tensor weight, Tensor bias, int groups, int epsilon, "
    "int epsilon_shift, int shift, int bias_shift, int output_zero_point, int output_min, int output_max) "
    "-> Tensor"
)
_LIBRARY.define(
    "quantized_rms_norm(Tensor input, int input_zero_point, Tensor weight, int epsilon, int epsilon_shift, "
    "int shift, int output_zero_point, int output_min, int output_max) -> Tensor"
)


def _reciprocal(value: int, halvings: int) -> tuple[int, int]:
    """(multiplier, shift) with 1 / sqrt(value / 4^halvings) = multiplier * 2^(FRACTION - shift); multiplier 0
    if the reciprocal is too large."""
    if value == 0:
        return 0, 1
    doublings = (64 - value.bit_length()) // 2
    shift = 62 - FRACTION - doublings - halvings
    root = math.isqrt(value << (2 * doublings))
    return (min((1 << 62) // root, 2**31 - 1), shift) if shift >= 1 else (0, 1)


def _normalized(numbers: torch.Tensor, has_mean: bool, epsilon: int, epsilon_shift: int) -> torch.Tensor:
    """The normalized rows, int64 [rows, count] with FRACTION fraction bits."""
    count = numbers.shape[1]
    sums = numbers.sum(1, keepdim=True) * int(has_mean)
    spread = (count * (numbers * numbers).sum(1) - sums[:, 0] * sums[:, 0]).tolist()
    made = [_reciprocal((each << epsilon_shift) + epsilon, epsilon_shift // 2) for each in spread]
    found = torch.tensor(made, dtype=torch.int64).reshape(-1, 2, 1)
    multipliers, shifts = found[:, 0], found[:, 1]
    return ((count * numbers - sums) * multipliers + (1 << (shifts - 1))) >> shifts


def _scaled(
    elements: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | int, shift: int, zero_point: int,
    low: int, high: int,
) -> torch.Tensor:  # fmt: skip
    """The quantized result, int64; weight and bias broadcast with the elements."""
    scaled = elements * weight.to(torch.int64) + bias
    return (((scaled + (1 << (shift - 1))) >> shift) + zero_point).clamp(low, high)


def _quantized_layer_norm(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    epsilon: int,
    epsilon_shift: int,
    shift: int,
    bias_shift: int,
    *to: int,
) -> torch.Tensor:
    numbers = input.reshape(-1, max(weight.numel(), 1)).to(torch.int64)
    elements = _normalized(numbers, True, epsilon, epsilon_shift)
    offset = bias.reshape(-1).to(torch.int64) << bias_shift
    return _scaled(elements, weight.reshape(-1), offset, shift, *to).reshape(input.shape).to(input.dtype)


def _quantized_group_norm(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    groups: int,
    epsilon: int,
    epsilon_shift: int,
    shift: int,
    bias_shift: int,
    *to: int,
) -> torch.Tensor:
    batch, channels, *rest = input.shape
    count = max(channels // groups * math.prod(rest), 1)
    numbers = input.reshape(batch * groups if input.numel() else 0, count).to(torch.int64)
    elements = _normalized(numbers, True, epsilon, epsilon_shift).reshape(input.shape)
    shape = (channels, *(1,) * len(rest))
    offset = bias.reshape(shape).to(torch.int64) << bias_shift
    return _scaled(elements, weight.reshape(shape), offset, shift, *to).to(input.dtype)


def _quantized_rms_norm(
    input: torch.Tensor,
    input_zero_point: int,
    weight: torch.Tensor,
    epsilon: int,
    epsilon_shift: int,
    shift: int,
    *to: int,
) -> torch.Tensor:
    numbers = input.reshape(-1, max(weight.numel(), 1)).to(torch.int64) - input_zero_point
    elements = _normalized(numbers, False, epsilon, epsilon_shift)
    return _scaled(elements, weight.reshape(-1), 0, shift, *to).reshape(input.shape).to(input.dtype)


for _name, _function in (
    ("quantized_layer_norm", _quantized_layer_norm),
    ("quantized_group_norm", _quantized_group_norm),
    ("quantized_rms_norm", _quantized_rms_norm),
):
    _LIBRARY.impl(_name, _function, "CompositeExplicitAutograd")
    torch.library.register_fake(
        f"{NAMESPACE}::{_name}", lambda input, *_: torch.empty_like(input, dtype=input.dtype)
    )
