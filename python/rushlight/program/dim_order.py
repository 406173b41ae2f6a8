# SPDX-License-Identifier: BSD-3-Clause
"""Dim orders: the order in which a tensor's dimensions lie in memory, outermost first. (0, 1, 2, 3) is
row-major, (0, 2, 3, 1) is channels-last."""

from __future__ import annotations

from collections.abc import Sequence

DimOrder = tuple[int, ...]


def row_major(rank: int) -> DimOrder:
    """The dimensions as they are counted."""
    return tuple(range(rank))


def is_row_major(order: Sequence[int]) -> bool:
    """Whether an order is that of the dimensions as they are counted."""
    return tuple(order) == row_major(len(order))


def is_dim_order(order: Sequence[int], rank: int) -> bool:
    """Whether an order names each of `rank` dimensions once."""
    return sorted(order) == list(range(rank))


def places(order: Sequence[int]) -> DimOrder:
    """For each dimension its place in memory: the permutation that takes elements as they lie back to a
    tensor's dimensions."""
    return tuple(order.index(dim) for dim in range(len(order)))


def permuted(order: Sequence[int], dims: Sequence[int]) -> DimOrder:
    """The order of the same elements in memory as a tensor whose dimensions are permuted: its dimension i is
    the source's dims[i]."""
    return tuple(dims.index(dim) for dim in order)
