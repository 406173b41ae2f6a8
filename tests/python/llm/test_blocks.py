# SPDX-License-Identifier: BSD-3-Clause
"""Block weights: their packed order, and rounding to them."""

from __future__ import annotations

import numpy as np
import pytest

from rushlight.errors import InvalidArgument
from rushlight.llm.blocks import (
    PANEL,
    BlockFormat,
    Blocks,
    StackedBlocks,
    WholeBlocks,
    pack,
    pack_halves,
    unpack,
)
from rushlight.llm.rounding import INT4, INT8, round_to_blocks

FORMATS = [
    BlockFormat(bits, group, scales, has_minimum)
    for bits in (4, 8)
    for group in (16, 32, 64)
    for scales in ("float16", "float32")
    for has_minimum in (False, True)
]


def random_blocks(form: BlockFormat, rows: int, depth: int, seed: int = 0) -> Blocks:
    generator = np.random.default_rng(seed)
    groups = -(-depth // form.group)
    numbers = [generator.normal(size=(rows, groups)).astype(form.scales) for _ in range(2)]
    q = generator.integers(0, 1 << form.bits, (rows, depth), dtype=np.uint8)
    return Blocks(form, q, numbers[0], numbers[1] if form.has_minimum else None)


def read_by_hand(packed: np.ndarray, form: BlockFormat, row: int, k: int) -> tuple[int, float, float]:
    """q, scale and minimum of a number, by the order of kernels/ukernel/block_gemm.h."""
    panel, lane = divmod(row, PANEL)
    group, inner = divmod(k, form.group)
    size = np.dtype(form.scales).itemsize
    header = PANEL * size * (2 if form.has_minimum else 1)
    at = group * (header + PANEL * form.group * form.bits // 8)
    raw = packed[panel, at:].tobytes()
    numbers = np.frombuffer(raw[:header], form.scales)
    minimum = float(numbers[PANEL + lane]) if form.has_minimum else 0.0
    run = 32 // form.bits
    word, offset = divmod(inner, run)
    byte = raw[header + (word * PANEL + lane) * 4 + offset % 4]
    if form.bits == 4:
        byte = byte >> 4 if offset >= 4 else byte & 15
    return byte, float(numbers[lane]), minimum


@pytest.mark.parametrize("form", FORMATS, ids=str)
def test_each_number_is_where_kernels_read_it(form: BlockFormat) -> None:
    rows, depth = 19, 3 * form.group
    blocks = random_blocks(form, rows, depth)
    packed = pack(WholeBlocks(blocks))
    assert packed.shape == form.packed_shape(rows, depth)
    generator = np.random.default_rng(1)
    for row, k in zip(generator.integers(0, rows, 60), generator.integers(0, depth, 60), strict=True):
        q, scale, minimum = read_by_hand(packed, form, row, k)
        group = k // form.group
        assert (q, scale) == (blocks.q[row, k], float(blocks.scales[row, group]))
        assert blocks.minimums is None or minimum == float(blocks.minimums[row, group])
    for row in range(rows, 2 * PANEL):
        assert read_by_hand(packed, form, row, 5) == (0, 0.0, 0.0)


@pytest.mark.parametrize("form", FORMATS, ids=str)
@pytest.mark.parametrize(("rows", "depth"), [(1, 1), (16, 16), (33, 100), (1100, 48)])
def test_packed_blocks_can_be_unpacked(form: BlockFormat, rows: int, depth: int) -> None:
    blocks = random_blocks(form, rows, depth)
    found = unpack(pack(WholeBlocks(blocks)), form, rows, depth)
    np.testing.assert_array_equal(found.q, blocks.q)
    np.testing.assert_array_equal(found.values(), blocks.values())


def test_stacked_matrices_lie_behind_each_other() -> None:
    parts = [random_blocks(INT4, rows, 64, seed=rows) for rows in (700, 5, 900)]
    whole = StackedBlocks([WholeBlocks(part) for part in parts])
    found = unpack(pack(whole), INT4, 1605, 64)
    np.testing.assert_array_equal(found.values(), np.concatenate([part.values() for part in parts]))


@pytest.mark.parametrize(("rows", "depth"), [(1, 3), (16, 8), (1030, 5)])
def test_float16_panels_have_a_column_of_rows_for_each_number(rows: int, depth: int) -> None:
    values = np.random.default_rng(2).normal(size=(rows, depth)).astype(np.float16)
    packed = pack_halves(rows, depth, lambda start, stop: values[start:stop])
    panels = packed.view(np.float16).reshape(-1, depth, PANEL)
    for row in (0, rows // 2, rows - 1):
        np.testing.assert_array_equal(panels[row // PANEL, :, row % PANEL], values[row])


def test_4_bits_round_better_than_by_the_largest_number_alone() -> None:
    rows = np.random.default_rng(4).normal(size=(64, 256)).astype(np.float32)
    blocks = round_to_blocks(rows, INT4)
    error = np.square(blocks.values() - rows).mean()
    groups = rows.reshape(64, 8, 32)
    largest = np.take_along_axis(groups, np.abs(groups).argmax(2)[:, :, None], 2)
    plain = np.clip(np.rint(groups / (largest / -8)), -8, 7) * (largest / -8)
    assert error < 0.92 * np.square(plain - groups).mean()
    assert blocks.q.max() <= 15 and blocks.scales.dtype == np.float16


def test_8_bits_are_off_by_half_a_step_at_most() -> None:
    rows = np.random.default_rng(5).normal(size=(40, 100)).astype(np.float32)
    blocks = round_to_blocks(rows, INT8)
    steps = np.repeat(blocks.scales.astype(np.float32), 32, axis=1)[:, :100]
    assert (np.abs(blocks.values() - rows) <= 0.501 * steps + 0.07 * steps).all()
    assert blocks.q.min() >= 1


@pytest.mark.parametrize("form", [INT4, INT8], ids=str)
def test_zeros_stay_zeros(form: BlockFormat) -> None:
    assert not round_to_blocks(np.zeros((3, 50), np.float32), form).values().any()


@pytest.mark.parametrize("number", [np.inf, np.nan, 1e6])
def test_numbers_that_no_scale_reaches_are_refused(number: float) -> None:
    rows = np.full((2, 40), number, np.float32)
    with pytest.raises(InvalidArgument, match="weights: expected numbers up to 400000 for 4 bits"):
        round_to_blocks(rows, INT4)
