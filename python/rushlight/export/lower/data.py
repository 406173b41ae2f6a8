# SPDX-License-Identifier: BSD-3-Clause
"""Converts PyTorch's tensors to bytes as a program stores them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch

from rushlight.lowered.data import Bytes, DataPool
from rushlight.program.dim_order import DimOrder


def stored_bytes(tensor: torch.Tensor, dim_order: DimOrder) -> Bytes:
    """A tensor's elements as bytes in a dim order; a view of the tensor's memory if it already has that
    order."""
    plain = tensor.detach().resolve_conj().resolve_neg().cpu()
    stored: Bytes = plain.permute(dim_order).contiguous().reshape(-1).view(torch.uint8).numpy()
    return stored


class TensorPool(DataPool):
    """A data pool of PyTorch tensors."""

    def stored(self, data: Any, dim_order: DimOrder) -> Bytes:
        """See DataPool."""
        return stored_bytes(data, dim_order)

    def address(self, data: Any) -> Hashable:
        """See DataPool."""
        if not data.numel():
            return None
        return data.data_ptr(), tuple(data.shape), tuple(data.stride()), data.dtype

    def rank(self, data: Any) -> int:
        """See DataPool."""
        return int(data.dim())

    def part(self, data: Any, offset: int, nbytes: int, sizes: Sequence[int]) -> Any:
        """See DataPool."""
        flat, item = data.contiguous().reshape(-1), data.element_size()
        return flat[offset // item : (offset + nbytes) // item].reshape(sizes)
