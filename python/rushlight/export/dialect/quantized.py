# SPDX-License-Identifier: BSD-3-Clause
"""Operators on quantized weights that PyTorch does not define.

They stand for the runtime's `quantized_decomposed::*`. They have another namespace because the official
exporter registers operators under that one, and both exporters may be imported in one process.
"""

from __future__ import annotations

import torch
from torch._ops import OpOverload
from torch.fx import Node

NAMESPACE = "rushlight_quantized"

_TABLE = (
    "(Tensor weight, Tensor weight_scales, Tensor? weight_zero_points, int weight_quant_min, "
    "int weight_quant_max, Tensor indices) -> Tensor"
)
_LIBRARY = torch.library.Library(NAMESPACE, "DEF")
_LIBRARY.define(
    "mixed_linear(Tensor input, Tensor weight, Tensor weight_scales, Tensor? weight_zero_points, "
    "ScalarType? dtype=None) -> Tensor"
)
_LIBRARY.define(f"embedding_byte{_TABLE}")
_LIBRARY.define(f"embedding_4bit{_TABLE}")


def calls(node: Node, name: str) -> bool:
    """True if the node calls `quantized_decomposed::name`. Compares names, because PyTorch registers those
    operators only once quantization code is imported."""
    return isinstance(node.target, OpOverload) and node.target._schema.name == f"quantized_decomposed::{name}"


def pack_four_bits(weight: torch.Tensor) -> torch.Tensor:
    """Packs int8 values from -8 to 7, [rows, columns], into uint8 [rows, columns / 2].

    A byte holds the first value in its high half; both are stored plus 8.
    """
    pairs = (weight.to(torch.int16) + 8).reshape(weight.shape[0], -1, 2)
    return (pairs[..., 0] * 16 + pairs[..., 1]).to(torch.uint8)


def unpack_four_bits(packed: torch.Tensor) -> torch.Tensor:
    """The inverse of pack_four_bits."""
    numbers = torch.stack([packed // 16, packed % 16], -1).to(torch.int8) - 8
    return numbers.reshape(packed.shape[0], -1)


def _real(weight: torch.Tensor, scales: torch.Tensor, zero_points: torch.Tensor | None) -> torch.Tensor:
    """The dequantized weight [rows, columns]; scales and zero points are [rows] or [rows, groups]."""
    rows = weight.shape[0]
    scales = scales.reshape(rows, -1, 1)
    groups = weight.to(torch.float32).reshape(rows, scales.shape[1], -1)
    if zero_points is not None:
        groups = groups - zero_points.reshape(scales.shape)
    return (groups * scales).reshape(weight.shape).to(scales.dtype)


def _mixed_linear(
    input: torch.Tensor,
    weight: torch.Tensor,
    weight_scales: torch.Tensor,
    weight_zero_points: torch.Tensor | None,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    product = torch.nn.functional.linear(input, _real(weight, weight_scales, weight_zero_points))
    return product if dtype is None else product.to(dtype)


def _embedding_byte(
    weight: torch.Tensor,
    weight_scales: torch.Tensor,
    weight_zero_points: torch.Tensor | None,
    weight_quant_min: int,
    weight_quant_max: int,
    indices: torch.Tensor,
) -> torch.Tensor:
    return _real(weight, weight_scales, weight_zero_points)[indices]


def _embedding_4bit(
    weight: torch.Tensor,
    weight_scales: torch.Tensor,
    weight_zero_points: torch.Tensor | None,
    weight_quant_min: int,
    weight_quant_max: int,
    indices: torch.Tensor,
) -> torch.Tensor:
    return _real(unpack_four_bits(weight), weight_scales, weight_zero_points)[indices]


for _name, _function in (
    ("mixed_linear", _mixed_linear),
    ("embedding_byte", _embedding_byte),
    ("embedding_4bit", _embedding_4bit),
):
    _LIBRARY.impl(_name, _function, "CompositeExplicitAutograd")

mixed_linear = getattr(torch.ops, NAMESPACE).mixed_linear.default
embedding_byte = getattr(torch.ops, NAMESPACE).embedding_byte.default
embedding_4bit = getattr(torch.ops, NAMESPACE).embedding_4bit.default
