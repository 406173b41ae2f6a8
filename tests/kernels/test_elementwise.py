# SPDX-License-Identifier: BSD-3-Clause
"""Shifts, signs, relatives of remainder and other functions of one to three operands against torch."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
import torch

from support.harness import ALL, FLOATING, INTEGRAL, REAL, UNSIGNED_WIDE, Kernels, assert_equal, random_tensor

SPECIAL = [0.0, -0.0, 0.3, 1.0, -1.0, 2.5, -3.0, 1e30, -1e-30, math.inf, -math.inf, math.nan]
SHIFTS = ["bitwise_left_shift", "bitwise_right_shift"]
LOW = (torch.float16, torch.bfloat16)


def special(dtype: torch.dtype) -> torch.Tensor:
    """[12]: zeros, limits and NaN; for integers their limits instead."""
    if dtype.is_floating_point:
        return torch.tensor(SPECIAL, dtype=dtype)
    if dtype == torch.bool:
        return torch.tensor([True, False])
    info = torch.iinfo(dtype)
    return torch.tensor([0, 1, 2, 3, 7, info.min, info.min + 1, info.max], dtype=dtype)


def once(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances for 16-bit types, which torch rounds more than once."""
    return {torch.float16: {"rtol": 2e-3}, torch.bfloat16: {"rtol": 1.6e-2}}.get(dtype, {})


@pytest.mark.parametrize("dtype", INTEGRAL)
@pytest.mark.parametrize("name", SHIFTS)
def test_shifts_by_any_number(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    values = special(dtype).reshape(-1, 1)
    shifts = [0, 1, 3, 7, 8, 15, 31, 63, 64, 100] + ([-1, -5] if dtype.is_signed else [])
    kernels.check(f"aten::{name}.Tensor_out", values, torch.tensor(shifts).to(dtype))
    for shift in shifts:
        kernels.check(f"aten::{name}.Tensor_Scalar_out", values, shift)
        kernels.check(f"aten::{name}.Scalar_Tensor_out", 5, torch.tensor([0, 1, 3]).to(dtype))


@pytest.mark.parametrize("name", SHIFTS)
def test_shifts_promote_and_refuse_floats(kernels: Kernels, name: str) -> None:
    whole, mask = torch.tensor([1, 2], dtype=torch.int8), torch.tensor([True, False])
    kernels.check(f"aten::{name}.Tensor_out", whole, torch.tensor([1, 9]))
    kernels.check(f"aten::{name}.Tensor_Scalar_out", mask, 2)
    kernels.check(f"aten::{name}.Tensor_out", whole, whole, out_dtype=torch.float32)
    outs = [torch.empty(2)]
    assert kernels.refuse(f"aten::{name}.Tensor_out", mask, mask, outs=outs).error == "InvalidType"
    assert kernels.refuse(f"aten::{name}.Tensor_Scalar_out", whole, 1.5, outs=outs).error == "InvalidType"


@pytest.mark.parametrize("dtype", [torch.bool, *REAL])
@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_extrema_pass_over_nan(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    values = special(dtype)
    kernels.check(f"aten::{name}.out", values, values.reshape(-1, 1))
    kernels.check(f"aten::{name}.out", values, torch.tensor(2.5))
    kernels.check(f"aten::{name}.out", values, torch.tensor([2], dtype=torch.int32))


@pytest.mark.parametrize("dtype", FLOATING)
def test_hypotenuses(kernels: Kernels, dtype: torch.dtype) -> None:
    values = special(dtype)
    kernels.check("aten::hypot.out", values, values.reshape(-1, 1), **once(dtype))
    whole = torch.ones(2, dtype=torch.int32)
    assert kernels.refuse("aten::hypot.out", whole, whole, outs=[torch.ones(2)]).error == "InvalidType"


@pytest.mark.parametrize("dtype", ALL)
def test_signs_are_copied(kernels: Kernels, dtype: torch.dtype) -> None:
    values = special(dtype)
    kernels.check("aten::copysign.out", values, values.reshape(-1, 1))
    kernels.check("aten::copysign.Scalar_out", values, -0.0)
    kernels.check("aten::copysign.Scalar_out", values, 3)


@pytest.mark.parametrize("dtype", FLOATING)
def test_neighbours(kernels: Kernels, dtype: torch.dtype) -> None:
    info = torch.finfo(dtype)
    ends = torch.tensor([info.max, info.min, info.tiny, -info.tiny, info.smallest_normal], dtype=dtype)
    values = torch.cat([special(dtype), ends, torch.nextafter(torch.zeros(2), torch.ones(2)).to(dtype)])
    kernels.check("aten::nextafter.out", values, values.reshape(-1, 1), rtol=0, atol=0)
    if dtype != torch.float64:
        kernels.check("aten::nextafter.out", values, torch.zeros(1, dtype=torch.float64), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", INTEGRAL)
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors_and_multiples(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    values = torch.arange(-12 if dtype.is_signed else 0, 25).to(dtype)
    kernels.check(f"aten::{name}.out", values, values.reshape(-1, 1))
    largest = torch.tensor([torch.iinfo(dtype).max, 0, 1], dtype=dtype)
    kernels.check("aten::gcd.out", largest, largest.reshape(-1, 1))
    lowest = torch.tensor([torch.iinfo(dtype).min], dtype=dtype)
    kernels.run(f"aten::{name}.out", [lowest, torch.full_like(lowest, -1), torch.empty_like(lowest)])


@pytest.mark.parametrize("dtype", [torch.bool, *REAL])
def test_steps(kernels: Kernels, dtype: torch.dtype) -> None:
    values = special(dtype)
    kernels.check("aten::heaviside.out", values, values.reshape(-1, 1))
    other = torch.float64 if dtype != torch.float64 else torch.float32
    refused = kernels.refuse("aten::heaviside.out", values, values.to(other), outs=[values.clone()])
    assert refused.error == "InvalidType"


@pytest.mark.parametrize(("first", "second"), itertools.product([torch.int8, *FLOATING], repeat=2))
def test_scaling_by_powers_of_two(kernels: Kernels, first: torch.dtype, second: torch.dtype) -> None:
    x, exponent = random_tensor((9, 11), first), random_tensor((11,), second, low=-9, high=20)
    tolerance = {"rtol": 1.6e-2} if {first, second} & set(LOW) else {}
    kernels.check("aten::ldexp.out", x, exponent, **tolerance)
    kernels.check("aten::ldexp.out", x, exponent[0].clone(), **tolerance)
    kernels.check("aten::ldexp.out", x[0, 0].clone(), exponent, **tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scaling_by_powers_of_two_rounds_once(kernels: Kernels, dtype: torch.dtype) -> None:
    """Also where the result is subnormal, or the power of 2 itself overflows: PyTorch multiplies by it."""
    top = 128 if dtype == torch.float32 else 1024
    steps = [-(2**40), -2 * top - 60, -top - 25, -top, -top + 3, -1, 0, 1, top - 1, top, 2 * top + 20, 2**40]
    smallest = torch.finfo(dtype).smallest_normal
    values = [
        1.0,
        -1.75,
        1 / 3,
        math.pi,
        smallest / 8 * 3,
        smallest * 1.7,
        -torch.finfo(dtype).max,
        0.0,
        math.inf,
    ]
    x = torch.tensor(values, dtype=dtype).reshape(-1, 1)
    exponents = torch.tensor(steps)

    def exactly(x: torch.Tensor, exponents: torch.Tensor) -> torch.Tensor:
        pairs = zip(*(each.flatten().tolist() for each in torch.broadcast_tensors(x, exponents)), strict=True)
        wide = [
            Fraction(v) * Fraction(2) ** max(min(e, 3000), -3000) if math.isfinite(v) else v for v, e in pairs
        ]
        return torch.tensor([_rounded(v, dtype) for v in wide], dtype=dtype).reshape(len(values), -1)

    kernels.check("aten::ldexp.out", x, exponents, eager=exactly, rtol=0, atol=0)


def _rounded(value: Fraction | float, dtype: torch.dtype) -> float:
    """The nearest number of a dtype, halves to even; too large ones are infinite."""
    if isinstance(value, float) or value == 0:
        return float(value)
    info = torch.finfo(dtype)
    digits = 24 if dtype == torch.float32 else 53
    exponent = math.floor(math.log2(abs(value.numerator))) - math.floor(math.log2(value.denominator))
    exponent -= abs(value) < Fraction(2) ** exponent
    lowest = round(math.log2(info.smallest_normal))
    unit = Fraction(2) ** (max(exponent, lowest) - digits + 1)
    nearest = round(value / unit) * unit
    if abs(nearest) > Fraction(info.max):
        return math.inf if value > 0 else -math.inf
    return float(nearest)


@pytest.mark.parametrize("dtype", [torch.bool, *INTEGRAL, *UNSIGNED_WIDE])
def test_scaling_integers_and_powers_that_overflow(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::ldexp.out", random_tensor((5,), dtype), torch.tensor([1, 200, 30, -200, 0]))
    tiny = torch.full((2,), 1e-30)
    kernels.check("aten::ldexp.out", tiny, torch.tensor([200, 100]))
    kernels.check("aten::ldexp.out", tiny, torch.tensor([200.0, 100.0]))


@pytest.mark.parametrize("dtype", FLOATING)
def test_mantissas_and_exponents(kernels: Kernels, dtype: torch.dtype) -> None:
    for values in (special(dtype), random_tensor((2, 3, 5), dtype), torch.tensor(0.1, dtype=dtype)):
        exact = torch.frexp(values.double())
        mantissa, exponent = torch.empty_like(values), torch.empty_like(values, dtype=torch.int32)
        kernels.run("aten::frexp.Tensor_out", [values, mantissa, exponent])
        finite = values.isfinite()
        assert_equal(mantissa, exact.mantissa.to(dtype))
        assert_equal(exponent[finite], exact.exponent[finite])
    outs = [mantissa, exponent.long()]
    assert kernels.refuse("aten::frexp.Tensor_out", values, outs=outs).error == "InvalidType"


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["angle", "deg2rad", "rad2deg"])
def test_angles(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    kernels.check(f"aten::{name}.out", special(dtype), **once(dtype))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["isposinf", "isneginf", "signbit"])
def test_questions(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    kernels.check(f"aten::{name}.out", special(dtype))
    refused = kernels.refuse(f"aten::{name}.out", special(dtype), outs=[special(dtype).float()])
    assert refused.error == "InvalidType"


@pytest.mark.parametrize("dtype", [torch.bool, *REAL])
def test_sgn(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::sgn.out", special(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
def test_fractions(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::frac.out", torch.cat([special(dtype), random_tensor((40,), dtype)]))
    whole = torch.ones(2, dtype=torch.int32)
    assert kernels.refuse("aten::frac.out", whole, outs=[whole.clone()]).error == "InvalidType"


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("numbers", [{}, {"nan": 2.5}, {"posinf": 7.0, "neginf": -9.0}])
def test_numbers_for_what_is_none(kernels: Kernels, numbers: dict[str, float], dtype: torch.dtype) -> None:
    kernels.check("aten::nan_to_num.out", special(dtype), **numbers)


@pytest.mark.parametrize("dtype", FLOATING)
def test_interpolation(kernels: Kernels, dtype: torch.dtype) -> None:
    start, end = random_tensor((9, 11), dtype), random_tensor((11,), dtype, seed=1)
    weight = torch.tensor([[-0.5], [0.0], [0.3], [0.5], [0.7], [1.0], [2.5], [0.1], [0.9]], dtype=dtype)
    tolerance = {"atol": 4e-2, "rtol": 1.6e-2} if dtype in LOW else {}
    kernels.check("aten::lerp.Tensor_out", start, end, weight, **tolerance)
    for number in (0.0, 0.3, 0.5, 1.0, 2):
        kernels.check("aten::lerp.Scalar_out", start, end, number, **tolerance)
    kernels.check("aten::lerp.Scalar_out", start, end, 1.0, eager=lambda a, b, w: b.expand(9, 11), rtol=0)
    other = torch.float64 if dtype != torch.float64 else torch.float32
    refused = kernels.refuse("aten::lerp.Scalar_out", start, end.to(other), 0.3, outs=[start.clone()])
    assert refused.error == "InvalidType"


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("value", [1, 3, -2])
def test_sums_with_products(kernels: Kernels, value: int, dtype: torch.dtype) -> None:
    x, a, b = (random_tensor(shape, dtype, seed=i) for i, shape in enumerate([(9, 11), (11,), (9, 1)]))
    value = abs(value) if not dtype.is_signed else value
    kernels.check("aten::addcmul.out", x, a, b, value=value)
    if dtype.is_floating_point:
        kernels.check("aten::addcdiv.out", x, a, b.abs() + 1, value=value)
        kernels.check("aten::addcmul.out", x, a, b, value=0.5)


def test_sums_with_products_that_are_refused(kernels: Kernels) -> None:
    whole, mask = torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.bool)
    refused = kernels.refuse("aten::addcmul.out", whole, whole, whole, value=1.5, outs=[whole.clone()])
    assert "value" in refused.log[0]
    refused = kernels.refuse("aten::addcmul.out", mask, mask, mask, outs=[mask.clone()])
    assert refused.error == "InvalidType"
    refused = kernels.refuse("aten::addcdiv.out", torch.ones(3), whole, whole, outs=[torch.ones(3)])
    assert refused.error == "InvalidType"


@pytest.mark.parametrize("dtype", [torch.bool, *REAL])
@pytest.mark.parametrize("name", ["clamp_min", "clamp_max"])
def test_one_bound(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    values = special(dtype)
    kernels.check(f"aten::{name}.Tensor_out", values, values.reshape(-1, 1))
    kernels.check(f"aten::{name}.Tensor_out", values, torch.tensor([0.5, 1.5]).reshape(-1, 1))
    for bound in (1, 2.5, 0, math.nan):
        kernels.check(f"aten::{name}.out", values, bound)


def test_bool_is_bounded_from_one_side_by_bool(kernels: Kernels) -> None:
    mask = torch.tensor([True, False])
    kernels.check("aten::clamp.Tensor_out", mask, mask[:1].clone())
    kernels.check("aten::clamp.Tensor_out", mask, None, mask[1:].clone())
    kernels.check("aten::clamp.out", mask, 0, 1)
    outs = [mask.clone()]
    assert kernels.refuse("aten::clamp.Tensor_out", mask, mask, mask, outs=outs).error == "InvalidType"
    assert kernels.refuse("aten::clamp_min.out", mask, False, outs=outs).error == "InvalidType"


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("steps", [0, 1, 2, 5, 50])
@pytest.mark.parametrize("overload", ["out", "Tensor_Tensor_out", "Tensor_Scalar_out", "Scalar_Tensor_out"])
def test_evenly_spaced_numbers(kernels: Kernels, overload: str, steps: int, dtype: torch.dtype) -> None:
    kinds = overload.split("_") if overload != "out" else ["Scalar", "Scalar"]

    def ends(start: int, end: int) -> list[Any]:
        pairs = zip((start, end), kinds[:2], strict=True)
        return [torch.tensor(value) if kind == "Tensor" else value for value, kind in pairs]

    tolerance = {torch.float16: {"rtol": 1e-3, "atol": 5e-2}, torch.bfloat16: {"rtol": 8e-3, "atol": 0.5}}
    near = tolerance.get(dtype, {"rtol": 2e-6, "atol": 1e-6})
    kernels.check(
        f"aten::linspace.{overload}",
        *ends(-5 if dtype.is_signed else 1, 93 if dtype.is_signed else 99),  # 49 steps of 2
        steps,
        eager=lambda *args: torch.linspace(*args, dtype=dtype),
        **near,
    )
    kernels.check(
        f"aten::logspace.{overload}",
        *ends(0, 4),
        steps,
        2.0,
        eager=lambda *args: torch.logspace(*args, dtype=dtype),
        **near,
    )


def test_spaces_that_are_refused(kernels: Kernels) -> None:
    out = torch.empty(3)
    assert "steps" in kernels.refuse("aten::linspace.out", 0, 1, -1, outs=[out]).log[0]
    one = torch.ones(1)
    refused = kernels.refuse("aten::linspace.Tensor_Scalar_out", one, 1, 3, outs=[out])
    assert "start" in refused.log[0]
    refused = kernels.refuse("aten::linspace.out", 0, 300, 3, outs=[out.to(torch.uint8)])
    assert "end" in refused.log[0]


@pytest.mark.parametrize("dtype", [torch.bool, *REAL])
def test_ones_on_the_diagonal(kernels: Kernels, dtype: torch.dtype) -> None:
    for n in (0, 1, 5):
        kernels.check("aten::eye.out", n, eager=lambda n: torch.eye(n, dtype=dtype))
    for n, m in ((3, 5), (5, 3), (0, 4), (4, 0), (1, 6)):
        kernels.check("aten::eye.m_out", n, m, eager=lambda n, m: torch.eye(n, m, dtype=dtype))
    kernels.check("aten::eye.m_out", 3, 5, eager=lambda n, m: torch.eye(n, m), out_dim_order=[1, 0])
    assert "n" in kernels.refuse("aten::eye.out", -1, outs=[torch.empty(1, 1)]).log[0]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
def test_indices_of_triangles(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    def eager(row: int, col: int, offset: int) -> torch.Tensor:
        return getattr(torch, name)(row, col, offset, dtype=dtype)

    for row, col, offset in itertools.product([0, 1, 3, 5], [0, 1, 4], [-9, -2, 0, 1, 9]):
        kernels.check(f"aten::{name}.out", row, col, offset, eager=eager)
    out = torch.empty((2, 1), dtype=dtype)
    assert "row" in kernels.refuse(f"aten::{name}.out", -1, 2, outs=[out]).log[0]
    kernels.refuse(f"aten::{name}.out", 1 << 30, 1 << 30, outs=[out])
