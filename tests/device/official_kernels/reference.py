# SPDX-License-Identifier: BSD-3-Clause
"""What the kernels compute, the thousand for matrices included."""

from __future__ import annotations

import torch


def scale(input: torch.Tensor, factor: float) -> torch.Tensor:
    return input * factor


def shifted(input: torch.Tensor, by: list[int], bias: torch.Tensor | None = None) -> torch.Tensor:
    offset = sum(by) + (1000 if input.dim() == 2 else 0)
    shifted = input + float(offset)
    return shifted if bias is None else shifted + bias
