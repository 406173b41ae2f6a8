# SPDX-License-Identifier: BSD-3-Clause
"""Operators that compute in integers; they match rushlight's kernels bit for bit: see
kernels/ukernel/requantize.h."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload

from rushlight.export.dialect.fused import NAMESPACE

TO = "str rounding, int output_zero_point, int output_min, int output_max) -> Tensor"
_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
_LIBRARY.define(
    "quantized_convolution(Tensor input, int input_zero_point, Tensor weight, Tensor? bias, "
    "Tensor multipliers, Tensor? shifts, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
    f"bool transposed, SymInt[] output_padding, SymInt groups, {TO}"
)
_LIBRARY.define(
    f"quantized_linear(Tensor input, Tensor weight, Tensor? bias, Tensor multipliers, Tensor? shifts, {TO}"
)
_LIBRARY.define(
    "quantized_add(Tensor self, Tensor other, int self_multiplier, int other_multiplier, int offset, "
    "int shift, int output_zero_point, int output_min, int output_max) -> Tensor"
)
_LIBRARY.define(
    "quantized_mul(Tensor self, int self_zero_point, Tensor other, int other_zero_point, "
    f"Tensor multipliers, Tensor? shifts, {TO}"
)
_LIBRARY.define("quantized_lookup(Tensor input, Tensor table) -> Tensor")
_LIBRARY.define(
    "quantized_curve(Tensor input, Tensor table, int output_min, int output_max, ScalarType dtype) -> Tensor"
)
_LIBRARY.define(
    "quantized_mean(Tensor input, int input_zero_point, int[1]? dim, bool keepdim, Tensor multipliers, "
    f"Tensor? shifts, {TO}"
)
_LIBRARY.define(
    "quantized_avg_pool2d(Tensor input, int input_zero_point, int[2] kernel_size, int[2] stride, "
    "int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override, Tensor multipliers, "
    f"Tensor? shifts, {TO}"
)
_LIBRARY.define(
    "quantized_avg_pool3d(Tensor input, int input_zero_point, int[3] kernel_size, int[3] stride, "
    "int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override, Tensor multipliers, "
    f"Tensor? shifts, {TO}"
)
_LIBRARY.define(
    "quantized_div(Tensor self, int self_zero_point, Tensor other, int other_zero_point, int multiplier, "
    "int shift, int output_zero_point, int output_min, int output_max) -> Tensor"
)
_LIBRARY.define(
    "quantized_adaptive_avg_pool2d(Tensor input, int input_zero_point, SymInt[2] output_size, "
    f"Tensor multipliers, Tensor? shifts, {TO}"
)


def requantize(
    sums: torch.Tensor,
    multipliers: torch.Tensor,
    shifts: torch.Tensor | None,
    rounding: str,
    zero_point: int,
    low: int,
    high: int,
    *,
    is_wide: bool = False,
) -> torch.Tensor:
    """Requantizes int64 sums to int64 values from low to high; multipliers and shifts broadcast with the
    sums. `is_wide`: the sums are of products with int16 and have up to 48 bits."""
    if rounding == "float":
        steps = torch.round(sums.to(torch.float32) * multipliers).clamp(low - zero_point, high - zero_point)
        return steps.to(torch.int64) + zero_point
    assert shifts is not None
    multipliers, shifts = multipliers.to(torch.int64), shifts.to(torch.int64)
    if is_wide and rounding == "single":
        upper, lower = sums >> 16, sums & 0xFFFF
        lowest = (lower * multipliers + (1 << (30 - shifts))) >> 16
        steps = (upper * multipliers + lowest) >> (15 - shifts)
    elif is_wide:
        reduced = ((multipliers + (1 << 15)) >> 16).clamp(max=0x7FFF)
        steps = (sums * reduced + (1 << (14 - shifts))) >> (15 - shifts)
    elif rounding == "single":
        steps = (sums * multipliers + (1 << (30 - shifts))) >> (31 - shifts)
    else:
        upper = ((sums << shifts.clamp(min=0)) * multipliers + (1 << 30)) >> 31
        right = (-shifts).clamp(min=0)
        mask = (1 << right) - 1
        half = (mask >> 1) + (upper < 0).to(torch.int64)
        steps = (upper >> right) + ((upper & mask) > half).to(torch.int64)
    return (steps + zero_point).clamp(low, high)


def _quantized_convolution(
    input: torch.Tensor,
    input_zero_point: int,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    multipliers: torch.Tensor,
    shifts: torch.Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
    *to: Any,
) -> torch.Tensor:
    # Exact in float64. Padding has the value of the zero point: the code subtracts it before the convolution,
    # pads with 0, and adds its share after.
    outputs = weight.shape[1] * groups if transposed else weight.shape[0]
    wide = weight.to(torch.float64)
    sums = torch.ops.aten.convolution(
        input.to(torch.float64) - input_zero_point, wide, None, stride, padding, dilation, transposed,
        output_padding, groups,
    )  # fmt: skip
    if transposed:
        spread = wide.reshape(groups, wide.shape[0] // groups, wide.shape[1], -1).sum((1, 3)).reshape(-1)
    else:
        spread = wide.reshape(outputs, -1).sum(1)
    total = spread * input_zero_point
    if bias is not None:
        total = total + bias
    shape = (1, outputs, *(1,) * (input.dim() - 2))
    sums = (sums + total.reshape(shape)).to(torch.int64)
    along = None if shifts is None else _along(shifts, shape)
    is_wide = input.dtype == torch.int16
    return requantize(sums, _along(multipliers, shape), along, *to, is_wide=is_wide).to(input.dtype)


def _along(numbers: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    return numbers if numbers.numel() == 1 else numbers.reshape(shape)


def _quantized_linear(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    multipliers: torch.Tensor,
    shifts: torch.Tensor | None,
    *to: Any,
) -> torch.Tensor:
    sums = input.to(torch.float64) @ weight.to(torch.float64).T
    if bias is not None:
        sums = sums + bias
    is_wide = input.dtype == torch.int16
    return requantize(sums.to(torch.int64), multipliers, shifts, *to, is_wide=is_wide).to(input.dtype)


def _quantized_lookup(input: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return table[input.to(torch.int64) - torch.iinfo(input.dtype).min]


def _quantized_curve(
    input: torch.Tensor, table: torch.Tensor, output_min: int, output_max: int, dtype: torch.dtype
) -> torch.Tensor:
    pieces = table.shape[0]
    position = input.to(torch.int64) + (1 << 15)
    row = table.to(torch.int64)[position * pieces >> 16]
    t = position * pieces & 0xFFFF
    value = row[..., 3]
    for power in (2, 1, 0):
        value = row[..., power] + ((value * t) >> 16)
    return ((value + (1 << 14)) >> 15).clamp(output_min, output_max).to(dtype)


def divided(
    multipliers: torch.Tensor, shifts: torch.Tensor | None, counts: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """A scale divided by element counts, as kernels/quantization/divided_scale.h defines it."""
    if shifts is None:
        quotients = multipliers / counts.to(torch.float32)
        return quotients.clamp(min=torch.finfo(torch.float32).tiny), None
    dropped = (counts >= 1 << 31).to(torch.int64)
    for bit in range(32, 63):
        dropped = dropped + ((counts >> bit) > 0).to(torch.int64)
    quotients = (multipliers.to(torch.int64) << 32) // (counts >> dropped)
    extra = sum(((quotients >> bit) > 0).to(torch.int64) for bit in range(31, 63))
    assert isinstance(extra, torch.Tensor)
    rounded = (quotients + ((1 << extra) >> 1)) >> extra
    carry = rounded >> 31
    rounded, divided_shifts = rounded >> carry, shifts.to(torch.int64) + extra + carry - 32 - dropped
    gone = (rounded == 0) | (divided_shifts < -31)
    return rounded.masked_fill(gone, 0), divided_shifts.masked_fill(gone, 0)


def _quantized_mean(
    input: torch.Tensor,
    input_zero_point: int,
    dim: list[int] | None,
    keepdim: bool,
    multipliers: torch.Tensor,
    shifts: torch.Tensor | None,
    *to: Any,
) -> torch.Tensor:
    dims = dim or list(range(input.dim()))
    sums = (input.to(torch.int64) - input_zero_point).sum(dims, keepdim)
    count = torch.ones((), dtype=torch.int64)
    for each in dims:
        count = count * input.shape[each]
    return requantize(sums, *divided(multipliers.reshape(()), _scalar(shifts), count), *to).to(input.dtype)


def _quantized_avg_pool(
    pool: Any,
    input: torch.Tensor,
    input_zero_point: int,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    multipliers: torch.Tensor,
    shifts: torch.Tensor | None,
    *to: Any,
) -> torch.Tensor:
    # Exact in float64. A pool over ones yields the share of padding in each window's divisor.
    where = (kernel_size, stride, padding, ceil_mode)
    sums = pool(input.to(torch.float64) - input_zero_point, *where, True, 1).to(torch.int64)
    ones = torch.ones_like(input, dtype=torch.float64)
    counts = pool(ones, *where, True, 1)
    if divisor_override is not None:
        counts = torch.full_like(counts, divisor_override)
    elif count_include_pad:
        counts = counts / pool(ones, *where, True)
    by = counts.nan_to_num(1).round().clamp(min=1).to(torch.int64)
    return requantize(sums, *divided(multipliers.reshape(()), _scalar(shifts), by), *to).to(input.dtype)


def _quantized_avg_pool2d(*given: Any) -> torch.Tensor:
    return _quantized_avg_pool(torch.ops.aten.avg_pool2d.default, *given)


def _quantized_avg_pool3d(*given: Any) -> torch.Tensor:
    return _quantized_avg_pool(torch.ops.aten.avg_pool3d.default, *given)


def _quantized_adaptive_avg_pool2d(
    input: torch.Tensor,
    input_zero_point: int,
    output_size: list[int],
    multipliers: torch.Tensor,
    shifts: torch.Tensor | None,
    *to: Any,
) -> torch.Tensor:
    counts = torch.ones((), dtype=torch.int64)
    for size, wanted in zip(input.shape[-2:], output_size, strict=True):
        ends = [(index * size // wanted, -(-(index + 1) * size // wanted)) for index in range(wanted)]
        counts = counts.unsqueeze(-1) * torch.tensor([end - begin for begin, end in ends])
    means = torch.ops.aten.adaptive_avg_pool2d(input.to(torch.float64) - input_zero_point, output_size)
    sums = (means * counts).round().to(torch.int64)
    return requantize(sums, *divided(multipliers.reshape(()), _scalar(shifts), counts), *to).to(input.dtype)


def _scalar(numbers: torch.Tensor | None) -> torch.Tensor | None:
    return None if numbers is None else numbers.reshape(())


def _quantized_add(
    self: torch.Tensor,
    other: torch.Tensor,
    self_multiplier: int,
    other_multiplier: int,
    offset: int,
    shift: int,
    zero_point: int,
    low: int,
    high: int,
) -> torch.Tensor:
    sums = self.to(torch.int64) * self_multiplier + other.to(torch.int64) * other_multiplier + offset
    return ((sums >> shift) + zero_point).clamp(low, high).to(self.dtype)


def _quantized_mul(
    self: torch.Tensor,
    self_zero_point: int,
    other: torch.Tensor,
    other_zero_point: int,
    multipliers: torch.Tensor,
    shifts: torch.Tensor | None,
    *to: Any,
) -> torch.Tensor:
    products = (self.to(torch.int64) - self_zero_point) * (other.to(torch.int64) - other_zero_point)
    return requantize(products, multipliers.reshape(()), _scalar(shifts), *to).to(self.dtype)


def _quantized_div(
    self: torch.Tensor,
    self_zero_point: int,
    other: torch.Tensor,
    other_zero_point: int,
    multiplier: int,
    shift: int,
    zero_point: int,
    low: int,
    high: int,
) -> torch.Tensor:
    dividends = (self.to(torch.int64) - self_zero_point) * multiplier
    divisors = other.to(torch.int64) - other_zero_point
    # Beyond 41 doublings every quotient is at most 1/2.
    sizes = (divisors.abs() << min(31 - shift, 50)).clamp(min=1)
    twice = 2 * dividends * divisors.sign() + sizes
    quotients = torch.div(twice, 2 * sizes, rounding_mode="floor")
    halves = (twice == quotients * 2 * sizes) & (quotients % 2 != 0)
    found = (quotients - halves.to(torch.int64) + zero_point).clamp(low, high)
    ends = torch.where(dividends < 0, low, torch.where(dividends > 0, high, min(max(0, low), high)))
    return torch.where(divisors == 0, ends, found).to(self.dtype)


for _name, _function in (
    ("quantized_adaptive_avg_pool2d", _quantized_adaptive_avg_pool2d),
    ("quantized_add", _quantized_add),
    ("quantized_avg_pool2d", _quantized_avg_pool2d),
    ("quantized_avg_pool3d", _quantized_avg_pool3d),
    ("quantized_convolution", _quantized_convolution),
    ("quantized_curve", _quantized_curve),
    ("quantized_div", _quantized_div),
    ("quantized_linear", _quantized_linear),
    ("quantized_lookup", _quantized_lookup),
    ("quantized_mean", _quantized_mean),
    ("quantized_mul", _quantized_mul),
):
    _LIBRARY.impl(_name, _function, "CompositeExplicitAutograd")


def overload(name: str) -> OpOverload:
    """The default overload of the operator "rushlight::<name>"."""
    found: OpOverload = getattr(torch.ops.rushlight, name.partition("::")[2]).default
    return found
