# SPDX-License-Identifier: BSD-3-Clause
"""Rounds float matrices to block weights: symmetric groups, with the best scale of several candidates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rushlight.errors import InvalidArgument
from rushlight.llm.blocks import Array, BlockFormat, BlockMatrix, Blocks

INT4 = BlockFormat(4, 32, "float16", False)
INT8 = BlockFormat(8, 32, "float16", False)

_LARGEST = 4e5
"""The scale of this value in 4 bits is below the largest float16."""

_TRIALS = np.linspace(0.80, 1.06, 14, dtype=np.float32)
"""Candidate scales for 4 bits, as fractions of the scale that maps the value of the largest magnitude to the
last step: a smaller scale clips the largest values and rounds all others more finely."""


def round_to_blocks(rows: Array, form: BlockFormat) -> Blocks:
    """Rounds float32 rows to a format without minimums. 8 bits: the largest magnitude becomes step 127. 4
    bits: tries several scales that map the value of the largest magnitude near step -8, refines each by
    least squares, and takes the one with the smallest squared error. Errors: InvalidArgument for values
    that are not finite or too large for float16 scales."""
    largest = np.abs(rows).max(initial=0)
    if not largest <= _LARGEST:
        raise InvalidArgument(
            f"weights: expected numbers up to {_LARGEST:g} for {form}, got {largest:g}",
            next_step="Choose --weights float32.",
        )
    groups = -(-rows.shape[1] // form.group)
    padded = np.zeros((rows.shape[0], groups * form.group), np.float32)
    padded[:, : rows.shape[1]] = rows
    blocks = padded.reshape(rows.shape[0], groups, form.group)
    scales = _scales_of_8(blocks, form) if form.bits == 8 else _scales_of_4(blocks, form)
    q = _steps(blocks, scales, form).astype(np.int16) + form.zero
    shape = (rows.shape[0], groups * form.group)
    return Blocks(form, q.astype(np.uint8).reshape(shape)[:, : rows.shape[1]], scales)


def _scales_of_8(blocks: Array, form: BlockFormat) -> Array:
    scales: Array = np.abs(blocks).max(axis=2) / np.float32(form.zero - 1)
    return scales.astype(form.scales)


def _scales_of_4(blocks: Array, form: BlockFormat) -> Array:
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
    base = largest / np.float32(-form.zero)
    best = base.astype(form.scales)
    error = _error(blocks, best, form)
    for share in _TRIALS:
        steps = _steps(blocks, (base * share).astype(form.scales), form)
        power = np.einsum("rgi,rgi->rg", steps, steps)
        fitted = np.divide(
            np.einsum("rgi,rgi->rg", steps, blocks), power, out=np.zeros_like(power), where=power > 0
        )
        trial = fitted.astype(form.scales)
        found = _error(blocks, trial, form)
        better = found < error
        best, error = np.where(better, trial, best), np.where(better, found, error)
    chosen: Array = best
    return chosen


def _steps(blocks: Array, scales: Array, form: BlockFormat) -> Array:
    wide = scales.astype(np.float32)[:, :, None]
    steps = np.divide(blocks, wide, out=np.zeros_like(blocks), where=wide != 0)
    clipped: Array = np.clip(np.rint(steps), -form.zero, form.zero - 1)
    return clipped


def _error(blocks: Array, scales: Array, form: BlockFormat) -> Array:
    off = blocks - _steps(blocks, scales, form) * scales.astype(np.float32)[:, :, None]
    squared: Array = np.einsum("rgi,rgi->rg", off, off)
    return squared


class RoundedBlocks(BlockMatrix):
    """A float matrix whose rows are rounded on request. `values(start, stop)` returns the float rows."""

    def __init__(
        self, form: BlockFormat, features: int, depth: int, values: Callable[[int, int], Array]
    ) -> None:
        super().__init__(form, features, depth)
        self._values = values

    def rows(self, start: int, stop: int) -> Blocks:
        """See BlockMatrix."""
        return round_to_blocks(self._values(start, stop), self.format)
