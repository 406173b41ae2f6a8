# SPDX-License-Identifier: BSD-3-Clause
"""pow, atan2, fmod and rsub against torch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from support.harness import ALL, FLOATING, INTEGRAL, REAL, Kernels, random_tensor

TENSORS = "aten::pow.Tensor_Tensor_out"
BY_NUMBER = "aten::pow.Tensor_Scalar_out"
OF_NUMBER = "aten::pow.Scalar_out"
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -3.0, math.inf, -math.inf, math.nan]
EXPONENTS = [0, 1, 2, 3, 0.5, -0.5, -1.0, -2.0, 1.7, -2.3, 7.0]


def close(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances: powers are off by a few units in the last place; torch also rounds 16-bit intermediate
    results."""
    if dtype in (torch.float16, torch.bfloat16):
        return {"rtol": 2e-3 if dtype == torch.float16 else 1.6e-2}
    return {} if dtype == torch.float64 else {"rtol": 5e-6}


@pytest.mark.parametrize("dtype", REAL)
def test_powers_of_tensors(kernels: Kernels, dtype: torch.dtype) -> None:
    base = random_tensor((9, 11), dtype, low=0, high=6)
    exponent = random_tensor((9, 11), dtype, low=-3, high=7, seed=1)
    kernels.check(TENSORS, base, exponent, **close(dtype))
    kernels.check(TENSORS, base, exponent[0], **close(dtype))


@pytest.mark.parametrize("dtype", INTEGRAL)
def test_powers_of_integers_wrap(kernels: Kernels, dtype: torch.dtype) -> None:
    base = torch.tensor([-3, -2, -1, 0, 1, 2, 3, 100]).to(dtype)
    exponent = torch.tensor([-3, -2, -1, 0, 1, 2, 7, 100]).to(dtype).reshape(8, 1)
    kernels.check(TENSORS, base, exponent)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_powers_of_special_numbers(kernels: Kernels, dtype: torch.dtype) -> None:
    values = torch.tensor(SPECIAL, dtype=dtype)
    kernels.check(TENSORS, values, values.reshape(-1, 1), **close(dtype))
    for exponent in EXPONENTS:
        kernels.check(BY_NUMBER, values, exponent, **close(dtype))
        kernels.check(OF_NUMBER, exponent, values, **close(dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_roots_of_special_numbers_in_16_bits(kernels: Kernels, dtype: torch.dtype) -> None:
    """Only float16 has the root of -infinity that pow has, and -0 without its sign."""
    for exponent in (0.5, -0.5):
        kernels.check(BY_NUMBER, torch.tensor(SPECIAL, dtype=dtype), exponent, **close(dtype))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_complex_powers_of_special_numbers(kernels: Kernels, dtype: torch.dtype) -> None:
    """0^0 is NaN for two tensors, but 1 for a number as exponent; 1^x is 1 for a number as base."""
    parts = [(0, 0), (1, 0), (-1, 0), (0, 1), (2, 1), (math.inf, 0), (-math.inf, 0), (0, math.inf)]
    parts += [(math.nan, 0), (0, math.nan)]
    values = torch.tensor([complex(*each) for each in parts], dtype=dtype)
    tolerance = {"rtol": 5e-6, "atol": 1e-6}
    kernels.check(TENSORS, values, values.reshape(-1, 1), **tolerance)
    for exponent in (0, 1, 2, 0.5, 1.7, False, True):
        kernels.check(BY_NUMBER, values, exponent, **tolerance)
    for base in (1, 2, -1, 0):
        kernels.check(OF_NUMBER, base, values, **tolerance)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("dtype", FLOATING)
def test_powers_by_a_number(kernels: Kernels, dtype: torch.dtype, exponent: float) -> None:
    kernels.check(BY_NUMBER, random_tensor((9, 11), dtype, low=0.1, high=5), exponent, **close(dtype))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 10, True, 2.0, -1.5])
@pytest.mark.parametrize("dtype", [*INTEGRAL, torch.bool])
def test_powers_of_integers_by_a_number(kernels: Kernels, dtype: torch.dtype, exponent: float) -> None:
    kernels.check(BY_NUMBER, random_tensor((9, 11), dtype), exponent, **close(torch.float32))


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
def test_powers_of_wide_unsigned_are_floating_or_refused(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((7,), dtype)
    kernels.check(BY_NUMBER, values, 1.5, **close(torch.float32))
    assert kernels.refuse(BY_NUMBER, values, 2, outs=[values.clone()]).error == "InvalidType"


@pytest.mark.parametrize("base", [0, 1, 2, -3, True, 2.5, -1.5])
@pytest.mark.parametrize("dtype", [*INTEGRAL, *FLOATING])
def test_powers_of_a_number(kernels: Kernels, dtype: torch.dtype, base: float) -> None:
    tolerance = close(dtype if dtype.is_floating_point else torch.float32)
    kernels.check(OF_NUMBER, base, random_tensor((9, 11), dtype, low=-4, high=5), **tolerance)


@pytest.mark.parametrize(
    ("values", "exponent"),
    [
        (torch.tensor([1, 2]), -1),
        (torch.tensor([1, 2], dtype=torch.int8), 200),
        (torch.tensor([1, 2], dtype=torch.uint8), 256),
    ],
)
def test_exponents_that_are_refused(kernels: Kernels, values: torch.Tensor, exponent: int) -> None:
    refused = kernels.refuse(BY_NUMBER, values, exponent, outs=[values.clone()])
    assert refused.error == "InvalidArgument" and "exponent" in refused.log[0]


def test_powers_of_bool_tensors_are_refused(kernels: Kernels) -> None:
    mask = torch.tensor([True, False])
    assert kernels.refuse(TENSORS, mask, mask, outs=[mask.clone()]).error == "InvalidType"


@pytest.mark.parametrize("dtype", ALL)
def test_angles(kernels: Kernels, dtype: torch.dtype) -> None:
    y, x = random_tensor((9, 11), dtype), random_tensor((9, 11), dtype, seed=1)
    tolerance = {} if dtype == torch.float64 else {"rtol": 2e-3 if dtype.itemsize == 2 else 3e-6}
    tolerance = {"rtol": 8e-3} if dtype == torch.bfloat16 else tolerance
    kernels.check("aten::atan2.out", y, x, **tolerance)
    kernels.check("aten::atan2.out", y, x[0, :1], **tolerance)


def test_angles_of_special_numbers(kernels: Kernels) -> None:
    values = torch.tensor(SPECIAL)
    kernels.check("aten::atan2.out", values, values.reshape(-1, 1), rtol=3e-6)


@pytest.mark.parametrize("dtype", REAL)
def test_remainders_with_the_sign_of_self(kernels: Kernels, dtype: torch.dtype) -> None:
    a = random_tensor((9, 11), dtype, low=-50, high=50)
    b = random_tensor((9, 11), dtype, low=1, high=7, seed=1)
    kernels.check("aten::fmod.Tensor_out", a, b)
    kernels.check("aten::fmod.Tensor_out", a, b[:, :1].clone())
    for number in (3, 2.5, -4) if dtype.is_signed else (3, 2.5):
        kernels.check("aten::fmod.Scalar_out", a, number)


def test_remainders_of_special_numbers(kernels: Kernels) -> None:
    values = torch.tensor(SPECIAL)
    kernels.check("aten::fmod.Tensor_out", values, values.reshape(-1, 1))


def test_remainders_of_bool_and_of_the_most_negative(kernels: Kernels) -> None:
    kernels.check("aten::fmod.Scalar_out", torch.tensor([True, False]), 2)
    lowest = torch.tensor([-(1 << 63), 5])
    kernels.check("aten::fmod.Scalar_out", lowest, 3)
    out = torch.empty_like(lowest)
    kernels.run("aten::fmod.Scalar_out", [lowest, -1, out])
    assert out.tolist() == [0, 0]


def test_a_remainder_by_zero_is_an_error_for_integers(kernels: Kernels) -> None:
    whole = torch.tensor([1, 2])
    for other in (torch.tensor([1, 0]), torch.tensor(0)):
        kernels.refuse("aten::fmod.Tensor_out", whole, other, outs=[whole.clone()])
    kernels.refuse("aten::fmod.Scalar_out", whole, 0, outs=[whole.clone()])


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(("other", "alpha"), [(2, 1), (3, 4), (2.5, 1)])
def test_differences_from_a_number(kernels: Kernels, dtype: torch.dtype, other: Any, alpha: Any) -> None:
    kernels.check("aten::rsub.Scalar_out", random_tensor((9, 11), dtype), other, alpha)


def test_differences_that_are_refused(kernels: Kernels) -> None:
    whole, mask = torch.tensor([1, 2]), torch.tensor([True, False])
    kernels.refuse("aten::rsub.Scalar_out", whole, 2, 1.5, outs=[whole.clone()])
    kernels.refuse("aten::rsub.Scalar_out", mask, 2, outs=[whole.clone()])
    kernels.refuse("aten::rsub.Scalar_out", whole, True, outs=[whole.clone()])
