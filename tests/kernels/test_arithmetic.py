# SPDX-License-Identifier: BSD-3-Clause
"""add, sub, mul, div, floor_divide and remainder against torch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

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
    assert_equal,
    random_tensor,
    with_dim_order,
)

LINEAR = ["aten::add", "aten::sub"]
QUOTIENTS = ["aten::floor_divide.out", "aten::remainder.Tensor_out"]
SCALAR_QUOTIENTS = ["aten::floor_divide.Scalar_out", "aten::remainder.Scalar_out"]
MODES = [None, "trunc", "floor"]
LOW = [torch.float16, torch.bfloat16]


def wide(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """`function` computed in float64 and rounded once; torch rounds twice in the last elements of its
    vectors."""
    return lambda a, b, **kwargs: function(a.double(), b.double(), **kwargs).to(a.dtype)


def nonzero(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    """Like random_tensor, without zeros."""
    values = random_tensor(shape, dtype, seed=seed)
    return torch.where(values == 0, torch.full_like(values, 3), values)


def extremes(dtype: torch.dtype) -> torch.Tensor:
    """[8]: the ends of an integer type and small numbers of both signs."""
    info = torch.iinfo(dtype)
    values = [info.min, info.min + 1, info.max, info.max - 1, 1, 2, 3, -1 if dtype.is_signed else 5]
    return torch.tensor(values, dtype=dtype)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("alpha", [1, 3])
@pytest.mark.parametrize("name", LINEAR)
def test_scaled_sums_of_every_dtype(kernels: Kernels, name: str, alpha: int, dtype: torch.dtype) -> None:
    a, b = random_tensor((5, 7), dtype, seed=1), random_tensor((5, 7), dtype, seed=2)
    reference = wide(getattr(torch, name.removeprefix("aten::"))) if dtype in LOW else None
    kernels.check(f"{name}.out", a, b, alpha=alpha, eager=reference)
    kernels.check(f"{name}.Scalar_out", a, 3, alpha)


def test_sums_of_bool_are_or(kernels: Kernels) -> None:
    a, b = random_tensor((5, 7), torch.bool, seed=1), random_tensor((5, 7), torch.bool, seed=2)
    for alpha in (1, True, 0):
        kernels.check("aten::add.out", a, b, alpha=alpha)
    kernels.check("aten::add.Scalar_out", a, True)


@pytest.mark.parametrize("dtype", ALL)
def test_products_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = random_tensor((5, 7), dtype, seed=1), random_tensor((5, 7), dtype, seed=2)
    kernels.check("aten::mul.out", a, b)
    kernels.check("aten::mul.Scalar_out", a, True if dtype == torch.bool else 3)


@pytest.mark.parametrize("dtype", ALL)
def test_true_quotients_of_every_dtype_are_floating(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = random_tensor((5, 7), dtype, seed=1), random_tensor((5, 7), dtype, seed=2)
    kernels.check("aten::div.out", a, b)
    kernels.check("aten::div.out_mode", a, b, rounding_mode=None)
    kernels.check("aten::div.Scalar_out", a, 3)
    kernels.check("aten::div.Scalar_mode_out", a, 3, rounding_mode=None)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("mode", ["trunc", "floor"])
def test_rounded_quotients_of_every_dtype(kernels: Kernels, mode: str, dtype: torch.dtype) -> None:
    a, b = random_tensor((5, 7), dtype, seed=1), nonzero((5, 7), dtype, seed=2)
    kernels.check("aten::div.out_mode", a, b, rounding_mode=mode)
    kernels.check("aten::div.Scalar_mode_out", a, 3, rounding_mode=mode)


@pytest.mark.parametrize("dtype", REAL)
def test_floor_divide_and_remainder_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = random_tensor((5, 7), dtype, seed=1), nonzero((5, 7), dtype, seed=2)
    for name in QUOTIENTS:
        kernels.check(name, a, b)
    for name, divisor in itertools.product(SCALAR_QUOTIENTS, [3, -2] if dtype.is_signed else [3]):
        kernels.check(name, a, divisor)
    kernels.check("aten::remainder.Scalar_Tensor_out", 17, b)


@pytest.mark.parametrize("dtype", INTEGRAL)
def test_integers_wrap_at_the_ends_of_their_range(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = torch.meshgrid(extremes(dtype), extremes(dtype), indexing="ij")
    a, b = a.contiguous(), b.contiguous()
    kernels.check("aten::add.out", a, b, alpha=7)
    kernels.check("aten::sub.out", a, b, alpha=7)
    kernels.check("aten::mul.out", a, b)
    # torch traps if the lowest integer is divided by -1; see the next test.
    divisor = torch.where((b == 0) | (a == a.min()) & (b == -1), torch.full_like(b, 2), b)
    for mode in ("trunc", "floor"):
        kernels.check("aten::div.out_mode", a, divisor, rounding_mode=mode)
    for name in QUOTIENTS:
        kernels.check(name, a, divisor)


@pytest.mark.parametrize("dtype", [dtype for dtype in INTEGRAL if dtype.is_signed])
def test_the_lowest_integer_divided_by_minus_one_wraps(kernels: Kernels, dtype: torch.dtype) -> None:
    lowest, minus_one = torch.tensor([torch.iinfo(dtype).min], dtype=dtype), torch.tensor([-1], dtype=dtype)
    for mode in ("trunc", "floor"):
        out = torch.zeros_like(lowest)
        kernels.run("aten::div.out_mode", [lowest, minus_one, mode, out])
        assert_equal(out, lowest)
    out = torch.ones_like(lowest)
    kernels.run("aten::remainder.Tensor_out", [lowest, minus_one, out])
    assert_equal(out, torch.zeros_like(lowest))


@pytest.mark.parametrize("dtype", UNSIGNED_WIDE)
def test_wide_unsigned_products_wrap(kernels: Kernels, dtype: torch.dtype) -> None:
    highest = torch.tensor([torch.iinfo(dtype).max, 2, 3], dtype=dtype)
    kernels.check("aten::mul.out", highest, highest)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("mode", MODES)
def test_quotients_of_special_numbers(kernels: Kernels, mode: str | None, dtype: torch.dtype) -> None:
    special = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan], dtype=dtype)
    a, b = special[:, None].contiguous(), special[None, :].contiguous()
    kernels.check("aten::div.out_mode", a, b, rounding_mode=mode)
    kernels.check("aten::remainder.Tensor_out", a, b)
    kernels.check("aten::floor_divide.out", a, b)


def test_floored_quotient_agrees_with_remainder_where_division_rounds_up(kernels: Kernels) -> None:
    a, b = torch.tensor([0.9, -0.9, 1.0]), torch.tensor([0.1, 0.1, 0.1])
    kernels.check("aten::div.out_mode", a, b, rounding_mode="floor")
    kernels.check("aten::remainder.Tensor_out", a, b, atol=0)


@pytest.mark.parametrize("dtype", INTEGRAL)
def test_an_integer_divided_by_zero_is_refused(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = torch.ones(3, dtype=dtype), torch.tensor([1, 0, 2], dtype=dtype)
    outs = [torch.empty(3, dtype=dtype)]
    for mode in ("trunc", "floor"):
        assert (
            kernels.refuse("aten::div.out_mode", a, b, rounding_mode=mode, outs=outs).error
            == "InvalidArgument"
        )
    for name in QUOTIENTS:
        assert kernels.refuse(name, a, b, outs=outs).error == "InvalidArgument"
    for name in SCALAR_QUOTIENTS:
        assert "other" in kernels.refuse(name, a, 0, outs=outs).log[0]


def test_a_divisor_that_narrows_to_zero_is_refused(kernels: Kernels) -> None:
    a, divisor = torch.ones(3, dtype=torch.int8), torch.tensor(256)
    kernels.refuse("aten::remainder.Tensor_out", a, divisor, outs=[torch.empty(3, dtype=torch.int8)])


@pytest.mark.parametrize(("first", "second"), list(itertools.product([torch.bool, *REAL], repeat=2)))
def test_mixed_dtypes_promote_as_in_torch(kernels: Kernels, first: torch.dtype, second: torch.dtype) -> None:
    a, b = random_tensor((4, 3), first, seed=1), nonzero((3,), second, seed=2)
    kernels.check("aten::add.out", a, b)
    kernels.check("aten::mul.out", a, b)
    kernels.check("aten::div.out", a, b)
    kernels.check("aten::add.out", a, b[0].clone())  # rank 0 with a higher rank
    kernels.check("aten::mul.out", a[0, 0].clone(), b)


@pytest.mark.parametrize("dtype", [torch.bool, *REAL])
@pytest.mark.parametrize("number", [2, 2.5, -1.75])
def test_numbers_promote_as_in_torch(kernels: Kernels, number: float, dtype: torch.dtype) -> None:
    a = random_tensor((4, 3), dtype)
    kernels.check("aten::add.Scalar_out", a, number)
    kernels.check("aten::sub.out", random_tensor((4, 3), torch.float32), random_tensor((), torch.float64))
    kernels.check("aten::mul.Scalar_out", a, number)
    kernels.check("aten::div.Scalar_out", a, number)
    kernels.check("aten::mul.Scalar_out", a[0, 0].clone(), number)


@pytest.mark.parametrize("dtype", LOW)
def test_numbers_meet_low_precision_as_in_torch(kernels: Kernels, dtype: torch.dtype) -> None:
    values = torch.linspace(-4, 4, 301).to(dtype)
    exact = {"rtol": 0, "atol": 0}
    for number in (0.1, torch.tensor(0.1)):
        overload = "Scalar_out" if isinstance(number, float) else "out"
        for name in ("add", "sub", "mul", "div"):
            kernels.check(f"aten::{name}.{overload}", values, number, **exact)
    kernels.check("aten::remainder.Scalar_out", values, 0.1, **exact)
    kernels.check("aten::floor_divide.Scalar_out", values, 0.1, **exact)


@pytest.mark.parametrize("dtype", INTEGRAL)
@pytest.mark.parametrize("out_dtype", [torch.int64, torch.float32, torch.bfloat16])
def test_results_are_stored_in_wider_dtypes(
    kernels: Kernels, out_dtype: torch.dtype, dtype: torch.dtype
) -> None:
    a, b = random_tensor((4, 3), dtype, seed=1), random_tensor((4, 3), dtype, seed=2)
    kernels.check("aten::mul.out", a, b, out_dtype=out_dtype)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 1, 0, 2], [0, 1, 2, 3]])
@pytest.mark.parametrize("out_order", [[0, 2, 3, 1], [0, 1, 2, 3]])
def test_operands_of_different_dim_orders(kernels: Kernels, out_order: list[int], order: list[int]) -> None:
    a = with_dim_order(random_tensor((2, 3, 5, 4), torch.float32, seed=1), order)
    b = random_tensor((3, 1, 4), torch.float32, seed=2)
    kernels.check("aten::sub.out", a, b, out_dim_order=out_order)
    kernels.check("aten::add.out", a, a, out_dim_order=out_order)
    kernels.check("aten::mul.out", a, b.to(torch.float16), out_dim_order=out_order)


@settings(max_examples=60, deadline=None)
@given(
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=5, min_side=0, max_side=5),
    dtypes=st.tuples(st.sampled_from(REAL), st.sampled_from(REAL)),
)
def test_any_two_broadcastable_shapes(
    kernels: Kernels, shapes: hnp.BroadcastableShapes, dtypes: tuple[torch.dtype, torch.dtype]
) -> None:
    first, second = shapes.input_shapes
    a, b = random_tensor(first, dtypes[0], seed=1), random_tensor(second, dtypes[1], seed=2)
    kernels.check("aten::add.out", a, b)
    kernels.check("aten::mul.out", a, b)


def test_rank_sixteen_broadcasts(kernels: Kernels) -> None:
    shape = (2, 1, 2, 1) * 4
    kernels.check(
        "aten::add.out", random_tensor(shape, torch.float32), random_tensor(shape[::-1], torch.float32)
    )


def test_a_tensor_may_be_its_own_output(kernels: Kernels) -> None:
    a, b = random_tensor((3, 4), torch.float32, seed=1), random_tensor((4,), torch.float32, seed=2)
    expected = a * b
    kernels.run("aten::mul.out", [a, b, a])
    assert_equal(a, expected)


def test_shapes_that_do_not_broadcast_are_refused(kernels: Kernels) -> None:
    refused = kernels.refuse("aten::add.out", torch.ones(2, 3), torch.ones(2), outs=[torch.ones(2, 3)])
    assert refused.error == "InvalidArgument"
    assert "[2, 3]" in refused.log[0] and "[2]" in refused.log[0]


def test_an_output_of_another_shape_is_refused(kernels: Kernels) -> None:
    refused = kernels.refuse("aten::mul.out", torch.ones(2, 3), torch.ones(3), outs=[torch.ones(3, 2)])
    assert refused.error == "InvalidArgument"
    assert "[2, 3]" in refused.log[-1] and "[3, 2]" in refused.log[-1]


def test_an_output_that_cannot_hold_the_result_is_refused(kernels: Kernels) -> None:
    whole = torch.ones(3, dtype=torch.int32)
    assert kernels.refuse("aten::div.out", whole, whole, outs=[whole.clone()]).error == "InvalidType"
    assert kernels.refuse("aten::add.out", whole, whole, outs=[whole.bool()]).error == "InvalidType"


def test_a_factor_of_another_kind_is_refused(kernels: Kernels) -> None:
    whole = torch.ones(3, dtype=torch.int32)
    for name in LINEAR:
        refused = kernels.refuse(f"{name}.out", whole, whole, alpha=1.5, outs=[whole.clone()])
        assert "alpha" in refused.log[0]
        refused = kernels.refuse(f"{name}.Scalar_out", whole, 1, True, outs=[whole.clone()])
        assert "alpha" in refused.log[0]


def test_dtypes_an_operator_does_not_have_are_refused(kernels: Kernels) -> None:
    mask = torch.ones(3, dtype=torch.bool)
    assert kernels.refuse("aten::sub.out", mask, mask, outs=[mask.clone()]).error == "InvalidType"
    assert kernels.refuse("aten::sub.Scalar_out", mask.int(), True, outs=[mask.int()]).error == "InvalidType"
    assert (
        kernels.refuse("aten::remainder.Tensor_out", mask, mask, outs=[mask.clone()]).error == "InvalidType"
    )
    complex_tensor = torch.ones(3, dtype=torch.complex64)
    assert kernels.refuse("aten::add.out", complex_tensor, mask, outs=[torch.ones(3)]).error == "InvalidType"


def test_an_unknown_rounding_mode_is_refused(kernels: Kernels) -> None:
    refused = kernels.refuse(
        "aten::div.out_mode", torch.ones(3), torch.ones(3), rounding_mode="nearest", outs=[torch.ones(3)]
    )
    assert "nearest" in refused.log[0]
