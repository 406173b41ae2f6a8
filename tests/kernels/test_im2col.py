# SPDX-License-Identifier: BSD-3-Clause
"""im2col, col2im, unfold_copy, channel_shuffle and rot90 against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import ALL, FLOATING, REAL, Kernels, random_tensor, with_dim_order

TO_COLUMNS = "aten::im2col.out"
TO_IMAGE = "aten::col2im.out"
UNFOLD = "aten::unfold_copy.out"
SHUFFLE = "aten::channel_shuffle.out"
ROTATE = "aten::rot90.out"


@pytest.mark.parametrize("dtype", [*FLOATING, torch.bool])
def test_columns_and_back(kernels: Kernels, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 6, 5), dtype)
    window = [[2, 3], [2, 1], [1, 1], [1, 2]]
    kernels.check(TO_COLUMNS, x, *window)
    kernels.check(TO_COLUMNS, x[0].clone(), *window)
    columns = torch.ops.aten.im2col(x, *window)
    kernels.check(TO_IMAGE, columns, [6, 5], *window)
    kernels.check(TO_IMAGE, columns[0].clone(), [6, 5], *window)


def test_columns_of_complex_numbers(kernels: Kernels) -> None:
    x = torch.complex(*[random_tensor((1, 2, 4, 4), torch.float32, seed=seed) for seed in (0, 1)])
    kernels.check(TO_COLUMNS, x, [2, 2], [1, 1], [1, 1], [1, 1])


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_window(kernels: Kernels, data: st.DataObject) -> None:
    def pair(low: int, high: int) -> list[int]:
        return [data.draw(st.integers(low, high)), data.draw(st.integers(low, high))]

    size = pair(1, 7)
    x = random_tensor((2, 2, *size), torch.float32)
    window = [pair(1, 4), pair(1, 3), pair(0, 3), pair(1, 3)]
    try:
        columns = torch.ops.aten.im2col(x, *window)
    except RuntimeError:
        assert kernels.refuse(TO_COLUMNS, x, *window, outs=[torch.empty(2, 2, 1)])
        return
    kernels.check(TO_COLUMNS, x, *window)
    kernels.check(TO_IMAGE, columns, size, *window, atol=1e-5)


def test_layouts_and_empty_batches_of_columns(kernels: Kernels) -> None:
    x = with_dim_order(random_tensor((2, 3, 4, 4), torch.float32), [0, 2, 3, 1])
    window = [[2, 2], [1, 1], [0, 0], [1, 1]]
    kernels.check(TO_COLUMNS, x, *window, out_dim_order=[2, 0, 1])
    columns = with_dim_order(torch.ops.aten.im2col(x, *window), [2, 1, 0])
    kernels.check(TO_IMAGE, columns, [4, 4], *window, out_dim_order=[0, 2, 3, 1])
    kernels.check(TO_COLUMNS, torch.empty(0, 3, 4, 4), *window)
    kernels.check(TO_IMAGE, torch.empty(0, 12, 9), [4, 4], *window)


@pytest.mark.parametrize(
    "window",
    [
        [[0, 2], [1, 1], [0, 0], [1, 1]],
        [[2, 2], [0, 1], [0, 0], [1, 1]],
        [[2, 2], [1, 1], [-1, 0], [1, 1]],
        [[2, 2], [1, 1], [0, 0], [1, 0]],
        [[5, 2], [1, 1], [0, 0], [1, 1]],
        [[2, 2, 2], [1, 1], [0, 0], [1, 1]],
        [[2**31 - 1, 2**31 - 1], [1, 1], [2**31 - 1, 2**31 - 1], [1, 1]],
    ],
)
def test_windows_that_are_refused(kernels: Kernels, window: list[Any]) -> None:
    x = torch.ones(1, 2, 4, 4)
    assert kernels.refuse(TO_COLUMNS, x, *window, outs=[torch.ones(1, 8, 9)]).error == "InvalidArgument"
    columns = torch.ones(1, 8, 9)
    refused = kernels.refuse(TO_IMAGE, columns, [4, 4], *window, outs=[torch.ones(1, 2, 4, 4)])
    assert refused.error == "InvalidArgument"


@pytest.mark.parametrize(
    ("shape", "size"),
    [((1, 8, 8), [4, 4]), ((1, 7, 9), [4, 4]), ((1, 8, 9), [4]), ((8, 9), [4, 0]), ((1, 1, 8, 9), [4, 4])],
)
def test_columns_that_do_not_fit_are_refused(
    kernels: Kernels, shape: tuple[int, ...], size: list[int]
) -> None:
    window = [[2, 2], [1, 1], [0, 0], [1, 1]]
    refused = kernels.refuse(TO_IMAGE, torch.ones(shape), size, *window, outs=[torch.ones(1, 2, 4, 4)])
    assert refused.error == "InvalidArgument"


@pytest.mark.parametrize("dtype", ALL)
def test_unfolding(kernels: Kernels, dtype: torch.dtype) -> None:
    x = random_tensor((3, 5, 4), dtype)
    for dim in (0, 1, 2, -1):
        for size, step in [(1, 1), (2, 1), (3, 2), (0, 1), (0, 7), (2, 2**40)]:
            kernels.check(UNFOLD, x, dim, size, step)


def test_unfolding_of_scalars_empty_tensors_and_layouts(kernels: Kernels) -> None:
    kernels.check(UNFOLD, torch.tensor(3.0), 0, 1, 1)
    kernels.check(UNFOLD, torch.tensor(3.0), 0, 0, 2)
    kernels.check(UNFOLD, torch.empty(0, 3), 1, 2, 1)
    kernels.check(UNFOLD, torch.empty(0, 3), 0, 0, 1)
    x = with_dim_order(random_tensor((2, 3, 5), torch.float32), [2, 0, 1])
    kernels.check(UNFOLD, x, 2, 3, 1, out_dim_order=[3, 1, 0, 2])


@pytest.mark.parametrize(
    ("dim", "size", "step"), [(2, 1, 1), (-3, 1, 1), (0, 4, 1), (0, -1, 1), (0, 1, 0), (0, 1, -2)]
)
def test_unfoldings_that_are_refused(kernels: Kernels, dim: int, size: int, step: int) -> None:
    out = torch.ones(3, 3, 1)
    assert kernels.refuse(UNFOLD, torch.ones(3, 3), dim, size, step, outs=[out]).error == "InvalidArgument"


@pytest.mark.parametrize("dtype", [*REAL, torch.bool, torch.complex64])
def test_shuffled_channels(kernels: Kernels, dtype: torch.dtype) -> None:
    x = random_tensor((2, 6, 3, 2), torch.float32).to(dtype)
    for groups in (1, 2, 3, 6):
        kernels.check(SHUFFLE, x, groups)
    kernels.check(SHUFFLE, x[:, :, 0].clone(), 3)
    kernels.check(SHUFFLE, with_dim_order(x, [0, 2, 3, 1]), 3, out_dim_order=[0, 2, 3, 1])


@pytest.mark.parametrize(("shape", "groups"), [((2, 6), 2), ((2, 6, 2), 4), ((2, 6, 2), 0), ((2, 6, 2), -2)])
def test_shuffles_that_are_refused(kernels: Kernels, shape: tuple[int, ...], groups: int) -> None:
    refused = kernels.refuse(SHUFFLE, torch.ones(shape), groups, outs=[torch.ones(shape)])
    assert refused.error == "InvalidArgument"


@pytest.mark.parametrize("dtype", [*REAL, torch.bool, torch.complex128])
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, -1, -6, 2**63 - 1, -(2**63)])
def test_rotations(kernels: Kernels, k: int, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 4), torch.float32).to(dtype)
    for dims in ([0, 1], [2, 0], [-1, -2]):
        kernels.check(ROTATE, x, k, dims)


def test_rotations_of_empty_tensors_and_layouts(kernels: Kernels) -> None:
    kernels.check(ROTATE, torch.empty(0, 3), 1, [0, 1])
    x = with_dim_order(random_tensor((2, 3, 4), torch.float32), [2, 0, 1])
    kernels.check(ROTATE, x, 3, [1, 2], out_dim_order=[1, 2, 0])


@pytest.mark.parametrize("dims", [[0], [0, 0], [0, -3], [0, 3], [0, 1, 2]])
def test_rotations_that_are_refused(kernels: Kernels, dims: list[int]) -> None:
    x = torch.ones(2, 2, 2)
    assert kernels.refuse(ROTATE, x, 1, dims, outs=[x.clone()]).error == "InvalidArgument"
