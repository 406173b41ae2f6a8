# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one element against torch."""

from __future__ import annotations

import math

import pytest
import torch
from harness import ALL, FLOATING, REAL, Kernels, assert_equal, random_tensor, with_dim_order

SHAPES = [(), (0,), (1,), (7,), (3, 0, 2), (2, 3, 5), (1, 4, 1, 3)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 88.0, -104.0, 1e-8, math.inf, -math.inf, math.nan]
# torch and the C library round transcendental functions differently in the last place or two.
CLOSE = {"rtol": 3e-6, "atol": 1e-7}
APPROXIMATIONS = ["none", "tanh"]


def tolerance(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances of a transcendental function's result: looser than one rounding for float32 only."""
    return CLOSE if dtype == torch.float32 or not dtype.is_floating_point else {}


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["exp", "log1p", "sigmoid", "tanh"])
def test_functions_of_every_dtype_are_floating(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    values = random_tensor((9, 11), dtype, low=0, high=7)
    kernels.check(f"aten::{name}.out", values, **tolerance(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", ["exp", "log1p", "sigmoid", "tanh", "relu"])
def test_special_numbers(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    kernels.check(f"aten::{name}.out", torch.tensor(SPECIAL, dtype=dtype), **tolerance(dtype))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["exp", "relu", "gelu"])
def test_every_rank_and_empty_tensors(kernels: Kernels, name: str, shape: tuple[int, ...]) -> None:
    kernels.check(f"aten::{name}.out", random_tensor(shape, torch.float32), rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", REAL)
def test_relu_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::relu.out", random_tensor((9, 11), dtype))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("approximate", APPROXIMATIONS)
def test_gelu_of_every_dtype(kernels: Kernels, approximate: str, dtype: torch.dtype) -> None:
    values = random_tensor((31, 9), dtype, low=-6, high=6)
    # Far below zero the result is a difference of nearly equal numbers.
    kernels.check(
        "aten::gelu.out",
        values,
        approximate=approximate,
        eager=torch.nn.functional.gelu,
        atol=1e-12 if dtype == torch.float64 else 1e-6,
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
    for name in ("exp", "log1p"):
        assert kernels.refuse(f"aten::{name}.out", whole, outs=[whole.clone()]).error == "InvalidType"


def test_an_operator_refuses_dtypes_it_does_not_have(kernels: Kernels) -> None:
    mask = torch.ones(3, dtype=torch.bool)
    assert kernels.refuse("aten::relu.out", mask, outs=[mask.clone()]).error == "InvalidType"
    whole = torch.ones(3, dtype=torch.int32)
    assert kernels.refuse("aten::gelu.out", whole, outs=[whole.clone()]).error == "InvalidType"


def test_gelu_refuses_an_unknown_approximation(kernels: Kernels) -> None:
    refused = kernels.refuse("aten::gelu.out", torch.ones(3), approximate="erf", outs=[torch.ones(3)])
    assert refused.error == "InvalidArgument" and "erf" in refused.log[0]
