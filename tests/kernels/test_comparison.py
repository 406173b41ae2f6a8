# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons, bitwise and logical operators and where against torch."""

from __future__ import annotations

import itertools
import math

import hypothesis.extra.numpy as hnp
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import (
    ALL,
    FLOATING,
    INTEGRAL,
    REAL,
    UNSIGNED_WIDE,
    Kernels,
    random_tensor,
    with_dim_order,
)

COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
BITWISE = ["bitwise_and", "bitwise_or", "bitwise_xor"]
LOGICAL = ["logical_and", "logical_or", "logical_xor"]
REAL_BOOL = [torch.bool, *REAL]


@pytest.mark.parametrize("dtype", REAL_BOOL)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_of_every_dtype(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    a, b = random_tensor((6, 5), dtype, seed=1, high=2), random_tensor((5,), dtype, seed=2, high=2)
    kernels.check(f"aten::{name}.Tensor_out", a, b)
    kernels.check(f"aten::{name}.Tensor_out", a, a)
    for number in (1, 0.5, True):
        kernels.check(f"aten::{name}.Scalar_out", a, number)


@pytest.mark.parametrize("dtype", UNSIGNED_WIDE)
@pytest.mark.parametrize("name", ["eq", "ne"])
def test_equality_of_wide_unsigned_integers(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    a, b = random_tensor((6, 5), dtype, seed=1), random_tensor((5,), dtype, seed=2)
    kernels.check(f"aten::{name}.Tensor_out", a, b)
    kernels.check(f"aten::{name}.Scalar_out", a, 2)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", COMPARISONS)
def test_nan_equals_nothing_and_zeros_are_equal(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    special = torch.tensor([0.0, -0.0, 1.0, math.inf, -math.inf, math.nan], dtype=dtype)
    kernels.check(f"aten::{name}.Tensor_out", special[:, None].contiguous(), special)
    kernels.check(f"aten::{name}.Scalar_out", special, math.nan)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(REAL_BOOL, repeat=2)))
def test_mixed_dtypes_compare_in_their_promoted_type(
    kernels: Kernels, first: torch.dtype, second: torch.dtype
) -> None:
    a, b = random_tensor((4, 3), first, seed=1, high=3), random_tensor((3,), second, seed=2, high=3)
    kernels.check("aten::eq.Tensor_out", a, b)
    kernels.check("aten::lt.Tensor_out", a, b)
    kernels.check("aten::ge.Tensor_out", a, b[1].clone())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_are_rounded_before_they_are_compared(kernels: Kernels, dtype: torch.dtype) -> None:
    values = torch.tensor([0.1, 0.3, 256.0, 2048.0], dtype=dtype)
    for number in (0.1, 0.3, 257, 2049):
        kernels.check("aten::eq.Scalar_out", values, number)
        kernels.check("aten::lt.Tensor_out", values, torch.tensor(number))


def test_numbers_out_of_range_wrap(kernels: Kernels) -> None:
    kernels.check("aten::eq.Scalar_out", torch.tensor([255, 1], dtype=torch.uint8), -1)
    kernels.check("aten::lt.Scalar_out", torch.tensor([44, 40], dtype=torch.int8), 300)


@pytest.mark.parametrize("out_dtype", [torch.uint8, torch.int64, torch.float32, torch.bfloat16])
def test_truth_is_stored_in_any_dtype(kernels: Kernels, out_dtype: torch.dtype) -> None:
    a, b = random_tensor((6, 5), torch.float32, seed=1), random_tensor((5,), torch.float32, seed=2)
    kernels.check("aten::lt.Tensor_out", a, b, out_dtype=out_dtype)
    kernels.check("aten::logical_or.out", a, b, out_dtype=out_dtype)
    kernels.check("aten::logical_not.out", a, out_dtype=out_dtype)


@pytest.mark.parametrize("dtype", [torch.bool, *INTEGRAL, *UNSIGNED_WIDE])
@pytest.mark.parametrize("name", BITWISE)
def test_bitwise_operators_of_every_dtype(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    a, b = random_tensor((6, 5), dtype, seed=1, high=99), random_tensor((5,), dtype, seed=2, high=99)
    number = True if dtype == torch.bool else 6
    kernels.check(f"aten::{name}.Tensor_out", a, b)
    kernels.check(f"aten::{name}.Scalar_out", a, number)
    kernels.check(f"aten::{name}.Scalar_Tensor_out", number, b)


@pytest.mark.parametrize("dtype", [torch.bool, *INTEGRAL])
def test_bitwise_not_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::bitwise_not.out", random_tensor((6, 5), dtype, high=99))


@pytest.mark.parametrize("name", BITWISE)
def test_bits_of_floating_numbers_are_refused(kernels: Kernels, name: str) -> None:
    refused = kernels.refuse(f"aten::{name}.Tensor_out", torch.ones(2), torch.ones(2), outs=[torch.ones(2)])
    assert refused.error == "InvalidType"
    refused = kernels.refuse(f"aten::{name}.Scalar_out", torch.ones(2).int(), 0.5, outs=[torch.ones(2)])
    assert refused.error == "InvalidType"


@pytest.mark.parametrize(("first", "second"), list(itertools.product(REAL_BOOL, repeat=2)))
def test_logical_operators_of_every_pair_of_dtypes(
    kernels: Kernels, first: torch.dtype, second: torch.dtype
) -> None:
    a, b = random_tensor((6, 5), first, seed=1, high=1), random_tensor((5,), second, seed=2, high=1)
    for name in LOGICAL:
        kernels.check(f"aten::{name}.out", a, b)
    kernels.check("aten::logical_not.out", a)


def test_nan_is_true_and_negative_zero_is_false(kernels: Kernels) -> None:
    special = torch.tensor([0.0, -0.0, math.nan, math.inf, 1e-45, 0.25])
    kernels.check("aten::logical_not.out", special)
    kernels.check("aten::logical_and.out", special, torch.tensor(True))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("mask", [torch.bool, torch.uint8])
@pytest.mark.filterwarnings("ignore:where received a uint8 condition")
def test_where_of_every_dtype(kernels: Kernels, mask: torch.dtype, dtype: torch.dtype) -> None:
    condition = random_tensor((2, 1, 5), torch.bool, seed=1)
    if mask == torch.uint8:
        condition = condition.to(mask) * 200
    a, b = random_tensor((3, 5), dtype, seed=2), random_tensor((2, 3, 1), dtype, seed=3)
    kernels.check("aten::where.self_out", condition, a, b)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(REAL_BOOL, repeat=2)))
def test_where_promotes_its_branches(kernels: Kernels, first: torch.dtype, second: torch.dtype) -> None:
    condition = random_tensor((4, 3), torch.bool, seed=1)
    a, b = random_tensor((4, 3), first, seed=2), random_tensor((3,), second, seed=3)
    kernels.check("aten::where.self_out", condition, a, b)
    kernels.check("aten::where.self_out", condition, a, b[0].clone())


def test_where_keeps_nan_of_the_branch_not_taken_out(kernels: Kernels) -> None:
    condition = torch.tensor([True, False])
    kernels.check("aten::where.self_out", condition, torch.tensor([1.0, math.nan]), torch.tensor(2.0))


def test_where_refuses_a_condition_that_is_no_mask(kernels: Kernels) -> None:
    refused = kernels.refuse(
        "aten::where.self_out", torch.ones(2), torch.ones(2), torch.ones(2), outs=[torch.ones(2)]
    )
    assert refused.error == "InvalidType" and "condition" in refused.log[0]


@settings(max_examples=40, deadline=None)
@given(
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=5, min_side=0, max_side=4),
    dtype=st.sampled_from(REAL),
    seed=st.integers(0, 1000),
)
def test_where_of_any_three_broadcastable_shapes(
    kernels: Kernels, shapes: hnp.BroadcastableShapes, dtype: torch.dtype, seed: int
) -> None:
    first, second, third = shapes.input_shapes
    condition = random_tensor(first, torch.bool, seed=seed)
    a, b = random_tensor(second, dtype, seed=seed + 1), random_tensor(third, dtype, seed=seed + 2)
    kernels.check("aten::where.self_out", condition, a, b)
    kernels.check("aten::le.Tensor_out", a, b)


def test_where_across_dim_orders(kernels: Kernels) -> None:
    condition = random_tensor((2, 1, 5, 4), torch.bool, seed=1)
    a = with_dim_order(random_tensor((2, 3, 5, 4), torch.float32, seed=2), [0, 2, 3, 1])
    b = random_tensor((2, 3, 5, 4), torch.float32, seed=3)
    for order in ([0, 1, 2, 3], [0, 2, 3, 1]):
        kernels.check("aten::where.self_out", condition, a, b, out_dim_order=order)
