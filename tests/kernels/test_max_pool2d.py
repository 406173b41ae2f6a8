# SPDX-License-Identifier: BSD-3-Clause
"""max_pool2d_with_indices, and max_pool2d without indices, against torch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rushlight.export.dialect.fused  # noqa: F401  # registers max_pool2d
from support.harness import REAL, Kernels, random_tensor, with_dim_order

POOL = "aten::max_pool2d_with_indices.out"
VALUES = "rushlight::max_pool2d.out"
WINDOWS = [
    ([2, 2], [], [0, 0], [1, 1], False),
    ([3], [2], [1], [1], True),
    ([3, 2], [1, 2], [1, 1], [1, 1], False),
    ([2, 3], [2, 1], [0, 1], [2, 1], True),
    ([1, 1], [3, 2], [0, 0], [1, 1], False),
    ([4, 5], [2, 3], [2, 2], [1, 1], True),
]


def check(kernels: Kernels, values: torch.Tensor, *window: Any, **how: Any) -> None:
    """With and without indices."""
    kernels.check(POOL, values, *window, **how)
    kernels.check(
        VALUES,
        values,
        *window,
        eager=lambda *arguments: torch.ops.aten.max_pool2d_with_indices(*arguments)[0],
        **how,
    )


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("dtype", REAL)
def test_windows_of_every_dtype(kernels: Kernels, dtype: torch.dtype, window: tuple[Any, ...]) -> None:
    check(kernels, random_tensor((2, 3, 7, 8), dtype), *window)


@pytest.mark.parametrize("channels", [3, 70])
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
def test_bytes_in_channels_last(kernels: Kernels, dtype: torch.dtype, channels: int) -> None:
    values = random_tensor((2, channels, 9, 7), dtype).contiguous(memory_format=torch.channels_last)
    for window in WINDOWS:
        check(kernels, values, *window)


@settings(max_examples=100, deadline=None)
@given(
    size=st.tuples(*[st.integers(1, 9)] * 2),
    kernel=st.tuples(*[st.integers(1, 4)] * 2),
    stride=st.tuples(*[st.integers(1, 3)] * 2),
    padding=st.tuples(*[st.integers(0, 2)] * 2),
    dilation=st.tuples(*[st.integers(1, 2)] * 2),
    ceil_mode=st.booleans(),
)
def test_any_window(kernels: Kernels, size: tuple[int, int], ceil_mode: bool, **lists: Any) -> None:
    arguments = [list(lists[name]) for name in ("kernel", "stride", "padding", "dilation")]
    assume(all(p <= k // 2 for p, k in zip(lists["padding"], lists["kernel"], strict=True)))
    values = random_tensor((1, 2, *size), torch.float32)
    try:
        torch.ops.aten.max_pool2d_with_indices(values, *arguments, ceil_mode)
    except RuntimeError:
        assume(False)
    check(kernels, values, *arguments, ceil_mode)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_special_numbers(kernels: Kernels, value: float) -> None:
    values = random_tensor((1, 2, 6, 6), torch.float32)
    values[0, :, 2:4, 1:5] = value
    check(kernels, values, [2, 2], [1, 1], [1, 1])
    check(kernels, torch.full((1, 1, 4, 4), value), [2, 2])


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [1, 0, 3, 2]])
def test_images_of_other_dim_orders(kernels: Kernels, order: list[int]) -> None:
    values = with_dim_order(random_tensor((2, 3, 6, 7), torch.float32), order)
    check(kernels, values, [2, 2], out_dim_order=[0, 2, 3, 1])
    check(kernels, values, [3, 3], [2, 2], [1, 1])


def test_images_without_a_batch_and_batches_without_images(kernels: Kernels) -> None:
    check(kernels, random_tensor((3, 6, 7), torch.float32), [2, 2])
    check(kernels, torch.empty(0, 3, 6, 7), [2, 2])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([torch.ones(4, 4), [2, 2]], "rank"),
        ([torch.ones(1, 1, 4, 4), [2, 2, 2]], "kernel_size"),
        ([torch.ones(1, 1, 4, 4), [0, 2]], "kernel_size"),
        ([torch.ones(1, 1, 4, 4), [2, 2], [0, 1]], "stride"),
        ([torch.ones(1, 1, 4, 4), [2, 2], [], [2, 2]], "padding"),
        ([torch.ones(1, 1, 4, 4), [2, 2], [], [0, 0], [0, 1]], "dilation"),
        ([torch.ones(1, 1, 4, 4), [5, 5]], "self"),
        ([torch.ones(1, 1, 4, 4, dtype=torch.float64), [2, 2]], "self and out"),
    ],
)
def test_windows_that_are_refused(kernels: Kernels, arguments: list[Any], named: str) -> None:
    outs = [torch.empty(1, 1, 2, 2), torch.empty(1, 1, 2, 2, dtype=torch.int64)]
    assert named in kernels.refuse(POOL, *arguments, outs=outs).log[0]


def test_indices_are_int64(kernels: Kernels) -> None:
    outs = [torch.empty(1, 1, 2, 2), torch.empty(1, 1, 2, 2, dtype=torch.int32)]
    refused = kernels.refuse(POOL, torch.ones(1, 1, 4, 4), [2, 2], outs=outs)
    assert refused.error == "InvalidType" and "indices" in refused.log[0]
