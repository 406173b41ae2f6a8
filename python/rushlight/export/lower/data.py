# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of constants: as tensors are to be stored, equal ones once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
import torch

from rushlight.program.dim_order import DimOrder


def stored_bytes(tensor: torch.Tensor, dim_order: DimOrder) -> np.ndarray:
    """A tensor's elements in a dim order, as bytes; the tensor's own memory where it lies so."""
    plain = tensor.detach().resolve_conj().resolve_neg().cpu()
    return plain.permute(dim_order).contiguous().reshape(-1).view(torch.uint8).numpy()


@dataclass
class DataPool:
    """Pieces of data; index 1 is the first. Equal ones are kept once, whoever brings them."""

    pieces: list[np.ndarray] = field(default_factory=list)
    _indices: dict[object, int] = field(default_factory=dict)

    def add(self, tensor: torch.Tensor, dim_order: DimOrder) -> int:
        """The index of a tensor's data."""
        place = (tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype, dim_order)
        known = self._indices.get(place) if tensor.numel() else None
        if known is None:
            data = stored_bytes(tensor, dim_order)
            content = (data.nbytes, hashlib.sha1(data.data, usedforsecurity=False).digest())
            known = self._indices.get(content)
            if known is None:
                self.pieces.append(data)
                known = self._indices[content] = len(self.pieces)
            self._indices[place] = known
        return known

    @property
    def nbytes(self) -> int:
        """Bytes of all pieces."""
        return sum(piece.nbytes for piece in self.pieces)
