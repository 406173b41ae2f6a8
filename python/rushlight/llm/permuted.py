# SPDX-License-Identifier: BSD-3-Clause
"""Matrices whose rows are in another order within each head."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rushlight.llm.blocks import Array, BlockMatrix, Blocks
from rushlight.llm.weights.source import FloatMatrix, Matrix


def in_halves(head_dim: int, rotary: int) -> Array:
    """Which row of a head goes to each place, so that pairs of neighbours among the first `rotary` become
    pairs of i and i + half."""
    return np.concatenate([np.arange(0, rotary, 2), np.arange(1, rotary, 2), np.arange(rotary, head_dim)])


def permuted(matrix: Matrix, order: Array) -> Matrix:
    """The matrix with the rows of each head in this order."""
    if isinstance(matrix, BlockMatrix):
        return _PermutedBlocks(matrix, order)

    def rows(start: int, stop: int) -> Array:
        first, last, found = _heads_around(start, stop, order)
        values: Array = matrix.read(first, last)[found]
        return values

    return replace(matrix, read=rows) if isinstance(matrix, FloatMatrix) else matrix


class _PermutedBlocks(BlockMatrix):
    def __init__(self, matrix: BlockMatrix, order: Array) -> None:
        super().__init__(matrix.format, matrix.features, matrix.depth)
        self._matrix, self._order = matrix, order

    def rows(self, start: int, stop: int) -> Blocks:
        first, last, found = _heads_around(start, stop, self._order)
        whole = self._matrix.rows(first, last)
        minimums = None if whole.minimums is None else whole.minimums[found]
        return Blocks(whole.format, whole.q[found], whole.scales[found], minimums)


def _heads_around(start: int, stop: int, order: Array) -> tuple[int, int, Array]:
    """The rows of whole heads that have rows `start` to `stop` of the new order, and where those are."""
    size = len(order)
    first, last = start // size * size, -(-stop // size) * size
    places = np.arange(start, stop)
    return first, last, places // size * size + order[places % size] - first
