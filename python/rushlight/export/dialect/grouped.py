# SPDX-License-Identifier: BSD-3-Clause
"""Linear layers with integer weights and group scales, as rushlight's kernels compute them: see
kernels/backs/grouped_linear.h. dynamic_linear matches the kernel bit for bit."""

from __future__ import annotations

import torch

from rushlight.export.dialect.fused import NAMESPACE

_LAYER = "Tensor input, Tensor weight, Tensor weight_scales, Tensor? bias"
_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
_LIBRARY.define(f"weight_only_linear({_LAYER}) -> Tensor")
_LIBRARY.define(
    f"dynamic_linear({_LAYER}, bool per_token, str mapping, int low, int high, float least_scale) -> Tensor"
)


def numbers(weight: torch.Tensor, depth: int) -> torch.Tensor:
    """The weight's integers, int8 [features, depth]. A uint8 weight packs two 4-bit values in a byte, the
    first in the low half."""
    if weight.dtype == torch.int8:
        return weight
    pairs = torch.stack([weight % 16, weight // 16], -1).to(torch.int8) - 8
    return pairs.reshape(weight.shape[0], -1)[:, :depth]


def _groups(weight: torch.Tensor, scales: torch.Tensor, depth: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The weights as [features, groups, group size], and scales that broadcast with the first two
    dimensions."""
    features = weight.shape[0]
    count = scales.shape[1] if scales.dim() == 2 else 1
    scales = scales.reshape(1, 1) if scales.numel() == 1 else scales.reshape(features, count)
    wide = numbers(weight, depth)
    return wide.reshape(features, count, depth // count), scales


def _weight_only_linear(
    input: torch.Tensor, weight: torch.Tensor, weight_scales: torch.Tensor, bias: torch.Tensor | None
) -> torch.Tensor:
    grouped, scales = _groups(weight, weight_scales, input.shape[-1])
    real = (grouped.to(torch.float32) * scales.unsqueeze(-1)).reshape(weight.shape[0], -1)
    return torch.nn.functional.linear(input, real, bias)


def chosen(
    input: torch.Tensor, per_token: bool, mapping: str, low: int, high: int, least_scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scales and zero points chosen from the input's range, float32, which broadcast with the input."""
    rows = input if per_token else input.reshape(-1)
    least = (
        rows.amin(-1, keepdim=True).clamp(max=0) if rows.shape[-1] else rows.new_zeros(*rows.shape[:-1], 1)
    )
    most = rows.amax(-1, keepdim=True).clamp(min=0) if rows.shape[-1] else torch.zeros_like(least)
    steps = high - low
    if mapping == "symmetric":
        scale = (torch.maximum(-least, most) / (steps / 2)).clamp(min=least_scale)
        return scale, torch.full_like(scale, (low + high + 1) // 2)
    scale = ((most - least) / steps).clamp(min=least_scale)
    if mapping == "asymmetric":
        zero_point = low - torch.round(least / scale)
    else:
        first, last = least / scale, most / scale
        zero_point = torch.where((low + first) + (high + last) > 0, low - first, high - last)
    return scale, zero_point.clamp(low, high).round()


def _dynamic_linear(
    input: torch.Tensor,
    weight: torch.Tensor,
    weight_scales: torch.Tensor,
    bias: torch.Tensor | None,
    per_token: bool,
    mapping: str,
    low: int,
    high: int,
    least_scale: float,
) -> torch.Tensor:
    scale, zero_point = chosen(input, per_token, mapping, low, high, least_scale)
    if mapping == "nearer_end":
        steps = torch.round(input.double() * (1.0 / scale.double()) + zero_point.double())
    else:
        steps = torch.round(input * (1.0 / scale)) + zero_point
    centered = steps.clamp(low, high).double() - zero_point
    grouped, scales = _groups(weight, weight_scales, input.shape[-1])
    total = input.new_zeros(*input.shape[:-1], weight.shape[0])
    for g, part in enumerate(centered.split(max(grouped.shape[2], 1), -1) if input.shape[-1] else ()):
        sums = part @ grouped[:, g].double().T  # exact: float64 holds sums of int8 products
        total = total + scales[:, g] * sums.to(torch.float32)
    result = total * scale
    return result if bias is None else result + bias


for _name, _function in (
    ("weight_only_linear", _weight_only_linear),
    ("dynamic_linear", _dynamic_linear),
):
    _LIBRARY.impl(_name, _function, "CompositeExplicitAutograd")

weight_only_linear = torch.ops.rushlight.weight_only_linear.default
dynamic_linear = torch.ops.rushlight.dynamic_linear.default
