# SPDX-License-Identifier: BSD-3-Clause
"""Quantization and dequantization against torch's definitions, which have no out overloads."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import FLOATING, Kernels, assert_equal, poison, random_tensor, with_dim_order

QUANTIZED = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.uint16]
REAL = [torch.float32, torch.float16, torch.bfloat16]
DEFINED = torch.ops.quantized_decomposed
SHAPES = [(), (0,), (1,), (40,), (3, 0, 2), (2, 3, 5), (2, 1, 4, 70)]


def bounds(dtype: torch.dtype) -> tuple[int, int]:
    """The whole range of a dtype; 24 bits for int32, which float32 holds exactly."""
    info = torch.iinfo(dtype)
    return (-(1 << 23), (1 << 23) - 1) if dtype == torch.int32 else (info.min, info.max)


def quantized_tensor(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Values from the whole range of a dtype."""
    low, high = bounds(dtype)
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, high + 1, shape, generator=generator).to(dtype)


def as_int32(arguments: list[Any]) -> list[Any]:
    """The same values in a dtype that torch can compute with."""
    values = arguments[0]
    if values.dtype != torch.uint16:
        return arguments
    return [values.int(), *(torch.int32 if item is torch.uint16 else item for item in arguments[1:])]


def check(
    kernels: Kernels, name: str, arguments: list[Any], expected: torch.Tensor, **tolerance: float
) -> None:
    """Runs a kernel with a static and a dynamic output: `expected` bit for bit, or within the tolerance."""
    tolerance = tolerance or {"rtol": 0, "atol": 0}
    for is_dynamic in (False, True):
        out = poison(torch.empty_like(expected, memory_format=torch.contiguous_format))
        kernels.run(f"quantized_decomposed::{name}", [*arguments, out], dynamic=[out] if is_dynamic else ())
        assert_equal(out, expected, **tolerance)


def refuse(kernels: Kernels, name: str, arguments: list[Any]) -> str:
    """The first line that a kernel logs when it refuses these arguments."""
    with pytest.raises(Exception, match=name) as caught:
        kernels.run(f"quantized_decomposed::{name}", arguments)
    return caught.value.log[-1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("real", REAL)
@pytest.mark.parametrize("dtype", QUANTIZED)
def test_quantize_per_tensor(
    kernels: Kernels, dtype: torch.dtype, real: torch.dtype, shape: tuple[int, ...]
) -> None:
    values = random_tensor(shape, real, low=-20, high=20)
    low, high = bounds(dtype)
    for scale, zero_point in ((0.1, 3), (0.25, 0), (0.003, low + 1), (7.5, high)):
        arguments = [values, scale, zero_point, low, high, dtype]
        check(kernels, "quantize_per_tensor.out", arguments, DEFINED.quantize_per_tensor(*arguments))


@pytest.mark.parametrize("dtype", QUANTIZED)
def test_quantize_rounds_halves_to_even_and_saturates(kernels: Kernels, dtype: torch.dtype) -> None:
    halves = torch.arange(-40, 40) / 2
    special = torch.tensor([1e9, -1e9, 3e38, -3e38, float("inf"), -float("inf"), 1e-40, -0.0])
    values = torch.cat([halves, special])
    low, high = bounds(dtype)
    for zero_point in (0, 1, 7, low, high):
        arguments = [values, 1.0, zero_point, low, high, dtype]
        check(kernels, "quantize_per_tensor.out", arguments, DEFINED.quantize_per_tensor(*arguments))
        narrow = [values, 1.0, zero_point, max(low, -7), 6, dtype]
        check(kernels, "quantize_per_tensor.out", narrow, DEFINED.quantize_per_tensor(*narrow))


def test_quantize_reaches_the_ends_of_int32(kernels: Kernels) -> None:
    low, high = -(1 << 31), (1 << 31) - 1
    values = torch.tensor([3e9, -3e9, 2147483520.0, float("nan")])
    expected = torch.tensor([high, low, 2147483520, 0], dtype=torch.int32)
    check(kernels, "quantize_per_tensor.out", [values, 1.0, 0, low, high, torch.int32], expected)


def test_quantize_makes_zero_of_nan(kernels: Kernels) -> None:
    expected = torch.zeros(1, dtype=torch.int8)
    check(
        kernels,
        "quantize_per_tensor.out",
        [torch.tensor([float("nan")]), 0.1, 5, -128, 127, torch.int8],
        expected,
    )


@settings(max_examples=200, deadline=None)
@given(
    value=st.floats(width=32, allow_nan=False),
    scale=st.floats(1e-6, 1e6),
    zero_point=st.integers(-128, 127),
)
def test_quantize_any_number(kernels: Kernels, value: float, scale: float, zero_point: int) -> None:
    arguments = [torch.tensor([value]), scale, zero_point, -128, 127, torch.int8]
    check(kernels, "quantize_per_tensor.out", arguments, DEFINED.quantize_per_tensor(*arguments))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", QUANTIZED)
@pytest.mark.parametrize("real", FLOATING)
def test_dequantize_per_tensor(
    kernels: Kernels, dtype: torch.dtype, real: torch.dtype, shape: tuple[int, ...]
) -> None:
    values = quantized_tensor(shape, dtype)
    low, high = bounds(dtype)
    for scale, zero_point in ((0.1, 3), (0.003, low), (7.5, 0)):
        arguments = [values, scale, zero_point, low, high, dtype]
        if real in (torch.float32, torch.float64):
            exact = DEFINED.dequantize_per_tensor(*arguments, out_dtype=real)
        else:  # torch also rounds intermediate results
            exact = DEFINED.dequantize_per_tensor(*arguments).to(real)
        check(kernels, "dequantize_per_tensor.out", [*arguments, real], exact)


def test_dequantize_without_a_dtype_gives_float32(kernels: Kernels) -> None:
    arguments = [quantized_tensor((9,), torch.int8), 0.5, 1, -128, 127, torch.int8]
    check(kernels, "dequantize_per_tensor.out", [*arguments, None], DEFINED.dequantize_per_tensor(*arguments))


@pytest.mark.parametrize("scale_dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("zero_dtype", [torch.int64, torch.int32, torch.int8])
def test_numbers_in_tensors(kernels: Kernels, scale_dtype: torch.dtype, zero_dtype: torch.dtype) -> None:
    scale, zero_point = torch.tensor([0.17], dtype=scale_dtype), torch.tensor(3, dtype=zero_dtype)
    values = random_tensor((4, 7), torch.float32, low=-30, high=30)
    arguments = [values, scale, zero_point, -128, 127, torch.int8]
    quantized = DEFINED.quantize_per_tensor.tensor(*arguments)
    check(kernels, "quantize_per_tensor.Tensor_out", arguments, quantized)
    arguments[0] = quantized
    expected = DEFINED.dequantize_per_tensor.tensor(*arguments)
    check(kernels, "dequantize_per_tensor.Tensor_out", [*arguments, None], expected)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 1, 0, 2]])
def test_dim_orders_may_differ(kernels: Kernels, order: list[int]) -> None:
    values = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), order)
    arguments = [values, 0.1, 3, -128, 127, torch.int8]
    quantized = DEFINED.quantize_per_tensor(*arguments)
    check(kernels, "quantize_per_tensor.out", arguments, quantized)
    arguments[0] = with_dim_order(quantized, order)
    expected = DEFINED.dequantize_per_tensor(*arguments)
    check(kernels, "dequantize_per_tensor.out", [*arguments, None], expected)


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
@pytest.mark.parametrize("scale_dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dtype", QUANTIZED)
def test_per_channel(kernels: Kernels, dtype: torch.dtype, scale_dtype: torch.dtype, axis: int) -> None:
    shape = (3, 4, 2, 5)
    scales = random_tensor((shape[axis],), scale_dtype, low=0.01, high=0.4)
    zero_points = random_tensor((shape[axis],), torch.int64, low=0, high=20)
    low, high = bounds(dtype)
    for real in REAL:
        arguments = [
            random_tensor(shape, real, low=-30, high=30),
            scales,
            zero_points,
            axis,
            low,
            high,
            dtype,
        ]
        expected = DEFINED.quantize_per_channel(*arguments)
        check(kernels, "quantize_per_channel.out", arguments, expected)
    values = quantized_tensor(shape, dtype)
    for real in FLOATING:
        for zeros in (zero_points, zero_points.int(), None):
            arguments = [values, scales, zeros, axis, low, high, dtype]
            exact = DEFINED.dequantize_per_channel(*as_int32(arguments), out_dtype=real)
            check(kernels, "dequantize_per_channel.out", [*arguments, real], exact)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [1, 0, 3, 2]])
@pytest.mark.parametrize("axis", [0, 1, 3])
def test_per_channel_of_other_dim_orders(kernels: Kernels, axis: int, order: list[int]) -> None:
    values = with_dim_order(quantized_tensor((3, 4, 2, 5), torch.int8), order)
    scales = random_tensor((values.size(axis),), torch.float32, low=0.01, high=0.4)
    zero_points = torch.zeros(values.size(axis), dtype=torch.int64)
    arguments = [values, scales, zero_points, axis, -128, 127, torch.int8]
    expected = DEFINED.dequantize_per_channel(*arguments)
    check(kernels, "dequantize_per_channel.out", [*arguments, None], expected)


@pytest.mark.parametrize("dtype", QUANTIZED)
@pytest.mark.parametrize(("shape", "axis"), [((6, 70), 0), ((2, 3, 5, 9), 1), ((2, 40, 3), 1), ((3, 41), 1)])
def test_per_channel_of_long_runs(
    kernels: Kernels, shape: tuple[int, ...], axis: int, dtype: torch.dtype
) -> None:
    channels = (shape[axis],)
    scales = random_tensor(channels, torch.float32, low=0.01, high=0.4)
    zero_points = random_tensor(channels, torch.int64, low=0, high=20)
    rest = [scales, zero_points, axis, *bounds(dtype), dtype]
    real = random_tensor(shape, torch.float32, low=-30, high=30)
    check(kernels, "quantize_per_channel.out", [real, *rest], DEFINED.quantize_per_channel(real, *rest))
    whole = quantized_tensor(shape, dtype)
    exact = DEFINED.dequantize_per_channel(*as_int32([whole, *rest]))
    check(kernels, "dequantize_per_channel.out", [whole, *rest, None], exact)


@pytest.mark.parametrize("shape", [(5,), (3, 7), (2, 3, 40), (0, 4), (2, 0)])
@pytest.mark.parametrize("scale_dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dtype", QUANTIZED)
def test_per_token(
    kernels: Kernels, dtype: torch.dtype, scale_dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    tokens = (*shape[:-1], 1)
    scales = random_tensor(tokens, scale_dtype, low=0.01, high=0.4)
    zero_points = random_tensor(tokens, torch.int64, low=0, high=20)
    low, high = bounds(dtype)
    arguments = [
        random_tensor(shape, torch.float32, low=-30, high=30),
        scales,
        zero_points,
        low,
        high,
        dtype,
    ]
    check(kernels, "quantize_per_token.out", arguments, DEFINED.quantize_per_token(*arguments))
    arguments[0] = quantized_tensor(shape, dtype)
    for real in (torch.float32, torch.float16):
        expected = DEFINED.dequantize_per_token(*as_int32(arguments), real)
        check(kernels, "dequantize_per_token.out", [*arguments, real], expected)


def test_a_token_adds_its_zero_point_before_it_rounds(kernels: Kernels) -> None:
    values = torch.arange(-20, 20).reshape(2, 20) / 2
    arguments = [
        values,
        torch.ones(2, 1),
        torch.tensor([[1], [2]]),
        -128,
        127,
        torch.int8,
    ]
    check(kernels, "quantize_per_token.out", arguments, DEFINED.quantize_per_token(*arguments))


@pytest.mark.parametrize("real", REAL)
@pytest.mark.parametrize(("low", "high"), [(-9, 3), (2, 5), (-7, -1), (0, 1e-9)])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16])
def test_choose_qparams(
    kernels: Kernels, dtype: torch.dtype, low: float, high: float, real: torch.dtype
) -> None:
    values = random_tensor((5, 70), real, low=low, high=high)
    quant_min, quant_max = bounds(dtype)
    arguments = [values, quant_min, quant_max, 1e-7, dtype]
    outs = [torch.empty(1, dtype=torch.float64), torch.empty(1, dtype=torch.int64)]
    kernels.run("quantized_decomposed::choose_qparams.Tensor_out", [*arguments, *outs], dynamic=outs)
    # In float32, as torch computes with 16 bits.
    scale, zero_point = DEFINED.choose_qparams.tensor(values.float(), *arguments[1:])
    assert_equal(outs[0], scale, rtol=0, atol=0)
    assert_equal(outs[1], zero_point)


@pytest.mark.parametrize("lowest", [-1.0, -3.0, -7e-5])
def test_choose_qparams_of_32_bits_stays_in_the_range(kernels: Kernels, lowest: float) -> None:
    """float32 rounds the range of int32 up: for negative values the zero point would be one too high."""
    low, high = -(2**31), 2**31 - 1
    outs = [torch.empty(1, dtype=torch.float64), torch.empty(1, dtype=torch.int64)]
    arguments = [torch.tensor([lowest, 0.0]), low, high, 1e-30, torch.int32]
    kernels.run("quantized_decomposed::choose_qparams.Tensor_out", [*arguments, *outs], dynamic=outs)
    assert int(outs[1]) == high


@pytest.mark.parametrize("shape", [(5,), (3, 7), (2, 3, 70)])
@pytest.mark.parametrize(("low", "high"), [(-9, 3), (2, 5), (-7, -1), (0, 1e-9)])
def test_choose_qparams_per_token(kernels: Kernels, low: float, high: float, shape: tuple[int, ...]) -> None:
    values = random_tensor(shape, torch.float32, low=low, high=high)
    tokens = (*shape[:-1], 1)
    outs = [torch.empty(tokens, dtype=torch.float64), torch.empty(tokens, dtype=torch.int64)]
    name = "quantized_decomposed::choose_qparams_per_token_asymmetric.out"
    for dtype in (torch.int8, torch.float32):  # the dtype does not change the range
        kernels.run(name, [values, dtype, *outs], dynamic=outs)
        scale, zero_point = DEFINED.choose_qparams_per_token_asymmetric(values, dtype)
        assert_equal(outs[0], scale, rtol=0, atol=0)
        assert_equal(outs[1], zero_point)


@pytest.mark.parametrize("values", [torch.empty(0), torch.tensor([1.0, float("nan")])])
def test_choose_qparams_needs_numbers(kernels: Kernels, values: torch.Tensor) -> None:
    outs = [torch.empty(1, dtype=torch.float64), torch.empty(1, dtype=torch.int64)]
    arguments = [values, -128, 127, 1e-7, torch.int8, *outs]
    assert "input" in refuse(kernels, "choose_qparams.Tensor_out", arguments)
    arguments = [values, torch.int8, *outs]
    assert "input" in refuse(kernels, "choose_qparams_per_token_asymmetric.out", arguments)


def test_choose_qparams_of_infinities_gives_numbers(kernels: Kernels) -> None:
    values = torch.tensor([[1.0, float("inf")], [-float("inf"), 2.0]])
    outs = [torch.empty(1, dtype=torch.float64), torch.empty(1, dtype=torch.int64)]
    kernels.run(
        "quantized_decomposed::choose_qparams.Tensor_out", [values, -128, 127, 1e-7, torch.int8, *outs]
    )
    assert -128 <= int(outs[1]) <= 127


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
def test_add(kernels: Kernels, dtype: torch.dtype) -> None:
    low, high = bounds(dtype)
    a, b = quantized_tensor((3, 50), dtype, 1), quantized_tensor((3, 50), dtype, 2)
    numbers = [(0.1, 3), (0.2, 5), (0.3, 7)]
    ranges = [(scale, zero_point, low, high) for scale, zero_point in numbers]
    real = [DEFINED.dequantize_per_tensor(t, *r, dtype) for t, r in zip((a, b), ranges, strict=False)]
    expected = DEFINED.quantize_per_tensor(real[0] + real[1], *ranges[2], dtype)
    check(kernels, "add.out", [a, *ranges[0], b, *ranges[1], *ranges[2]], expected)


def test_add_refuses_other_shapes(kernels: Kernels) -> None:
    numbers = [0.1, 3, -128, 127]
    a = quantized_tensor((3, 4), torch.int8)
    for b in (quantized_tensor((4,), torch.int8), quantized_tensor((3, 4), torch.uint8), a.T.contiguous().T):
        log = refuse(kernels, "add.out", [a, *numbers, b, *numbers, *numbers, torch.empty_like(a)])
        assert "b" in log or "dtype" in log


INT8 = [-128, 127, torch.int8]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([torch.ones(3, dtype=torch.float64), 0.1, 0, *INT8], "input"),
        ([torch.ones(3, dtype=torch.int32), 0.1, 0, *INT8], "input"),
        ([torch.ones(3), 0.1, 0, -129, 127, torch.int8], "quant_min"),
        ([torch.ones(3), 0.1, 0, -128, 128, torch.int8], "quant_max"),
        ([torch.ones(3), 0.1, 0, 5, 4, torch.int8], "quant_min"),
        ([torch.ones(3), 0.1, 0, 0, 127, torch.uint8], "dtype"),
        ([torch.ones(4), 0.1, 0, *INT8], "shape"),
    ],
)
def test_quantize_refuses(kernels: Kernels, arguments: list[Any], named: str) -> None:
    out = torch.empty(3, dtype=torch.int8)
    assert named in refuse(kernels, "quantize_per_tensor.out", [*arguments, out])


@pytest.mark.parametrize(
    ("scales", "zero_points", "axis", "named"),
    [
        (torch.ones(3), torch.zeros(3, dtype=torch.int64), 1, "scales"),
        (torch.ones(2), torch.zeros(3, dtype=torch.int64), 0, "zero_points"),
        (torch.ones(2), torch.zeros(2, dtype=torch.int64), 2, "axis"),
        (torch.ones(2), torch.zeros(2, dtype=torch.int64), -3, "axis"),
        (torch.ones(2, dtype=torch.float16), torch.zeros(2, dtype=torch.int64), 0, "scales"),
        (torch.ones(2), torch.zeros(2, dtype=torch.bool), 0, "zero_points"),
    ],
)
def test_per_channel_refuses(
    kernels: Kernels, scales: torch.Tensor, zero_points: torch.Tensor, axis: int, named: str
) -> None:
    real, whole = torch.ones(2, 5), torch.ones(2, 5, dtype=torch.int8)
    arguments = [real, scales, zero_points, axis, *INT8, whole]
    assert named in refuse(kernels, "quantize_per_channel.out", arguments)
    arguments = [whole, scales, zero_points, axis, *INT8, None, real]
    assert named in refuse(kernels, "dequantize_per_channel.out", arguments)


@pytest.mark.parametrize("axis", [-1, -2])
def test_channels_are_counted_from_the_end_too(kernels: Kernels, axis: int) -> None:
    real = random_tensor((4, 5), torch.float32)
    scales = random_tensor((real.shape[axis],), torch.float32, low=0.05, high=0.2, seed=1)
    zeros = torch.arange(real.shape[axis])
    whole, back = torch.empty(4, 5, dtype=torch.int8), torch.empty(4, 5)
    kernels.run("quantized_decomposed::quantize_per_channel.out", [real, scales, zeros, axis, *INT8, whole])
    expected = DEFINED.quantize_per_channel(real, scales, zeros, axis, *INT8)
    assert_equal(whole, expected)
    arguments = [whole, scales, zeros, axis, *INT8, None, back]
    kernels.run("quantized_decomposed::dequantize_per_channel.out", arguments)
    assert_equal(back, DEFINED.dequantize_per_channel(whole, scales, zeros, axis, *INT8))


def test_per_token_refuses(kernels: Kernels) -> None:
    real, whole = torch.ones(2, 5), torch.ones(2, 5, dtype=torch.int8)
    few = [torch.ones(1), torch.zeros(1, dtype=torch.int64)]
    assert "scales" in refuse(kernels, "quantize_per_token.out", [real, *few, *INT8, whole])
    one = torch.ones(())
    assert "rank" in refuse(kernels, "quantize_per_token.out", [one, *few, *INT8, one.to(torch.int8)])
    columns = torch.ones(5, 2).T
    pair = [torch.ones(2, 1), torch.zeros(2, 1, dtype=torch.int64)]
    assert "row-major" in refuse(kernels, "quantize_per_token.out", [columns, *pair, *INT8, whole])
