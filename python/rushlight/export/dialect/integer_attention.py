# SPDX-License-Identifier: BSD-3-Clause
"""The integer operators of attention: softmax and the product of two activations. Both match the kernels bit
for bit."""

from __future__ import annotations

from typing import Any

import torch

from rushlight.export.dialect.fused import NAMESPACE
from rushlight.export.dialect.integers import TO, divided, requantize

_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
_LIBRARY.define(
    "quantized_softmax(Tensor input, int dim, Tensor table, int multiplier, int shift, "
    "int output_zero_point, int output_min, int output_max) -> Tensor"
)
_LIBRARY.define(
    "quantized_matmul(Tensor self, int self_zero_point, Tensor mat2, int mat2_zero_point, "
    f"Tensor multipliers, Tensor? shifts, {TO}"
)


def _quantized_softmax(
    input: torch.Tensor, dim: int, table: torch.Tensor, multiplier: int, shift: int, *to: Any
) -> torch.Tensor:
    if input.numel() == 0:
        return torch.empty_like(input)
    numbers = input.to(torch.int64)
    distances = numbers.amax(dim, keepdim=True) - numbers
    steps = table.to(torch.int64)
    if input.dtype == torch.int16:
        exponentials = (steps[distances % 256] * steps[256 + distances // 256] + (1 << 29)) >> 30
    else:
        exponentials = steps[distances]
    sums = exponentials.sum(dim, keepdim=True).clamp(min=1)
    scale = torch.tensor(multiplier), torch.tensor(shift)
    return requantize(exponentials, *divided(*scale, sums), "single", *to).to(input.dtype)


def _quantized_matmul(
    self: torch.Tensor,
    self_zero_point: int,
    mat2: torch.Tensor,
    mat2_zero_point: int,
    multipliers: torch.Tensor,
    shifts: torch.Tensor | None,
    *to: Any,
) -> torch.Tensor:
    sums = (self.to(torch.float64) - self_zero_point) @ (mat2.to(torch.float64) - mat2_zero_point)
    shift = None if shifts is None else shifts.reshape(())
    is_wide = self.dtype == torch.int16
    return requantize(sums.to(torch.int64), multipliers.reshape(()), shift, *to, is_wide=is_wide).to(
        self.dtype
    )


_LIBRARY.impl("quantized_matmul", _quantized_matmul, "CompositeExplicitAutograd")
_LIBRARY.impl("quantized_softmax", _quantized_softmax, "CompositeExplicitAutograd")
