# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one element against torch."""

from __future__ import annotations

import math

import pytest
import torch

from support.harness import (
    ALL,
    FLOATING,
    INTEGRAL,
    REAL,
    UNSIGNED_WIDE,
    Kernels,
    assert_equal,
    poison,
    random_tensor,
    with_dim_order,
)

FUNCTIONS = [
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "exp", "exp2", "expm1", "log"),
    *("log10", "log1p", "log2", "reciprocal", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh"),
]
ROUNDINGS = ["ceil", "floor", "round", "trunc"]
SHAPES = [(), (0,), (1,), (7,), (3, 0, 2), (2, 3, 5), (1, 4, 1, 3)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 88.0, -104.0, 1e-8, math.inf, -math.inf, math.nan]
# torch and the C library round transcendental functions differently in the last place or two.
CLOSE = {"rtol": 3e-6, "atol": 1e-7}
APPROXIMATIONS = ["none", "tanh"]


def tolerance(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances of a transcendental function's result: looser than one rounding for float32 only."""
    return CLOSE if dtype == torch.float32 or not dtype.is_floating_point else {}


def test_the_sign_of_nan_is_nan_as_executorch_has_it(kernels: Kernels) -> None:
    x, out = torch.tensor([-math.inf, -0.0, math.nan, 2.0]), poison(torch.empty(4))
    kernels.run("aten::sign.out", [x, out])
    assert_equal(out, torch.tensor([-1.0, 0.0, math.nan, 1.0]))


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_gelu_of_infinities_is_its_limit(kernels: Kernels, approximation: str) -> None:
    x, out = torch.tensor([-math.inf, math.inf, math.nan]), poison(torch.empty(3))
    kernels.run("aten::gelu.out", [x, approximation, out])
    assert_equal(out, torch.tensor([0.0, math.inf, math.nan]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["exp", "log", "sinh"])
def test_functions_of_half_are_not_rounded_into_a_wider_output(
    kernels: Kernels, name: str, dtype: torch.dtype
) -> None:
    x = torch.tensor([0.25, 1.0, 3.0, 9.0], dtype=dtype)
    for wider in [torch.float32, torch.float64]:
        out = poison(torch.empty(4, dtype=wider))
        kernels.run(f"aten::{name}.out", [x, out])
        assert_equal(out, getattr(torch, name)(x.float()).to(wider), **CLOSE)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_every_dtype_are_floating(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    values = random_tensor((9, 11), dtype, low=0, high=7)
    kernels.check(f"aten::{name}.out", values, **tolerance(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", [*FUNCTIONS, *ROUNDINGS, "abs", "neg", "relu", "square"])
def test_special_numbers(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    kernels.check(f"aten::{name}.out", torch.tensor(SPECIAL, dtype=dtype), **tolerance(dtype))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["exp", "relu", "gelu"])
def test_every_rank_and_empty_tensors(kernels: Kernels, name: str, shape: tuple[int, ...]) -> None:
    kernels.check(f"aten::{name}.out", random_tensor(shape, torch.float32), rtol=3e-6, atol=2e-6)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_around_zero(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    values = random_tensor((7, 13), dtype, low=-1.5, high=1.5)
    kernels.check(f"aten::{name}.out", values, **tolerance(dtype))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", ["abs", "neg", "relu", "square"])
def test_arithmetic_of_every_dtype(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    kernels.check(f"aten::{name}.out", random_tensor((9, 11), dtype))


@pytest.mark.parametrize("dtype", INTEGRAL)
@pytest.mark.parametrize("name", ["abs", "neg", "square"])
def test_arithmetic_of_the_ends_wraps(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    info = torch.iinfo(dtype)
    kernels.check(f"aten::{name}.out", torch.tensor([info.min, info.max, info.min + 1], dtype=dtype))


def test_sign_and_square_of_bool(kernels: Kernels) -> None:
    mask = torch.tensor([True, False])
    kernels.check("aten::sign.out", mask)
    kernels.check("aten::square.out", mask)


@pytest.mark.parametrize("dtype", [*REAL, *UNSIGNED_WIDE])
@pytest.mark.parametrize("name", ROUNDINGS)
def test_rounding_of_every_dtype(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    kernels.check(f"aten::{name}.out", random_tensor((9, 11), dtype, low=-90, high=90))
    if dtype.is_floating_point:
        kernels.check(f"aten::{name}.out", torch.arange(-9, 9).to(dtype) / 2)


@pytest.mark.parametrize("decimals", [0, 1, 3, -1, -2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_to_decimals(kernels: Kernels, dtype: torch.dtype, decimals: int) -> None:
    values = random_tensor((9, 11), dtype, low=-900, high=900)
    kernels.check("aten::round.decimals_out", values, decimals=decimals)
    special = torch.tensor([0.5, -2.5, 1e30, math.inf, math.nan], dtype=dtype)
    kernels.check("aten::round.decimals_out", special, decimals=decimals)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rounding_16_bits_to_decimals_rounds_once(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((9, 11), dtype, low=-9, high=9)
    exact = torch.round(values.double(), decimals=2).to(dtype)
    kernels.check("aten::round.decimals_out", values, decimals=2, eager=lambda *_, **__: exact)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["isinf", "isnan"])
def test_classification_of_every_dtype(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    kernels.check(f"aten::{name}.out", random_tensor((9, 11), dtype))
    if dtype.is_floating_point:
        values = torch.tensor(SPECIAL, dtype=dtype)
        kernels.check(f"aten::{name}.out", values)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("approximate", APPROXIMATIONS)
def test_gelu_of_every_dtype(kernels: Kernels, approximate: str, dtype: torch.dtype) -> None:
    values = random_tensor((31, 9), dtype, low=-6, high=6)
    # Far below zero the result is a difference of nearly equal values.
    kernels.check(
        "aten::gelu.out",
        values,
        approximate=approximate,
        eager=torch.nn.functional.gelu,
        atol=1e-12 if dtype == torch.float64 else 2e-6,
    )


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("approximate", APPROXIMATIONS)
def test_gelu_saturates(kernels: Kernels, approximate: str, dtype: torch.dtype) -> None:
    values = torch.tensor([math.inf, -104.0, 88.0, 0.0, math.nan], dtype=dtype)
    out = torch.empty_like(values)
    kernels.run("aten::gelu.out", [values, approximate, out])
    assert_equal(out, torch.tensor([math.inf, 0.0, 88.0, 0.0, math.nan], dtype=dtype))


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 2, 3, 1], [2, 0, 3, 1]])
def test_input_and_output_of_different_dim_orders(kernels: Kernels, order: list[int]) -> None:
    values = with_dim_order(random_tensor((2, 3, 5, 4), torch.float32), order)
    kernels.check("aten::relu.out", values)
    kernels.check("aten::relu.out", values, out_dim_order=[0, 2, 3, 1])


def test_a_floating_result_does_not_go_into_an_integer_output(kernels: Kernels) -> None:
    whole = torch.ones(3, dtype=torch.int32)
    for name in FUNCTIONS:
        assert kernels.refuse(f"aten::{name}.out", whole, outs=[whole.clone()]).error == "InvalidType"


def test_an_operator_refuses_dtypes_it_does_not_have(kernels: Kernels) -> None:
    mask = torch.ones(3, dtype=torch.bool)
    for name in (*ROUNDINGS, "abs", "neg", "relu"):
        assert kernels.refuse(f"aten::{name}.out", mask, outs=[mask.clone()]).error == "InvalidType"
    whole = torch.ones(3, dtype=torch.int32)
    assert kernels.refuse("aten::gelu.out", whole, outs=[whole.clone()]).error == "InvalidType"


def test_gelu_refuses_an_unknown_approximation(kernels: Kernels) -> None:
    refused = kernels.refuse("aten::gelu.out", torch.ones(3), approximate="erf", outs=[torch.ones(3)])
    assert refused.error == "InvalidArgument" and "erf" in refused.log[0]
