# SPDX-License-Identifier: BSD-3-Clause
"""Block weights: matrices whose rows are groups of 4- or 8-bit integers q. Each group has a scale and
optionally a minimum: value = scale * (q - zero), or scale * q + minimum.

Packed weights consist of panels of 16 rows. For each group, a panel holds first the 16 scales, then the 16
minimums, then words of 4 bytes, one per row, for each span of 8 (4 bits) or 4 (8 bits) elements of the
depth. The products read the bytes in this order, so each product reads the weights once, sequentially.
float16 matrices are also stored in panels: 16 elements, one per row, for each index of the depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PANEL = 16
"""Rows per panel."""

_ROWS_AT_ONCE = 1024
"""Rows packed at a time: unpacked values take much more memory than packed ones."""


@dataclass(frozen=True)
class BlockFormat:
    """The storage format of a block weight: integers of `bits` (4 or 8) in groups of `group` elements, each
    with a scale of dtype `scales` (float16 or float32), and a minimum of that dtype if `has_minimum`. HALF
    stands for plain float16."""

    bits: int
    group: int
    scales: str
    has_minimum: bool

    @property
    def zero(self) -> int:
        """The q that encodes 0 in formats without minimums."""
        return 1 << (self.bits - 1)

    @property
    def group_bytes(self) -> int:
        """Bytes of one group in one panel."""
        numbers = np.dtype(self.scales).itemsize * (2 if self.has_minimum else 1)
        return PANEL * numbers + PANEL * self.group * self.bits // 8

    def packed_shape(self, features: int, depth: int) -> tuple[int, int]:
        """The number of panels, and the bytes per panel."""
        if self.bits == 16:
            return -(-features // PANEL), depth * PANEL * 2
        return -(-features // PANEL), -(-depth // self.group) * self.group_bytes

    def __str__(self) -> str:
        if self.bits == 16:
            return "float16"
        minimum = " with minimums" if self.has_minimum else ""
        return f"{self.bits} bits, groups of {self.group}, {self.scales} scales{minimum}"


HALF = BlockFormat(16, 0, "float16", False)


@dataclass(frozen=True)
class Blocks:
    """Unpacked rows of a block weight. `q` is uint8 [rows, depth]; `scales` and `minimums` (None without) are
    [rows, groups] in the format's dtype. The last group may be shorter than the others."""

    format: BlockFormat
    q: Array
    scales: Array
    minimums: Array | None = None

    def values(self) -> Array:
        """The values of these rows in float32 [rows, depth]."""
        shape = self.format
        scales = _spread(self.scales, shape.group, self.q.shape[1])
        steps = self.q.astype(np.float32)
        if self.minimums is None:
            found: Array = scales * (steps - np.float32(shape.zero))
        else:
            found = scales * steps + _spread(self.minimums, shape.group, self.q.shape[1])
        return found


def _spread(numbers: Array, group: int, depth: int) -> Array:
    return np.repeat(numbers.astype(np.float32), group, axis=1)[:, :depth]


class BlockMatrix:
    """A block weight of a model whose rows are computed on request."""

    def __init__(self, format: BlockFormat, features: int, depth: int) -> None:
        self.format, self.features, self.depth = format, features, depth

    def rows(self, start: int, stop: int) -> Blocks:
        """Rows `start` to `stop` (exclusive)."""
        raise NotImplementedError

    def floats(self, start: int, stop: int) -> Array:
        """Rows `start` to `stop` (exclusive) in float32."""
        return self.rows(start, stop).values()

    def chunks(self) -> Iterator[tuple[int, Blocks]]:
        """All rows in chunks of whole panels, each with the index of its first row."""
        for start in range(0, self.features, _ROWS_AT_ONCE):
            yield start, self.rows(start, min(start + _ROWS_AT_ONCE, self.features))


class WholeBlocks(BlockMatrix):
    """A block weight held in memory."""

    def __init__(self, blocks: Blocks) -> None:
        super().__init__(blocks.format, *blocks.q.shape)
        self._blocks = blocks

    def rows(self, start: int, stop: int) -> Blocks:
        """See BlockMatrix."""
        whole = self._blocks
        minimums = None if whole.minimums is None else whole.minimums[start:stop]
        return Blocks(whole.format, whole.q[start:stop], whole.scales[start:stop], minimums)


class StackedBlocks(BlockMatrix):
    """The rows of several block weights of one format, concatenated."""

    def __init__(self, parts: list[BlockMatrix]) -> None:
        super().__init__(parts[0].format, sum(part.features for part in parts), parts[0].depth)
        self._parts = parts

    def rows(self, start: int, stop: int) -> Blocks:
        """See BlockMatrix."""
        found, first = [], 0
        for part in self._parts:
            low, high = max(start - first, 0), min(stop - first, part.features)
            if low < high:
                found.append(part.rows(low, high))
            first += part.features
        minimums = [each.minimums for each in found if each.minimums is not None]
        return Blocks(
            self.format,
            np.concatenate([each.q for each in found]),
            np.concatenate([each.scales for each in found]),
            np.concatenate(minimums) if minimums else None,
        )


def pack(matrix: BlockMatrix) -> NDArray[np.uint8]:
    """The packed weight: uint8 [panels, panel bytes]."""
    packed = np.zeros(matrix.format.packed_shape(matrix.features, matrix.depth), np.uint8)
    for start, blocks in matrix.chunks():
        first = start // PANEL
        _pack_panels(blocks, packed[first : first + -(-len(blocks.q) // PANEL)])
    return packed


def pack_halves(features: int, depth: int, read: Callable[[int, int], Array]) -> NDArray[np.uint8]:
    """The packed float16 matrix; `read(start, stop)` returns its rows."""
    packed = np.zeros(HALF.packed_shape(features, depth), np.uint8)
    panels = packed.view("<f2").reshape(len(packed), depth, PANEL)
    for start in range(0, features, _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, features)
        first, last = start // PANEL, -(-stop // PANEL)
        rows = _padded(read(start, stop), (last - first) * PANEL, depth)
        panels[first:last] = rows.reshape(last - first, PANEL, depth).transpose(0, 2, 1)
    return packed


def _pack_panels(blocks: Blocks, out: NDArray[np.uint8]) -> None:
    form = blocks.format
    panels = len(out)
    depth = blocks.scales.shape[1] * form.group
    groups = out.reshape(panels, -1, form.group_bytes)
    at = 0
    for numbers in (blocks.scales, blocks.minimums):
        if numbers is not None:
            lanes = _padded(numbers.astype(form.scales), panels * PANEL, numbers.shape[1])
            by_group = np.ascontiguousarray(lanes.reshape(panels, PANEL, -1).transpose(0, 2, 1))
            size = PANEL * by_group.itemsize
            groups[:, :, at : at + size] = by_group.view(np.uint8)
            at += size
    q = _padded(blocks.q, panels * PANEL, depth)
    if form.bits == 4:
        halves = q.reshape(panels, PANEL, -1, 2, 4)
        q = halves[:, :, :, 0] | halves[:, :, :, 1] << 4
    words = q.reshape(panels, PANEL, -1).view("<u4").transpose(0, 2, 1)  # [panel, span, row]
    groups[:, :, at:] = np.ascontiguousarray(words).view(np.uint8).reshape(panels, groups.shape[1], -1)


def _padded(array: Array, rows: int, columns: int) -> Array:
    if array.shape == (rows, columns):
        return np.ascontiguousarray(array)
    whole = np.zeros((rows, columns), array.dtype)
    whole[: array.shape[0], : array.shape[1]] = array
    return whole


def unpack(packed: NDArray[np.uint8], form: BlockFormat, features: int, depth: int) -> Blocks:
    """Reverses pack()."""
    panels = len(packed)
    groups = packed.reshape(panels, -1, form.group_bytes)
    at, numbers = 0, []
    for _ in range(2 if form.has_minimum else 1):
        size = PANEL * np.dtype(form.scales).itemsize
        by_group = np.ascontiguousarray(groups[:, :, at : at + size]).view(form.scales)
        numbers.append(by_group.transpose(0, 2, 1).reshape(panels * PANEL, -1)[:features])
        at += size
    words = np.ascontiguousarray(groups[:, :, at:]).view("<u4").reshape(panels, -1, PANEL)
    q = np.ascontiguousarray(words.transpose(0, 2, 1)).view(np.uint8).reshape(panels * PANEL, -1)
    if form.bits == 4:
        nibbles = q.reshape(panels * PANEL, -1, 1, 4)
        q = np.concatenate([nibbles & 15, nibbles >> 4], axis=2).reshape(panels * PANEL, -1)
    return Blocks(form, q[:features, :depth], numbers[0], numbers[1] if form.has_minimum else None)
