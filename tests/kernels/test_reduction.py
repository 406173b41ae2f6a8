# SPDX-License-Identifier: BSD-3-Clause
"""sum, mean and any against torch."""

from __future__ import annotations

import math

import hypothesis.extra.numpy as hnp
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import ALL, FLOATING, INTEGRAL, Kernels, assert_equal, random_tensor, with_dim_order

DIMS = [None, [], [0], [-1], [1, 2], [2, 0], [0, 1, 2], [-1, -3]]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", DIMS)
def test_sum_over_any_list_of_dimensions(
    kernels: Kernels, dims: list[int] | None, keepdim: bool, dtype: torch.dtype
) -> None:
    values = random_tensor((4, 7, 5), dtype)
    kernels.check(
        "aten::sum.IntList_out", values, dims, keepdim, atol=5e-6 if dtype == torch.float32 else None
    )


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", DIMS)
def test_mean_over_any_list_of_dimensions(
    kernels: Kernels, dims: list[int] | None, keepdim: bool, dtype: torch.dtype
) -> None:
    # 16-bit results: torch rounds the sum before it divides.
    atol = {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(dtype)
    kernels.check("aten::mean.out", random_tensor((4, 7, 5), dtype), dims, keepdim, atol=atol)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", DIMS)
def test_any_over_any_list_of_dimensions(
    kernels: Kernels, dims: list[int] | None, keepdim: bool, dtype: torch.dtype
) -> None:
    values = random_tensor((4, 7, 5), torch.bool).to(dtype)
    values[1:] = 0
    kernels.check("aten::any.dims_out", values, dims, keepdim)
    kernels.check("aten::any.out", values, dims[0] if dims else 1, keepdim)


@pytest.mark.parametrize("dtype", ALL)
def test_any_of_a_whole_tensor(kernels: Kernels, dtype: torch.dtype) -> None:
    for values in (torch.zeros(3, 5), torch.eye(4), torch.zeros(0), torch.tensor(2.0)):
        kernels.check("aten::any.all_out", values.to(dtype))


def test_nan_counts_as_any(kernels: Kernels) -> None:
    kernels.check("aten::any.all_out", torch.tensor([0.0, math.nan]))
    kernels.check("aten::any.out", torch.tensor([[0.0, -0.0], [math.nan, 0.0]]), -1)


@pytest.mark.parametrize("dtype", ALL)
def test_sum_of_a_whole_tensor(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check(
        "aten::sum.out", random_tensor((6, 11), dtype), atol=1e-5 if dtype == torch.float32 else None
    )


@pytest.mark.parametrize("requested", [torch.float32, torch.float64, torch.int64, torch.int8, torch.uint8])
@pytest.mark.parametrize("dtype", ALL)
def test_sum_in_a_requested_dtype(kernels: Kernels, dtype: torch.dtype, requested: torch.dtype) -> None:
    values = random_tensor((6, 11), dtype, low=0, high=9)
    kernels.check("aten::sum.IntList_out", values, [1], dtype=requested)
    if requested.is_floating_point:
        kernels.check("aten::mean.out", values, [1], dtype=requested)
        kernels.check("aten::mean.dtype_out", values, dtype=requested)


def test_integer_sums_wrap(kernels: Kernels) -> None:
    kernels.check("aten::sum.IntList_out", torch.full((5,), 2**62, dtype=torch.int64), [0])
    kernels.check("aten::sum.IntList_out", torch.full((5,), 100, dtype=torch.int8), [0], dtype=torch.int8)


@pytest.mark.parametrize("requested", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32])
def test_sums_round_their_terms_to_the_dtype_and_means_do_not(
    kernels: Kernels, dtype: torch.dtype, requested: torch.dtype
) -> None:
    eps = torch.finfo(requested).eps
    terms = [torch.tensor([70000, -70000, 1], dtype=dtype)]
    if dtype.is_floating_point:
        terms.append(torch.full((4096,), 1 + 0.49 * eps, dtype=dtype))
        terms.append(torch.tensor([1 - 0.13 * eps, 1 + 1.45 * eps], dtype=dtype).repeat(2048))
    for values in terms:
        for shaped in (values, values.expand(3, -1).contiguous().t().contiguous()):
            kernels.check("aten::sum.IntList_out", shaped, [0], dtype=requested, rtol=0, atol=0)
        kernels.check("aten::mean.out", values, [0], dtype=requested, rtol=0, atol=0)


def test_the_dtype_of_the_output_decides_where_none_is_requested(kernels: Kernels) -> None:
    out = torch.empty((), dtype=torch.int32)
    kernels.run("aten::sum.IntList_out", [torch.tensor([2, 3]), [0], False, None, out])
    assert_equal(out, torch.tensor(5, dtype=torch.int32))


@pytest.mark.parametrize("dims", [[0], [1], [0, 1]])
@pytest.mark.parametrize("operator", ["sum.IntList_out", "mean.out"])
def test_long_float32_sums_are_as_good_as_torchs(kernels: Kernels, operator: str, dims: list[int]) -> None:
    values = random_tensor((1000, 1003), torch.float32, low=0, high=1)
    function = getattr(torch, operator.split(".")[0])
    exact = function(values.double(), dims)
    out = torch.empty(exact.shape)
    kernels.run(f"aten::{operator}", [values, dims, False, None, out])
    torch_error = (function(values, dims).double() - exact).abs().max()
    ulp = torch.finfo(torch.float32).eps * exact.max()
    assert (out.double() - exact).abs().max() <= torch_error + ulp


def test_float64_sums_have_float64_accuracy(kernels: Kernels) -> None:
    values = random_tensor((100_000,), torch.float64, low=0, high=1)
    out = torch.empty((), dtype=torch.float64)
    kernels.run("aten::sum.IntList_out", [values, None, False, None, out])
    exact = math.fsum(values.tolist())
    assert abs(out.item() - exact) <= 1e-15 * exact


def test_sixteen_bit_sums_are_held_in_float(kernels: Kernels) -> None:
    for dtype in (torch.float16, torch.bfloat16):
        kernels.check("aten::sum.IntList_out", torch.full((5000,), 0.5, dtype=dtype), [0])
        kernels.check("aten::mean.out", torch.full((4096,), 40.0, dtype=dtype), [0])


def test_nan_and_infinity_go_through(kernels: Kernels) -> None:
    values = torch.tensor([[1.0, math.inf], [math.inf, -math.inf], [math.nan, 1.0], [1.0, 2.0]])
    kernels.check("aten::sum.IntList_out", values, [1])
    kernels.check("aten::mean.out", values, [1])


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 4)])
@pytest.mark.parametrize("dims", [None, [0], [-1]])
def test_reductions_of_nothing(kernels: Kernels, dims: list[int] | None, shape: tuple[int, ...]) -> None:
    values = torch.empty(shape)
    kernels.check("aten::sum.IntList_out", values, dims)
    kernels.check("aten::mean.out", values, dims)
    kernels.check("aten::any.dims_out", values, dims)


@pytest.mark.parametrize("dims", [None, [], [0], [-1]])
def test_reductions_of_zero_dim_tensors(kernels: Kernels, dims: list[int] | None) -> None:
    for keepdim in (False, True):
        kernels.check("aten::sum.IntList_out", torch.tensor(3.5), dims, keepdim)
        kernels.check("aten::mean.out", torch.tensor(3.5), dims, keepdim)
        kernels.check("aten::any.dims_out", torch.tensor(3.5), dims, keepdim)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 1, 0, 2], [1, 0, 3, 2]])
@pytest.mark.parametrize("dims", [[2, 3], [1], [0, 3], [0, 1, 2, 3]])
@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions_across_dim_orders(
    kernels: Kernels, keepdim: bool, dims: list[int], order: list[int]
) -> None:
    values = with_dim_order(random_tensor((2, 3, 5, 4), torch.float32), order)
    close = {"rtol": 1.3e-6, "atol": 5e-6}
    kernels.check("aten::sum.IntList_out", values, dims, keepdim, **close)
    kernels.check("aten::mean.out", values.double(), dims, keepdim)
    if keepdim:
        kernels.check("aten::sum.IntList_out", values, dims, True, out_dim_order=[0, 2, 3, 1], **close)


@pytest.mark.parametrize("shape", [(3, 300, 7, 7), (1, 700, 1, 2), (2, 5, 90, 50), (600, 1, 1, 11)])
@pytest.mark.parametrize("dims", [[2, 3], [3], [1, 3]])
def test_many_short_rows(kernels: Kernels, dims: list[int], shape: tuple[int, ...]) -> None:
    values = random_tensor(shape, torch.float32)
    close = {"rtol": 1.3e-6, "atol": 1e-4}
    kernels.check("aten::sum.IntList_out", values, dims, **close)
    kernels.check("aten::mean.out", values, dims, True, **close, out_dim_order=[0, 2, 3, 1])
    kernels.check("aten::var.correction_out", values, dims, **close)
    kernels.check("aten::amax.out", values, dims)


@settings(max_examples=60, deadline=None)
@given(
    shape=hnp.array_shapes(min_dims=1, max_dims=6, min_side=0, max_side=4),
    data=st.data(),
    keepdim=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.int32]),
)
def test_any_shape_over_any_dimensions(
    kernels: Kernels, shape: tuple[int, ...], data: st.DataObject, keepdim: bool, dtype: torch.dtype
) -> None:
    dims = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True))
    order = data.draw(st.permutations(range(len(shape))))
    values = with_dim_order(random_tensor(shape, dtype), order)
    kernels.check("aten::sum.IntList_out", values, dims, keepdim, rtol=1e-5, atol=1e-4)
    kernels.check("aten::any.dims_out", values, dims, keepdim)


@pytest.mark.parametrize("dims", [[3], [-4], [0, 0], [0, -3]])
@pytest.mark.parametrize("operator", ["sum.IntList_out", "mean.out", "any.dims_out"])
def test_dimensions_out_of_range_or_repeated_are_refused(
    kernels: Kernels, operator: str, dims: list[int]
) -> None:
    out = torch.empty(3, 4, dtype=torch.bool if operator.startswith("any") else torch.float32)
    refused = kernels.refuse(f"aten::{operator}", torch.ones(2, 3, 4), dims, outs=[out])
    assert refused.error == "InvalidArgument" and "dim" in refused.log[0]


def test_wrong_outputs_are_refused(kernels: Kernels) -> None:
    values = torch.ones(2, 3)
    assert (
        kernels.refuse("aten::sum.IntList_out", values, [0], outs=[torch.ones(2)]).error == "InvalidArgument"
    )
    for operator in ("sum.IntList_out", "mean.out"):
        refused = kernels.refuse(f"aten::{operator}", values, [0], dtype=torch.float64, outs=[torch.ones(3)])
        assert refused.error == "InvalidType" and "float64" in refused.log[0]
    assert kernels.refuse("aten::any.all_out", values, outs=[torch.tensor(0.0)]).error == "InvalidType"


@pytest.mark.parametrize("dtype", INTEGRAL)
def test_the_mean_of_integers_is_refused(kernels: Kernels, dtype: torch.dtype) -> None:
    refused = kernels.refuse("aten::mean.out", torch.ones(3, dtype=dtype), [0], outs=[torch.tensor(0.0)])
    assert refused.error == "InvalidType"
