# SPDX-License-Identifier: BSD-3-Clause
"""Dim orders: the order of a tensor's dimensions in memory, outermost first. (0, 1, 2, 3) is row-major, (0,
2, 3, 1) channels-last."""

from __future__ import annotations

from collections.abc import Sequence

DimOrder = tuple[int, ...]


def row_major(rank: int) -> DimOrder:
    """The row-major order of a rank: (0, 1, 2, ...)."""
    return tuple(range(rank))


def is_row_major(order: Sequence[int]) -> bool:
    """True if an order is row-major."""
    return tuple(order) == row_major(len(order))


def is_dim_order(order: Sequence[int], rank: int) -> bool:
    """True if an order contains each of `rank` dimensions once."""
    return sorted(order) == list(range(rank))


def inverse(order: Sequence[int]) -> DimOrder:
    """The inverse permutation: the position in memory of each dimension. Transposing an array of the elements
    in memory order by it restores the tensor's dimensions."""
    return tuple(order.index(dim) for dim in range(len(order)))


def permuted(order: Sequence[int], dims: Sequence[int]) -> DimOrder:
    """The dim order of a permuted tensor over the same memory: dimension i of the result is dimension dims[i]
    of the source."""
    return tuple(dims.index(dim) for dim in order)
