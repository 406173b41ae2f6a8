# SPDX-License-Identifier: BSD-3-Clause
"""Elementwise operators on complex values."""

from __future__ import annotations

import cmath
import itertools
from functools import partial
from typing import Any

import pytest
import torch

from support.harness import COMPLEX, Kernels, random_tensor, with_dim_order

WIDE = [torch.complex64, torch.complex128]
CIRCULAR = ["acos", "asin", "atan", "cos", "sin", "tan", "acosh", "asinh", "atanh", "cosh", "sinh", "tanh"]
EXPONENTIAL = ["exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sigmoid"]
FUNCTIONS = [*CIRCULAR, *EXPONENTIAL, "reciprocal", "rsqrt", "sqrt", "square"]


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_complex_numbers(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    for scale in (1e-3, 3.0):
        z = random_tensor((5, 7), dtype, low=-scale, high=scale)
        kernels.check(f"aten::{name}.out", z, rtol=1e-5 if dtype == torch.complex64 else 1e-12)
    kernels.check(f"aten::{name}.out", random_tensor((), dtype))
    kernels.check(f"aten::{name}.out", random_tensor((0, 3), dtype))


@pytest.mark.parametrize("name", ["sqrt", "exp", "log", "asin", "acos", "acosh", "asinh"])
def test_signed_zeros_infinities_and_extremes_are_those_of_the_standard(kernels: Kernels, name: str) -> None:
    parts = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 1e-310, 1e200, 1e308, -1e308, torch.inf, -torch.inf]
    z = torch.tensor([complex(*pair) for pair in itertools.product(parts, parts)], dtype=torch.complex128)
    out = torch.empty_like(z)
    kernels.run(f"aten::{name}.out", [z, out])
    for at, result in zip(z.tolist(), out.tolist(), strict=True):
        try:
            expected = getattr(cmath, name)(at)
        except (ValueError, OverflowError):
            continue  # Python refuses poles and overflow
        for ours, theirs in ((result.real, expected.real), (result.imag, expected.imag)):
            if theirs != theirs:
                assert ours != ours, (at, result, expected)
            elif not (name == "exp" and cmath.isinf(at)):  # signs of zeros are undefined there
                same = ours == theirs or abs(ours - theirs) <= 1e-14 * abs(theirs)
                assert same and str(ours)[0] == str(theirs)[0], (at, result, expected)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_arithmetic_promotes_to_complex(kernels: Kernels, name: str) -> None:
    overload = f"aten::{name}.out"
    dtypes = [torch.complex64, torch.complex128, torch.float32, torch.int16, torch.bfloat16]
    for a, b in itertools.product(dtypes, dtypes):
        if a.is_complex or b.is_complex:
            x = random_tensor((3, 1, 4), a, low=1, seed=1)
            y = random_tensor((2, 4), b, low=1, seed=2)
            kernels.check(overload, x, y)
            kernels.check(overload, x, y[1, 1].clone())
            kernels.check(overload, x[0, 0, 0].clone(), y)
    z = with_dim_order(random_tensor((2, 3, 4), torch.complex64), [1, 2, 0])
    kernels.check(overload, z, random_tensor((2, 3, 4), torch.complex64), out_dim_order=[2, 0, 1])
    kernels.check(overload, z, z, out_dtype=torch.complex128, rtol=1e-6)


def _with_alpha(function: Any, z: torch.Tensor, number: float, alpha: float) -> torch.Tensor:
    return function(z, number, alpha=alpha)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_sums_and_products_with_numbers(kernels: Kernels, dtype: torch.dtype) -> None:
    z = random_tensor((4, 3), dtype)
    for name in ("add", "sub", "rsub"):
        if name != "rsub" or dtype in WIDE:
            eager = partial(_with_alpha, getattr(torch, name))
            kernels.check(f"aten::{name}.Scalar_out", z, 2.5, 3, eager=eager)
            kernels.check(f"aten::{name}.Scalar_out", z, 2, 0.5, eager=eager)
    if dtype in WIDE:
        kernels.check("aten::add.out", z, z.flip(0), alpha=-1.5)
        kernels.check("aten::sub.out", z, z.real.clone(), alpha=2)
    kernels.check("aten::mul.Scalar_out", z, 0.25)
    kernels.check("aten::neg.out", z)
    kernels.check("aten::abs.out", z)


def test_a_quotient_does_not_overflow_on_the_way(kernels: Kernels) -> None:
    a = torch.tensor([1e300 + 1e300j, 1e-300 - 1e-300j, 3 + 4j], dtype=torch.complex128)
    b = torch.tensor([1e300 - 1e300j, 1e-300 + 0j, 4e307 + 3e307j], dtype=torch.complex128)
    kernels.check("aten::div.out", a, b)


@pytest.mark.parametrize("dtype", WIDE)
def test_powers(kernels: Kernels, dtype: torch.dtype) -> None:
    z = random_tensor((4, 5), dtype, low=-3, high=3)
    w = random_tensor((5,), dtype, low=-2, high=2, seed=3)
    kernels.check("aten::pow.Tensor_Tensor_out", z, w, rtol=1e-4 if dtype == torch.complex64 else 1e-11)
    kernels.check("aten::pow.Tensor_Tensor_out", z, w.real.clone(), rtol=1e-4, atol=1e-5)
    for number in (0, 1, 2, 3, 0.5, -0.5, -1, -2, 2.75):
        kernels.check("aten::pow.Tensor_Scalar_out", z, number, rtol=1e-5)
        kernels.check("aten::pow.Scalar_out", 1.75, z, rtol=1e-5)
    zero = torch.zeros(3, dtype=dtype)
    for number in (0, 2, 0.5):
        kernels.check("aten::pow.Tensor_Scalar_out", zero, number)


@pytest.mark.parametrize("dtype", WIDE)
def test_questions_to_complex_numbers(kernels: Kernels, dtype: torch.dtype) -> None:
    parts = [0.0, -0.0, 1.0, torch.inf, -torch.inf, torch.nan]
    z = torch.tensor([complex(*pair) for pair in itertools.product(parts, parts)], dtype=dtype)
    for name in ("isnan", "isinf", "logical_not"):
        kernels.check(f"aten::{name}.out", z)
    for name in ("eq", "ne"):
        kernels.check(f"aten::{name}.Tensor_out", z, z.flip(0))
        kernels.check(f"aten::{name}.Scalar_out", z, 1)
    for name in ("logical_and", "logical_or", "logical_xor"):
        kernels.check(f"aten::{name}.out", z, z.flip(0))
        kernels.check(f"aten::{name}.out", z, z.real.clone())


@pytest.mark.parametrize("dtype", COMPLEX)
def test_a_choice_of_complex_numbers(kernels: Kernels, dtype: torch.dtype) -> None:
    z, w = random_tensor((3, 4), dtype), random_tensor((4,), dtype, seed=1)
    mask = random_tensor((3, 1), torch.bool)
    kernels.check("aten::where.self_out", mask, z, w)
    kernels.check("aten::masked_fill.Scalar_out", z, mask, 2.5)
    kernels.check("aten::masked_fill.Tensor_out", z, mask, w[0].clone())


@pytest.mark.parametrize("dtype", COMPLEX)
def test_conversions_from_and_to_complex(kernels: Kernels, dtype: torch.dtype) -> None:
    z = torch.tensor([0j, 1j, 2.5, -3 + 4j, complex(0, float("nan"))]).to(dtype)
    # An even number of elements, more than the conversion handles at once.
    z = torch.cat([z, random_tensor((101,), dtype, low=-100, high=100)])
    for other in (torch.bool, torch.int16, torch.int64, torch.bfloat16, torch.float64, *COMPLEX):
        out = torch.empty(z.shape, dtype=other)
        kernels.run("aten::_to_copy.out", [z, False, None, out])
        expected = z.to(torch.complex128).to(other) if other != torch.bool else z.to(torch.complex64) != 0
        if not other.is_floating_point or other == torch.float64:
            torch.testing.assert_close(out, expected, equal_nan=True)
        real = random_tensor((37,), other)
        kernels.check("aten::_to_copy.out", real, eager=lambda x: x.to(dtype))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_fills_with_numbers(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::full.out", [2, 3], 2.5, eager=lambda *a: torch.full(*a, dtype=dtype))
    kernels.check("aten::ones.out", [3], eager=lambda *a: torch.ones(*a, dtype=dtype))
    kernels.check("aten::scalar_tensor.out", 3, eager=lambda *a: torch.scalar_tensor(*a, dtype=dtype))


def test_what_is_real_takes_no_complex_number(kernels: Kernels) -> None:
    z = random_tensor((3,), torch.complex64)
    for name in ("add", "mul", "div"):
        kernels.refuse(f"aten::{name}.out", z, z, outs=[torch.empty(3)])
    kernels.refuse("aten::exp.out", z, outs=[torch.empty(3)])
    kernels.refuse("aten::abs.out", z, outs=[torch.empty(3, dtype=torch.int32)])
    kernels.refuse("aten::lt.Tensor_out", z, z, outs=[torch.empty(3, dtype=torch.bool)])
    kernels.refuse("aten::div.out_mode", z, z, rounding_mode="floor", outs=[z.clone()])
    kernels.refuse("aten::atan2.out", z, z, outs=[z.clone()])
    kernels.refuse("aten::erf.out", z, outs=[z.clone()])


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers_are_not_zero_where_a_part_is_not(kernels: Kernels, dtype: torch.dtype) -> None:
    z = torch.tensor([0j, -0.0, 1j, 1.0, -2 - 1j, complex("nan")]).to(dtype)
    out = torch.empty((4, 1), dtype=torch.int64)
    kernels.run("aten::nonzero.out", [z, out], dynamic=[out])
    assert out.flatten().tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize("dtype", WIDE)
def test_sums_of_complex_numbers(kernels: Kernels, dtype: torch.dtype) -> None:
    z = with_dim_order(random_tensor((4, 1, 5), dtype), [2, 0, 1])
    for dim, keepdim in (([0], False), ([0, 2], True), ([], False)):
        kernels.check("aten::sum.IntList_out", z, dim, keepdim, eager=torch.sum)
        kernels.check("aten::mean.out", z, dim, keepdim)
        kernels.check("aten::var.correction_out", z, dim, correction=1, keepdim=keepdim)
    kernels.check("aten::sum.IntList_out", z.real.clone(), [0], dtype=dtype, eager=torch.sum)
    kernels.check("aten::prod.int_out", z, 2)
    kernels.check("aten::cumsum.out", z, 0)
    kernels.check("aten::cumprod.out", z, -1)
    kernels.check("aten::any.out", z, 0)
    kernels.check("aten::all.out", z, 2, True)
    kernels.check("aten::var_mean.correction_out", z, [0, 1], correction=0)


@pytest.mark.parametrize("dtype", WIDE)
def test_products_of_complex_matrices(kernels: Kernels, dtype: torch.dtype) -> None:
    a, b = random_tensor((5, 7), dtype), with_dim_order(random_tensor((7, 4), dtype, seed=2), [1, 0])
    c = random_tensor((5, 4), dtype, seed=4)
    kernels.check("aten::mm.out", a, b, rtol=1e-5)
    kernels.check("aten::addmm.out", c, a, b, beta=2, alpha=-0.5, rtol=1e-5, atol=1e-5)
    kernels.check("aten::addmm.out", c[0].clone() * torch.nan, a, b, beta=0, rtol=1e-5, atol=1e-5)
    kernels.check("aten::linear.out", a, b.t().clone(), c[1].clone(), rtol=1e-5, atol=1e-5)
    kernels.check("aten::bmm.out", a[None].clone(), b[None].clone(), rtol=1e-5)
    kernels.check(
        "aten::baddbmm.out", c[None].clone(), a[None].clone(), b[None].clone(), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers_are_added_where_indices_say(kernels: Kernels, dtype: torch.dtype) -> None:
    z, w = random_tensor((5, 3), dtype), random_tensor((4, 3), dtype, seed=1)
    index = torch.tensor([4, 0, 4, 2])
    kernels.check("aten::index_add.out", z, 0, index, w)
    kernels.check("aten::index_put.out", z, [index], w, True)
    if dtype in WIDE:
        kernels.check("aten::index_add.out", z, 0, index, w, alpha=-2.5)
        kernels.check("aten::scatter_add.out", z, 0, index[:, None].expand(4, 3).contiguous(), w)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", WIDE)
def test_convolutions_of_complex_numbers(kernels: Kernels, dtype: torch.dtype, transposed: bool) -> None:
    x, bias = random_tensor((2, 4, 6, 5), dtype), random_tensor((4,), dtype, seed=1)
    weight = random_tensor((4, 2, 3, 2), dtype, seed=2)

    # PyTorch has complex convolutions under these names only.
    def eager(x: Any, w: Any, b: Any, stride: Any, pad: Any, dilation: Any, *rest: Any) -> torch.Tensor:
        if transposed:
            return torch.conv_transpose2d(x, w, b, stride, pad, [0, 0], 2, dilation)
        return torch.conv2d(x, w, b, stride, pad, dilation, 2)

    for given in (bias, None):
        arguments = (x, weight, given, [2, 1], [1, 0], [1, 2], transposed, [0, 0], 2)
        kernels.check("aten::convolution.out", *arguments, eager=eager, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("dtype", WIDE)
def test_norms_signs_and_mixtures_of_complex_numbers(kernels: Kernels, dtype: torch.dtype) -> None:
    z, w, v = (random_tensor((3, 4), dtype, seed=seed) for seed in range(3))
    z[0, 0] = 0
    for order in (2, 1, 0, 3, torch.inf, -torch.inf):
        kernels.check("aten::linalg_vector_norm.out", z, order, [1], True, eager=torch.linalg.vector_norm)
    for name in ("sgn", "angle", "silu", "sinc"):
        eager = torch.nn.functional.silu if name == "silu" else None
        kernels.check(f"aten::{name}.out", z, eager=eager, rtol=1e-5)
    kernels.check("aten::addcmul.out", z, w, v, value=1.5, rtol=1e-5, atol=1e-5)
    kernels.check("aten::addcdiv.out", z, w, v, value=-2, rtol=1e-5, atol=1e-5)
    kernels.check("aten::lerp.Scalar_out", z, w, 0.75, rtol=1e-5)
    kernels.check("aten::lerp.Tensor_out", z, w, v, rtol=1e-5, atol=1e-5)
