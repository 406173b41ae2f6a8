# SPDX-License-Identifier: BSD-3-Clause
"""max, min and their like against torch."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import REAL, Kernels, random_tensor, with_dim_order

REAL_BOOL = [torch.bool, *REAL]
NAN, INF = math.nan, math.inf
SIDES = ["max", "min"]
SPECIAL = torch.tensor([[1, NAN, 3, NAN], [INF, -INF, 0, -0.0], [NAN, INF, -INF, 2], [2, 2, 1, 1]])


@pytest.mark.parametrize("dtype", REAL_BOOL)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("side", SIDES)
def test_the_extremum_along_a_dimension(
    kernels: Kernels, side: str, dim: int, keepdim: bool, dtype: torch.dtype
) -> None:
    values = random_tensor((4, 7, 5), dtype)
    kernels.check(f"aten::{side}.dim_{side}", values, dim, keepdim)
    if dtype != torch.bool:
        kernels.check(f"aten::arg{side}.out", values, dim, keepdim)
    kernels.check(f"aten::a{side}.out", values, [dim], keepdim)


@pytest.mark.parametrize("dtype", REAL_BOOL)
@pytest.mark.parametrize("side", SIDES)
def test_the_extremum_of_a_whole_tensor(kernels: Kernels, side: str, dtype: torch.dtype) -> None:
    for shape in ((6, 11), (1,), (), (2, 1, 3)):
        values = random_tensor(shape, dtype)
        kernels.check(f"aten::{side}.unary_out", values)
        for keepdim in (False, True):
            kernels.check(f"aten::a{side}.out", values, [], keepdim)
            if dtype != torch.bool:
                kernels.check(f"aten::arg{side}.out", values, None, keepdim)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", [[0, 1], [2, 0], [-1, 1], [0, 1, 2]])
@pytest.mark.parametrize("side", SIDES)
def test_the_extremum_over_several_dimensions(
    kernels: Kernels, side: str, dims: list[int], keepdim: bool
) -> None:
    kernels.check(f"aten::a{side}.out", random_tensor((4, 7, 5), torch.float32), dims, keepdim)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("side", SIDES)
def test_nan_wins_and_the_first_of_equals(kernels: Kernels, side: str, dtype: torch.dtype) -> None:
    values = SPECIAL.to(dtype)
    for dim in (0, 1):
        kernels.check(f"aten::{side}.dim_{side}", values, dim)
        kernels.check(f"aten::arg{side}.out", values, dim)
        kernels.check(f"aten::a{side}.out", values, [dim])
    for part in (values, values[1], values[3], values[:, 0]):
        kernels.check(f"aten::{side}.unary_out", part.contiguous())
        kernels.check(f"aten::arg{side}.out", part.contiguous())
    for integer in (torch.tensor([1, 3, 3, 1, 1]), torch.tensor([True, False, False, True])):
        kernels.check(f"aten::{side}.dim_{side}", integer, 0)


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (3, 1, 0, 2)])
@pytest.mark.parametrize("side", SIDES)
def test_the_extremum_in_other_dim_orders(kernels: Kernels, side: str, order: tuple[int, ...]) -> None:
    values = with_dim_order(random_tensor((2, 3, 4, 5), torch.int32), order)
    for dim in range(4):
        kernels.check(f"aten::{side}.dim_{side}", values, dim, True, out_dim_order=(0, 2, 3, 1))
        kernels.check(f"aten::arg{side}.out", values, dim)
        kernels.check(f"aten::a{side}.out", values, [dim, (dim + 1) % 4])
    # Indices into a whole tensor count in row-major order, whatever its dim order.
    kernels.check(f"aten::arg{side}.out", values, eager=lambda x: getattr(x.contiguous(), f"arg{side}")())


@pytest.mark.parametrize("side", SIDES)
def test_tensors_without_dimensions_or_elements(kernels: Kernels, side: str) -> None:
    number = torch.tensor(2.5)
    for dim in (0, -1):
        for keepdim in (False, True):
            kernels.check(f"aten::{side}.dim_{side}", number, dim, keepdim)
            kernels.check(f"aten::arg{side}.out", number, dim, keepdim)
            kernels.check(f"aten::a{side}.out", number, [dim], keepdim)
    for shape, dim in (((0, 3), 1), ((2, 0, 3), 0), ((2, 0, 3), -1)):
        kernels.check(f"aten::{side}.dim_{side}", torch.zeros(shape), dim)
        kernels.check(f"aten::arg{side}.out", torch.zeros(shape), dim, True)
        kernels.check(f"aten::a{side}.out", torch.zeros(shape), [dim])


@pytest.mark.parametrize("side", SIDES)
def test_the_extremum_of_nothing_is_refused(kernels: Kernels, side: str) -> None:
    empty, value, index = torch.zeros(2, 0), torch.zeros(2), torch.zeros(2, dtype=torch.int64)
    for refused in (
        kernels.refuse(f"aten::{side}.dim_{side}", empty, 1, outs=[value, index]),
        kernels.refuse(f"aten::arg{side}.out", empty, 1, outs=[index]),
        kernels.refuse(f"aten::arg{side}.out", empty, outs=[index[0]]),
        kernels.refuse(f"aten::a{side}.out", empty, [-1], outs=[value]),
        kernels.refuse(f"aten::a{side}.out", empty, outs=[value[0]]),
    ):
        assert refused.error == "InvalidArgument" and "dimension 1" in refused.log[0]


@pytest.mark.parametrize("side", SIDES)
def test_extremum_arguments_that_do_not_fit_are_refused(kernels: Kernels, side: str) -> None:
    values, index, wide = torch.ones(3, 4), torch.zeros(3, dtype=torch.int64), torch.ones(3).double()
    whole = f"aten::{side}.dim_{side}"
    assert kernels.refuse(whole, values, 1, outs=[wide, index]).error == "InvalidType"
    assert kernels.refuse(whole, values, 1, outs=[torch.ones(3), index.int()]).error == "InvalidType"
    assert kernels.refuse(whole, values, 2, outs=[torch.ones(3), index]).error == "InvalidArgument"
    assert kernels.refuse(whole, values, 0, outs=[torch.ones(3), index]).error == "InvalidArgument"
    assert kernels.refuse(f"aten::arg{side}.out", values, 1, outs=[index.int()]).error == "InvalidType"
    assert kernels.refuse(f"aten::arg{side}.out", values, -3, outs=[index]).error == "InvalidArgument"
    assert kernels.refuse(f"aten::arg{side}.out", values > 0, 1, outs=[index]).error == "InvalidType"
    assert kernels.refuse(f"aten::a{side}.out", values, [1], outs=[wide]).error == "InvalidType"
    assert (
        kernels.refuse(f"aten::a{side}.out", values, [1, 1], outs=[wide.float()]).error == "InvalidArgument"
    )
    assert kernels.refuse(f"aten::{side}.unary_out", values, outs=[index[0]]).error == "InvalidType"
    complex_values = torch.ones(3, 4, dtype=torch.complex64)
    assert kernels.refuse(f"aten::{side}.unary_out", complex_values, outs=[wide[0]]).error == "InvalidType"


@pytest.mark.parametrize("side", SIDES)
def test_the_extremum_of_a_whole_tensor_in_a_wider_dtype(kernels: Kernels, side: str) -> None:
    kernels.check(f"aten::{side}.unary_out", torch.tensor([1.5, 2.5]), out_dtype=torch.float64)
    kernels.check(f"aten::{side}.unary_out", torch.tensor([1, -3]), out_dtype=torch.float16)


@pytest.mark.parametrize("other", REAL_BOOL)
@pytest.mark.parametrize("dtype", REAL_BOOL)
@pytest.mark.parametrize("side", SIDES)
def test_maximum_and_minimum_of_every_pair_of_dtypes(
    kernels: Kernels, side: str, dtype: torch.dtype, other: torch.dtype
) -> None:
    name = f"aten::{side}imum.out"
    kernels.check(name, random_tensor((3, 1, 5), dtype), random_tensor((4, 1), other, seed=1))
    kernels.check(name, random_tensor((3, 5), dtype), random_tensor((), other, seed=1))


@pytest.mark.parametrize("side", SIDES)
def test_maximum_and_minimum_pass_nan_on(kernels: Kernels, side: str) -> None:
    kernels.check(f"aten::{side}imum.out", SPECIAL[:, None], SPECIAL)
    kernels.check(f"aten::{side}imum.out", SPECIAL[:, None].half(), SPECIAL.half())
    for shape in ((0,), (2, 0, 1)):
        kernels.check(f"aten::{side}imum.out", torch.zeros(shape), torch.zeros(1))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.data(),
    st.sampled_from(SIDES),
    st.booleans(),
)
def test_the_extremum_of_any_shape(
    kernels: Kernels, shape: list[int], data: st.DataObject, side: str, keepdim: bool
) -> None:
    values = torch.tensor(
        data.draw(
            st.lists(
                st.sampled_from([-1.0, 0.0, 2.0, NAN]), min_size=math.prod(shape), max_size=math.prod(shape)
            )
        )
    ).reshape(shape)
    values = with_dim_order(values, data.draw(st.permutations(range(len(shape)))))
    dims = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    kernels.check(f"aten::a{side}.out", values, sorted(dims), keepdim)
    kernels.check(f"aten::{side}.dim_{side}", values, min(dims), keepdim)
    kernels.check(
        f"aten::arg{side}.out",
        values,
        None,
        keepdim,
        eager=lambda x, d, k: getattr(x.contiguous(), f"arg{side}")(d, k),
    )
