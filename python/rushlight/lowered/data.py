# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of constants as stored in a file, without duplicates."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.program.dim_order import DimOrder, row_major

Bytes = NDArray[np.uint8]


@dataclass
class DataPool(ABC):
    """Pieces of data without duplicates; the first piece has index 1. Equality is by content (size and
    SHA-1). Subclasses define the type of the data."""

    pieces: list[Bytes] = field(default_factory=list)
    _indices: dict[Hashable, int] = field(default_factory=dict)

    @abstractmethod
    def stored(self, data: Any, dim_order: DimOrder) -> Bytes:
        """The elements in a dim order as bytes; a view of the data's memory if it has that order."""

    @abstractmethod
    def address(self, data: Any) -> Hashable:
        """A key that is equal for data in the same memory with the same layout; None if the type cannot
        tell."""

    @abstractmethod
    def rank(self, data: Any) -> int:
        """The rank: the number of dimensions."""

    @abstractmethod
    def part(self, data: Any, offset: int, nbytes: int, sizes: Sequence[int]) -> Any:
        """The elements in a byte range of row-major data, under other sizes."""

    def add(self, data: Any, dim_order: DimOrder) -> int:
        """The index of the data stored in that order; adds it if it is new."""
        address = self.address(data)
        key = None if address is None else (address, dim_order)
        known = None if key is None else self._indices.get(key)
        if known is None:
            stored = self.stored(data, dim_order)
            content = (stored.nbytes, hashlib.sha1(stored.data, usedforsecurity=False).digest())
            known = self._indices.get(content)
            if known is None:
                self.pieces.append(stored)
                known = self._indices[content] = len(self.pieces)
            if key is not None:
                self._indices[key] = known
        return known

    @property
    def nbytes(self) -> int:
        """The total bytes of all pieces."""
        return sum(piece.nbytes for piece in self.pieces)


class ArrayPool(DataPool):
    """A data pool of numpy arrays."""

    def stored(self, data: Any, dim_order: DimOrder) -> Bytes:
        """See DataPool."""
        return np.ascontiguousarray(np.transpose(data, dim_order)).reshape(-1).view(np.uint8)

    def address(self, data: Any) -> Hashable:
        """See DataPool."""
        return None

    def rank(self, data: Any) -> int:
        """See DataPool."""
        return int(data.ndim)

    def part(self, data: Any, offset: int, nbytes: int, sizes: Sequence[int]) -> Any:
        """See DataPool."""
        flat = self.stored(data, row_major(data.ndim))[offset : offset + nbytes]
        return flat.view(data.dtype).reshape(sizes)
