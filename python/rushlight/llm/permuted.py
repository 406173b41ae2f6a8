# SPDX-License-Identifier: BSD-3-Clause
"""Matrices with the rows of each head reordered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rushlight.llm.blocks import Array, BlockMatrix, Blocks
from rushlight.llm.weights.source import FloatMatrix, Matrix


def in_halves(head_dim: int, rotary: int) -> Array:
    """The row order of a head that moves pairs of neighbours among the first `rotary` rows to pairs of i and
    i + half."""
    return np.concatenate([np.arange(0, rotary, 2), np.arange(1, rotary, 2), np.arange(rotary, head_dim)])


def permuted(matrix: Matrix, order: Array) -> Matrix:
    """The matrix with the rows of each head in `order`."""
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
    """The range of whole heads that contains rows `start` to `stop` of the new order, and the indices of
    these rows in that range."""
    size = len(order)
    first, last = start // size * size, -(-stop // size) * size
    positions = np.arange(start, stop)
    return first, last, positions // size * size + order[positions % size] - first
