# SPDX-License-Identifier: BSD-3-Clause
"""Operators on quantized 16-bit values against their definitions in the exporter's dialect, bit for bit, and
the arguments that they refuse. Convolutions and linear layers are in test_quantized_products.py, too."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import rushlight.export.dialect.integer_attention  # noqa: F401  # defines torch.ops.rushlight
from rushlight.integers.arithmetic import ROUNDINGS, most_shift_of_products, requantization
from rushlight.integers.curves import evaluate
from rushlight.integers.rules.attention import exponentials
from support.harness import KernelRefused, Kernels, assert_equal, poison, with_dim_order

LOW, HIGH = -(1 << 15), (1 << 15) - 1
EVERY = torch.arange(LOW, HIGH + 1).to(torch.int16)
ADD, MUL, MATMUL = (f"rushlight::quantized_{name}.out" for name in ("add", "mul", "matmul"))
MEAN, POOL, VOLUMES, ADAPTIVE = (
    f"rushlight::quantized_{name}.out" for name in ("mean", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool2d")
)
SOFTMAX, LOOKUP, CURVE = (f"rushlight::quantized_{name}.out" for name in ("softmax", "lookup", "curve"))
LINEAR = "rushlight::quantized_linear.out"
SUM = (1_234_567_890, -987_654_321, 1 << 30, 31, 0, LOW, HIGH)
TO = [0, LOW, HIGH]


def numbers(shape: tuple[int, ...], seed: int = 0, dtype: torch.dtype = torch.int16) -> torch.Tensor:
    """Values from the whole range of a dtype, many of them its limits."""
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(seed)
    wide = torch.randint(info.min * 5 // 4, info.max * 5 // 4, shape, generator=generator)
    return wide.clamp(info.min, info.max).to(dtype)


def scale_of(scale: float, rounding: str = "single", most_shift: int = 30) -> list[Any]:
    """The arguments that encode a scale."""
    to = requantization(np.array([scale]), rounding, most_shift)
    assert to is not None
    shifts = None if to.shifts is None else torch.from_numpy(to.shifts)
    return [torch.from_numpy(to.multipliers), shifts, rounding]


PAIRS = [((2, 5, 4, 3), (2, 5, 4, 3)), ((2, 5, 4, 3), (5, 1, 1)), ((), (6,)), ((0, 3), (1, 3))]


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=str)
def test_sums_are_as_defined(kernels: Kernels, one: tuple[int, ...], other: tuple[int, ...]) -> None:
    for how in (SUM, (1 << 14, 1 << 14, 1 << 14, 15, 0, -32767, 32767), ((1 << 31) - 1, 0, 0, 0, 0, 0, 9)):
        kernels.check(ADD, numbers(one), numbers(other, 1), *how, rtol=0, atol=0)
        kernels.check(ADD, numbers(other, 1), numbers(one), *how, rtol=0, atol=0)


def test_tensors_of_a_pair_lie_in_any_order(kernels: Kernels) -> None:
    a, b = numbers((2, 5, 4, 3)), with_dim_order(numbers((2, 5, 4, 3), 1), [0, 2, 3, 1])
    for order in ([0, 1, 2, 3], [0, 2, 3, 1]):
        kernels.check(ADD, a, b, *SUM, out_dim_order=order, rtol=0, atol=0)
        kernels.check(MUL, a, 0, b, 0, *scale_of(3e-5), *TO, out_dim_order=order, rtol=0, atol=0)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(("one", "other"), PAIRS, ids=str)
def test_products_are_as_defined(
    kernels: Kernels, one: tuple[int, ...], other: tuple[int, ...], rounding: str
) -> None:
    for scale in (3.1e-5, 1e-9, 0.7):
        given = [numbers(one), 0, numbers(other, 1), 0, *scale_of(scale, rounding, 0), *TO]
        kernels.check(MUL, *given, rtol=0, atol=0)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(
    ("one", "other"), [((3, 5), (5, 7)), ((2, 3, 70), (2, 70, 33)), ((1, 700), (700, 40)), ((3, 0), (0, 4))]
)
def test_products_of_matrices_are_as_defined(
    kernels: Kernels, one: tuple[int, ...], other: tuple[int, ...], rounding: str
) -> None:
    for scale in (5e-6, 1e-9, 2.0**6):
        given = [numbers(one), 0, numbers(other, 1), 0, *scale_of(scale, rounding, 7), *TO]
        kernels.check(MATMUL, *given, rtol=0, atol=0)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("shape", [(2, 33, 5, 7), (1, 4, 30, 2)], ids=str)
def test_averages_are_as_defined(kernels: Kernels, shape: tuple[int, ...], rounding: str) -> None:
    for order in ([0, 1, 2, 3], [0, 2, 3, 1]):
        x = with_dim_order(numbers(shape), order)
        to = [*scale_of(0.83, rounding, 0), *TO]
        kernels.check(MEAN, x, 0, [2, 3], True, *to, rtol=0, atol=0)
        kernels.check(MEAN, x, 0, [1], False, *to, rtol=0, atol=0)
        where = [[2, 2], [1, 2], [1, 1], False, True, None]
        kernels.check(POOL, x, 0, *where, *to, out_dim_order=order, rtol=0, atol=0)
        kernels.check(ADAPTIVE, x, 0, [2, 2], *to, out_dim_order=order, rtol=0, atol=0)
    where = [[2, 2, 2], [1, 1, 2], [1, 0, 1], False, False, None]
    kernels.check(VOLUMES, numbers(shape), 0, *where, *to, rtol=0, atol=0)


@pytest.mark.parametrize(("shape", "dim"), [((2, 12), -1), ((3, 5, 7), 1), ((2, 3000), 1), ((3, 0), 1)])
def test_softmax_is_as_defined(kernels: Kernels, shape: tuple[int, ...], dim: int) -> None:
    to = requantization(np.array([32767.0]))
    assert to is not None and to.shifts is not None
    for scale in (1e-5, 2e-4, 0.1):
        table = torch.from_numpy(exponentials(scale, "int16"))
        how = [table, int(to.multipliers[0]), int(to.shifts[0]), 0, 0, HIGH]
        kernels.check(SOFTMAX, numbers(shape), dim, *how, rtol=0, atol=0)


def test_softmax_is_a_step_from_the_exact_one_at_most(kernels: Kernels) -> None:
    to, x, scale = requantization(np.array([32768.0])), numbers((20, 50)), 2e-4
    assert to is not None and to.shifts is not None
    table = torch.from_numpy(exponentials(scale, "int16"))
    out = torch.empty_like(x)
    kernels.run(SOFTMAX, [x, 1, table, int(to.multipliers[0]), int(to.shifts[0]), 0, LOW, HIGH, out])
    exact = (torch.softmax(x.double() * scale, 1) * 32768).round().clamp(max=HIGH)
    distances = (out.double() - exact).abs()
    assert distances.max() <= 1
    assert (distances == 0).double().mean() >= 0.999


@pytest.mark.parametrize("source", [torch.int8, torch.uint8])
def test_bytes_become_numbers_of_16_bits(kernels: Kernels, source: torch.dtype) -> None:
    values, table = numbers((3, 5, 7), dtype=source), numbers((256,), 1)
    kernels.check(LOOKUP, values, table, rtol=0, atol=0)


def curve(pieces: int, seed: int = 0) -> torch.Tensor:
    """A table with random coefficients."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-(1 << 31), 1 << 31, (pieces, 4), generator=generator).to(torch.int32)


@pytest.mark.parametrize("pieces", [1, 2, 64, 16384])
@pytest.mark.parametrize(
    ("dtype", "low", "high"), [(torch.int16, LOW, HIGH), (torch.int8, -128, 100), (torch.uint8, 3, 255)]
)
def test_curves_are_as_defined(
    kernels: Kernels, pieces: int, dtype: torch.dtype, low: int, high: int
) -> None:
    table = curve(pieces)
    table[::3] >>= 4
    kernels.check(CURVE, EVERY.reshape(256, 256), table, low, high, dtype, rtol=0, atol=0)
    out = poison(torch.empty_like(EVERY, dtype=dtype))
    kernels.run(CURVE, [EVERY, table, low, high, dtype, out])
    assert_equal(out, torch.from_numpy(evaluate(table.numpy(), low, high)).to(dtype))


@pytest.mark.parametrize("rounding", ["single", "double"])
@pytest.mark.parametrize("scale", [2.0**-31, 3e-7, 0.013, 1.0, 100.0])
def test_wide_sums_are_rounded_to_the_nearest(kernels: Kernels, scale: float, rounding: str) -> None:
    """Biases alone, of up to 2^46. TFLite's 15-bit multipliers lose a 2^-15th of the result."""
    generator = torch.Generator().manual_seed(0)
    bias = torch.randint(-(1 << 46), 1 << 46, (4000,), generator=generator) >> torch.arange(4000) % 40
    most = most_shift_of_products("int16", rounding)
    multipliers, shifts, _ = scale_of(scale, rounding, most)
    weight, out = torch.zeros(4000, 1, dtype=torch.int8), torch.empty(1, 4000, dtype=torch.int16)
    x = torch.zeros(1, 1, dtype=torch.int16)
    kernels.run(LINEAR, [x, weight, bias, multipliers, shifts, rounding, *TO, out])
    real = Fraction(int(multipliers[0])) * Fraction(2) ** (int(shifts[0]) - 31)
    allowed = Fraction(1, 2) + (Fraction(HIGH, 1 << 15) if rounding == "double" else 0)
    for number, found in zip(bias.tolist(), out.reshape(-1).tolist(), strict=True):
        exact = max(min(number * real, Fraction(HIGH)), Fraction(LOW))
        assert abs(found - exact) <= allowed


def test_a_mean_of_more_numbers_than_32_bits_hold_is_refused(kernels: Kernels) -> None:
    x, out = torch.zeros(65536, dtype=torch.int16), torch.empty((), dtype=torch.int16)
    with pytest.raises(KernelRefused, match="sums of at most 65535 values, got 65536"):
        kernels.run(MEAN, [x, 0, [0], False, *scale_of(0.5), *TO, out])


X, ROW = torch.zeros(2, 4, dtype=torch.int16), torch.zeros(2, 3, dtype=torch.int16)
WEIGHT, BIAS = torch.zeros(3, 4, dtype=torch.int8), torch.zeros(3, dtype=torch.int64)
HALF = scale_of(0.5)
POINT = "expected 0 to 0, got 1"
LIMIT = 1 << 47
TABLE = torch.zeros(2, 4, dtype=torch.int32)
SOFT = torch.zeros(512, dtype=torch.int32)


def shifted(shift: int, rounding: str) -> list[Any]:
    """A scale as its shift."""
    return [torch.tensor([1 << 30]).int(), torch.tensor([shift]).to(torch.int8), rounding]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (LINEAR, [X, WEIGHT, BIAS.int(), *HALF, *TO, ROW], "bias: expected dtype int64, got int32"),
        (LINEAR, [X, WEIGHT, BIAS + LIMIT, *HALF, *TO, ROW], "may have more than 48 bits"),
        (LINEAR, [X, WEIGHT, BIAS - LIMIT, *HALF, *TO, ROW], "may have more than 48 bits"),
        (LINEAR, [X, WEIGHT, BIAS + (LIMIT - (1 << 24)), *HALF, *TO, ROW], "may have more than 48 bits"),
        (LINEAR, [X, WEIGHT, BIAS - (1 << 63), *HALF, *TO, ROW], "may have more than 48 bits"),
        (LINEAR, [X, WEIGHT, BIAS + (1 << 62), *HALF, *TO, ROW], "may have more than 48 bits"),
        (LINEAR, [X, WEIGHT, BIAS, *shifted(16, "single"), *TO, ROW], "shifts: expected -31 to 15, got 16"),
        (LINEAR, [X, WEIGHT, BIAS, *shifted(8, "double"), *TO, ROW], "shifts: expected -31 to 7, got 8"),
        (
            LINEAR,
            [X, WEIGHT, BIAS, *HALF, 1, LOW, HIGH, ROW],
            "output_zero_point: expected 0 for int16, got 1",
        ),
        (
            LINEAR,
            [X, WEIGHT, BIAS, *HALF, 0, LOW - 1, HIGH, ROW],
            "output_min, output_zero_point, output_max",
        ),
        (LINEAR, [X, WEIGHT, BIAS, *HALF, *TO, ROW.to(torch.int8)], "input and out"),
        (ADD, [X, X, *SUM[:3], 63, *TO, X.clone()], "shift: expected 0 to 62, got 63"),
        (ADD, [X, X, 1 << 31, *SUM[1:], X.clone()], "multipliers and offset"),
        (ADD, [X, X, *SUM[:2], (1 << 62) + 1, *SUM[3:], X.clone()], "multipliers and offset"),
        (ADD, [X, X, *SUM[:4], 1, LOW, HIGH, X.clone()], "output_zero_point: expected 0 for int16, got 1"),
        (MUL, [X, 1, X, 0, *HALF, *TO, X.clone()], f"self_zero_point: {POINT}"),
        (MUL, [X, 0, X, 1, *HALF, *TO, X.clone()], f"other_zero_point: {POINT}"),
        (MUL, [X, 0, X, 0, *shifted(1, "double"), *TO, X.clone()], "shifts: expected -31 to 0, got 1"),
        (MATMUL, [X, 1, X.T.contiguous(), 0, *HALF, *TO, X[:, :2].clone()], f"self_zero_point: {POINT}"),
        (MATMUL, [X, 0, X.T.contiguous(), 1, *HALF, *TO, X[:, :2].clone()], f"mat2_zero_point: {POINT}"),
        (MEAN, [X, 1, [1], False, *HALF, *TO, X[:, 0].clone()], f"input_zero_point: {POINT}"),
        (SOFTMAX, [X, 1, SOFT[:256], 1 << 30, 0, *TO, X.clone()], "table: expected 512 elements of int32"),
        (LOOKUP, [X, X.reshape(8), X.clone()], "input: "),
        (CURVE, [X.to(torch.int8), TABLE, *TO[1:], torch.int16, X.clone()], "input: "),
        (CURVE, [X, TABLE, *TO[1:], torch.int8, X.clone()], "dtype: expected that of out"),
        (
            CURVE,
            [X, TABLE, LOW - 1, HIGH, torch.int16, X.clone()],
            "output_min, output_zero_point, output_max",
        ),
        (CURVE, [X, TABLE, 5, 4, torch.int8, X.to(torch.int8)], "output_min, output_zero_point, output_max"),
        (CURVE, [X, TABLE.long(), *TO[1:], torch.int16, X.clone()], "table: expected dtype int32, got int64"),
        (CURVE, [X, curve(3), *TO[1:], torch.int16, X.clone()], "table: expected rows of 4"),
        (CURVE, [X, curve(0), *TO[1:], torch.int16, X.clone()], "table: expected rows of 4"),
        (CURVE, [X, curve(1 << 15), *TO[1:], torch.int16, X.clone()], "table: expected rows of 4"),
        (CURVE, [X, TABLE[:, :3].contiguous(), *TO[1:], torch.int16, X.clone()], "table: expected rows of 4"),
        (CURVE, [X, TABLE.reshape(8), *TO[1:], torch.int16, X.clone()], "table: expected rows of 4"),
        (CURVE, [X, with_dim_order(TABLE, [1, 0]), *TO[1:], torch.int16, X.clone()], "table: expected rows"),
    ],
)
def test_arguments_that_are_refused(kernels: Kernels, name: str, arguments: list[Any], message: str) -> None:
    out = poison(arguments[-1])
    before = out.clone()
    with pytest.raises(KernelRefused, match=message):
        kernels.run(name, arguments)
    assert torch.equal(out, before)
