# SPDX-License-Identifier: BSD-3-Clause
"""prod and all against torch."""

from __future__ import annotations

import math

import pytest
import torch

from support.harness import ALL, FLOATING, INTEGRAL, Kernels, random_tensor, with_dim_order

RTOL = {torch.float16: 3e-3, torch.bfloat16: 2.5e-2, torch.float32: 1e-5}
DIMS = [None, [], [0], [-1], [1, 2], [2, 0], [0, 1, 2], [-1, -3]]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_prod_along_any_dimension(kernels: Kernels, dim: int, keepdim: bool, dtype: torch.dtype) -> None:
    values = random_tensor((4, 7, 5), dtype, low=-2, high=3)
    kernels.check("aten::prod.int_out", values, dim, keepdim, rtol=RTOL.get(dtype))


@pytest.mark.parametrize("requested", [torch.bool, *INTEGRAL, *FLOATING])
@pytest.mark.parametrize("dtype", ALL)
def test_prod_in_a_requested_dtype(kernels: Kernels, dtype: torch.dtype, requested: torch.dtype) -> None:
    values = random_tensor((3, 4), dtype, low=0.6, high=3)
    kernels.check("aten::prod.out", values, dtype=requested, rtol=RTOL.get(requested))
    kernels.check("aten::prod.int_out", values, 1, dtype=requested, rtol=RTOL.get(requested))


def test_prod_of_special_values(kernels: Kernels) -> None:
    for values in (
        torch.tensor([2**62, 2, 3]),
        torch.tensor([100, 100, 3], dtype=torch.int16),
        torch.tensor([2.0, math.inf]),
        torch.tensor([0.0, math.inf]),
        torch.tensor([math.nan, 0.0]),
        torch.tensor(3.0),
        torch.zeros(0),
        torch.zeros(2, 0, dtype=torch.int32),
    ):
        kernels.check("aten::prod.out", values)
        kernels.check("aten::prod.int_out", values, -1, True)


def test_prod_arguments_that_do_not_fit_are_refused(kernels: Kernels) -> None:
    values, out = torch.ones(3), torch.tensor(0.0)
    assert kernels.refuse("aten::prod.int_out", values, 1, outs=[out]).error == "InvalidArgument"
    assert kernels.refuse("aten::prod.out", values, dtype=torch.float64, outs=[out]).error == "InvalidType"
    assert kernels.refuse("aten::prod.out", values, outs=[torch.ones(1)]).error == "InvalidArgument"
    assert kernels.refuse("aten::prod.out", values, outs=[out.to(torch.complex32)]).error == "InvalidType"


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", DIMS)
def test_all_over_any_list_of_dimensions(
    kernels: Kernels, dims: list[int] | None, keepdim: bool, dtype: torch.dtype
) -> None:
    values = torch.ones(4, 7, 5)
    values[1, 2, 3] = values[3, 0] = 0
    values = with_dim_order(values, (2, 0, 1)).to(dtype)
    kernels.check("aten::all.dims_out", values, dims, keepdim)
    kernels.check("aten::all.out", values, dims[0] if dims else 1, keepdim)


@pytest.mark.parametrize("dtype", ALL)
def test_all_of_a_whole_tensor(kernels: Kernels, dtype: torch.dtype) -> None:
    for values in (torch.ones(3, 5), torch.eye(4), torch.zeros(0), torch.tensor(2.0), torch.tensor(0.0)):
        kernels.check("aten::all.all_out", values.to(dtype))
    kernels.check("aten::all.out", torch.ones(2, 0).to(dtype), 1)
    kernels.check("aten::all.out", torch.ones(()).to(dtype), 0)


def test_nan_counts_for_all(kernels: Kernels) -> None:
    kernels.check("aten::all.all_out", torch.tensor([1.0, math.nan]))
    kernels.check("aten::all.out", torch.tensor([[1.0, -0.0], [math.nan, 1.0]]), -1)


def test_all_writes_bool_or_uint8_only(kernels: Kernels) -> None:
    assert kernels.refuse("aten::all.all_out", torch.ones(3), outs=[torch.tensor(0.0)]).error == "InvalidType"
    kernels.check("aten::all.all_out", torch.ones(3), out_dtype=torch.uint8)
    out = torch.zeros(3, dtype=torch.bool)
    assert kernels.refuse("aten::all.out", torch.ones(3), 1, outs=[out]).error == "InvalidArgument"


@pytest.mark.parametrize("dtype", [*ALL, torch.complex64, torch.complex128])
def test_prod_of_many_neighbours(kernels: Kernels, dtype: torch.dtype) -> None:
    """Builds for speed take neighbours in tiles of 128."""
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype == torch.complex64 else {"rtol": RTOL.get(dtype)}
    for shape, dim in (((6, 300), 0), ((3, 5, 130), 1), ((5, 128), 0), ((0, 40), 0), ((40, 0), 0)):
        values = random_tensor(shape, dtype, low=-1, high=2)
        kernels.check("aten::prod.int_out", values, dim, **tolerance)
        kernels.check(
            "aten::sum.IntList_out", values, [dim], rtol=1e-2 if dtype.itemsize == 2 else 1e-4, atol=1e-4
        )
    values = with_dim_order(random_tensor((9, 5, 140), dtype, low=-1, high=2), (2, 1, 0))
    kernels.check("aten::prod.int_out", values, 2, **tolerance)
