# SPDX-License-Identifier: BSD-3-Clause
"""Sizes at which builds for speed take their vectorized loops: whole blocks, tiles and a rest."""

from __future__ import annotations

import pytest
import torch

from support.harness import FLOATING, INTEGRAL, Kernels, random_tensor

DTYPES = [*INTEGRAL, *FLOATING]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_columns_are_summed_in_tiles(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((3, 150, 301), dtype, low=0, high=2)
    kernels.check("aten::sum.IntList_out", values, [1], rtol=2e-3 if dtype.itemsize == 2 else 1e-5)
    kernels.check("aten::sum.IntList_out", values, [0, 1], rtol=2e-3 if dtype.itemsize == 2 else 1e-5)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_long_fibers_are_sorted_stably(kernels: Kernels, dtype: torch.dtype, descending: bool) -> None:
    values = random_tensor((5, 700), dtype, low=-90, high=90)
    if dtype.is_floating_point:
        values[:, ::50] = float("nan")
        values[:, 1::60] = float("-inf")
    kernels.check("aten::sort.values_stable", values, stable=True, dim=1, descending=descending)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_first_nan_or_extremum_of_a_long_span_wins(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((4, 1000), dtype, low=-90, high=90)
    kernels.check("aten::max.dim_max", values, 1)
    if dtype.is_floating_point:
        values[1, 700] = values[1, 300] = float("nan")
        values[2, 10], values[2, 20] = float("inf"), float("-inf")
    kernels.check("aten::argmin.out", values, 1)
    kernels.check("aten::argmax.out", values, 1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_slices_are_added_at_repeated_indices(kernels: Kernels, dtype: torch.dtype) -> None:
    target = random_tensor((7, 9, 33), dtype, low=1)
    source = random_tensor((7, 20, 33), dtype, low=1, seed=1)
    index = torch.arange(20) % 4
    # PyTorch rounds 16-bit sums after each addition.
    kernels.check("aten::index_add.out", target, 1, index, source, rtol=2e-2 if dtype.itemsize == 2 else None)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_many_tests_are_searched(kernels: Kernels, dtype: torch.dtype) -> None:
    elements, tests = random_tensor((50, 6), dtype, high=100), random_tensor((70,), dtype, high=100, seed=1)
    if dtype.is_floating_point:
        elements[0, 0] = tests[0] = float("nan")
        elements[1, 1], tests[1] = -0.0, 0.0
    kernels.check("aten::isin.Tensor_Tensor_out", elements, tests)
