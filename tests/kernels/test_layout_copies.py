# SPDX-License-Identifier: BSD-3-Clause
"""Copies to another layout, against torch: every element size, and sizes around multiples of the blocks."""

from __future__ import annotations

import itertools

import pytest
import torch

from support.harness import Kernels, random_tensor, with_dim_order

BY_SIZE = [torch.uint8, torch.float16, torch.float32, torch.int64, torch.complex128]


@pytest.mark.parametrize("dtype", BY_SIZE)
@pytest.mark.parametrize("rows", [1, 3, 4, 17, 64, 131])
@pytest.mark.parametrize("columns", [1, 2, 5, 16, 33, 150])
def test_matrices_of_odd_sizes(kernels: Kernels, rows: int, columns: int, dtype: torch.dtype) -> None:
    matrix = random_tensor((rows, columns), dtype)
    kernels.check("aten::t_copy.out", matrix)
    kernels.check("aten::permute_copy.out", matrix, [1, 0])


@pytest.mark.parametrize("dtype", BY_SIZE)
@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (1, 16, 9, 8), (3, 33, 4, 1), (2, 2, 17, 20), (2, 1, 4, 2)])
def test_every_permutation_of_four_dimensions(
    kernels: Kernels, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    values = random_tensor(shape, dtype)
    for order in itertools.permutations(range(4)):
        kernels.check("aten::permute_copy.out", values, list(order))


@pytest.mark.parametrize("dtype", BY_SIZE)
@pytest.mark.parametrize("shape", [(2, 3, 13, 17), (1, 64, 7, 7), (2, 20, 1, 9), (2, 4, 3, 3)])
def test_between_channels_first_and_last(
    kernels: Kernels, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    first = random_tensor(shape, dtype)
    last = with_dim_order(first, [0, 2, 3, 1])
    for values, order in ((first, [0, 2, 3, 1]), (last, [0, 1, 2, 3]), (last, [3, 2, 0, 1])):
        kernels.check("aten::clone.out", values, memory_format=torch.preserve_format, out_dim_order=order)
    kernels.check("aten::view_copy.out", first, [shape[0], -1], eager=lambda x, size: x.reshape(size))
    kernels.check("aten::view_copy.out", last, [shape[0], -1], eager=lambda x, size: x.reshape(size))


@pytest.mark.parametrize("run", [1, 2, 3, 4, 8, 16, 17, 64])
def test_runs_that_stay_together(kernels: Kernels, run: int) -> None:
    values = random_tensor((3, 5, 4, run), torch.uint8)
    kernels.check("aten::permute_copy.out", values, [2, 0, 1, 3])
    kernels.check("aten::transpose_copy.int_out", values, 0, 1)


@pytest.mark.parametrize("dtype", BY_SIZE)
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_elements_and_rows_that_are_repeated(kernels: Kernels, dtype: torch.dtype, order: list[int]) -> None:
    for shape, size in (
        ((3, 1, 1), [3, 4, 5000]),
        ((1, 5, 1), [6, 5, 7]),
        ((1, 1, 9), [4, 3, 9]),
        ((2, 1, 3), [2, 4, 3]),
    ):
        values = with_dim_order(random_tensor(shape, dtype), order)
        kernels.check("aten::expand_copy.out", values, size)
