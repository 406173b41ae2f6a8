# SPDX-License-Identifier: BSD-3-Clause
"""What attention has of operators that compute in integers: softmax and products of two activations. Bit for
bit as kernels do."""

from __future__ import annotations

from typing import Any

import torch

from rushlight.export.dialect.fused import NAMESPACE
from rushlight.export.dialect.integers import divided, requantize

_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
_LIBRARY.define(
    "quantized_softmax(Tensor input, int dim, Tensor table, int multiplier, int shift, "
    "int output_zero_point, int output_min, int output_max) -> Tensor"
)


def _quantized_softmax(
    input: torch.Tensor, dim: int, table: torch.Tensor, multiplier: int, shift: int, *to: Any
) -> torch.Tensor:
    if input.numel() == 0:
        return torch.empty_like(input)
    numbers = input.to(torch.int64)
    distances = numbers.amax(dim, keepdim=True) - numbers
    exponentials = table.to(torch.int64)[distances]
    sums = exponentials.sum(dim, keepdim=True).clamp(min=1)
    scale = torch.tensor(multiplier), torch.tensor(shift)
    return requantize(exponentials, *divided(*scale, sums), "single", *to).to(input.dtype)


_LIBRARY.impl("quantized_softmax", _quantized_softmax, "CompositeExplicitAutograd")
