# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions and linear layers of integers against their definition in the exporter, bit for bit."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from rushlight.export.dialect import integers as dialect
from rushlight.integers.arithmetic import ROUNDINGS, requantization
from support.harness import KernelRefused, Kernels, Variant, assert_equal, poison, with_dim_order
from support.quantized_products import (
    BYTES,
    CONVOLUTION,
    LEAST,
    LINEAR,
    MOST,
    NUMBERS,
    drawn_convolution,
    drawn_linear,
    limits,
)


def check(kernels: Kernels, name: str, arguments: Sequence[Any], order: Sequence[int] | None = None) -> None:
    """Compares all variants of the kernel with the definition, with one thread and with more."""
    expected = dialect.overload(name.partition(".")[0])(*arguments)
    order = order or range(expected.dim())
    for variant, threads, is_dynamic in itertools.product(kernels.variants(name), (1, 3), (False, True)):
        out = poison(with_dim_order(torch.empty_like(expected), order))
        dynamic = [out] if is_dynamic else ()
        kernels.run(name, [*arguments, out], dynamic=dynamic, variant=variant, threads=threads)
        assert_equal(out, expected)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("block", range(4))
def test_any_convolution(kernels: Kernels, block: int, dtype: torch.dtype, rounding: str) -> None:
    for seed in range(100 * block, 100 * (block + 1)):
        check(kernels, CONVOLUTION, *drawn_convolution(seed, rounding, dtype))


@pytest.mark.parametrize("channels", [1, 3, 8, 16, 24, 70])
@pytest.mark.parametrize("is_depthwise", [True, False], ids=["depthwise", "dense"])
def test_convolutions_of_wide_images(kernels: Kernels, channels: int, is_depthwise: bool) -> None:
    """Kernels of hosts process several rows of such images together, including the padding around them."""
    generator = torch.Generator().manual_seed(channels)
    last, groups, outputs = (0, 2, 3, 1), channels if is_depthwise else 1, channels if is_depthwise else 20
    numbers = {"dtype": torch.int8, "generator": generator}
    x = with_dim_order(torch.randint(-128, 128, (2, channels, 9, 40), **numbers), last)
    weight = torch.randint(-127, 128, (outputs, channels // groups, 3, 3), **numbers)
    bias = torch.randint(-9999, 9999, (outputs,), dtype=torch.int32, generator=generator)
    scale = torch.full((1,), 1 << 30, dtype=torch.int32), torch.full((1,), -7, dtype=torch.int8)
    for stride, padding, dilation in itertools.product((1, 2), (0, 2), (1, 3)):
        window = [stride, stride], [padding, padding], [dilation, dilation], False, [0, 0], groups
        check(kernels, CONVOLUTION, [x, 7, weight, bias, *scale, *window, "single", 5, -128, 127], last)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_any_linear_layer(kernels: Kernels, dtype: torch.dtype, rounding: str) -> None:
    for seed in range(200):
        check(kernels, LINEAR, *drawn_linear(seed, rounding, dtype))


def convolution(**changed: Any) -> list[Any]:
    """Arguments of a small convolution, some of them changed."""
    return list(
        {
            "input": torch.ones(1, 2, 4, 4, dtype=torch.int8),
            "input_zero_point": 3,
            "weight": torch.ones(5, 2, 3, 3, dtype=torch.int8),
            "bias": torch.zeros(5, dtype=torch.int32),
            "multipliers": torch.full((1,), 1 << 30, dtype=torch.int32),
            "shifts": torch.zeros(1, dtype=torch.int8),
            "stride": [1, 1],
            "padding": [0, 0],
            "dilation": [1, 1],
            "transposed": False,
            "output_padding": [0, 0],
            "groups": 1,
            "rounding": "single",
            "output_zero_point": 0,
            "output_min": -128,
            "output_max": 127,
            "out": torch.empty(1, 5, 2, 2, dtype=torch.int8),
            **changed,
        }.values()
    )


def linear(**changed: Any) -> list[Any]:
    """Arguments of a small linear layer, some of them changed."""
    return list(
        {
            "input": torch.ones(3, 4, dtype=torch.int8),
            "weight": torch.ones(5, 4, dtype=torch.int8),
            "bias": torch.zeros(5, dtype=torch.int32),
            "multipliers": torch.full((1,), 1 << 30, dtype=torch.int32),
            "shifts": torch.zeros(1, dtype=torch.int8),
            "rounding": "single",
            "output_zero_point": 0,
            "output_min": -128,
            "output_max": 127,
            "out": torch.empty(3, 5, dtype=torch.int8),
            **changed,
        }.values()
    )


SMALL = [(CONVOLUTION, convolution), (LINEAR, linear)]
both = pytest.mark.parametrize(("name", "made"), SMALL, ids=["convolution", "linear"])


def int32(*numbers: int) -> torch.Tensor:
    """A list of int32."""
    return torch.tensor(numbers, dtype=torch.int32)


def int8(*numbers: int) -> torch.Tensor:
    """A list of int8."""
    return torch.tensor(numbers, dtype=torch.int8)


HALF = 1 << 30
FLOAT = {"rounding": "float", "shifts": None}


def refused(kernels: Kernels, name: str, arguments: Sequence[Any]) -> KernelRefused:
    """The error of a kernel that must refuse the arguments."""
    with pytest.raises(KernelRefused) as caught:
        kernels.run(name, arguments)
    return caught.value


ROUNDING = "rounding: expected single, double or float, got "
MULTIPLIER = "multipliers: expected 0 or 2^30 at least, got "
SCALE = "multipliers: expected finite values above 0, got "
SHIFT = "shifts: expected -31 to "
BIAS = "may have more than 32 bits"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"rounding": "half"}, f"{ROUNDING}half"),
    ({"rounding": ""}, ROUNDING),
    ({"rounding": "singles"}, f"{ROUNDING}singles"),
    ({"multipliers": int32(HALF - 1)}, f"{MULTIPLIER}1073741823"),
    ({"multipliers": int32(-HALF)}, f"{MULTIPLIER}-1073741824"),
    ({"multipliers": int32(LEAST)}, f"{MULTIPLIER}-2147483648"),
    ({"multipliers": int32(HALF, HALF, HALF, HALF, 1), "shifts": int8(0, 0, 0, 0, 0)}, f"{MULTIPLIER}1"),
    ({"multipliers": int32(HALF, HALF)}, "multipliers: expected one element or 5, got 2"),
    ({"multipliers": int32()}, "multipliers: expected one element or 5, got 0"),
    ({"multipliers": int32(HALF).reshape(1, 1)}, "multipliers: expected one element or 5, got 1"),
    ({"shifts": int8(-32)}, f"{SHIFT}30, got -32"),
    ({"shifts": int8(31)}, f"{SHIFT}30, got 31"),
    ({"shifts": int8(31), "rounding": "double"}, SHIFT),
    ({"shifts": int8(0, 0)}, "shifts: expected one element or 5, got 2"),
    ({"shifts": int8(0, 0, 0, 0, 0)}, "shifts: expected as many as multipliers, 1, got 5"),
    ({"shifts": None}, "shifts: expected some for rounding of integers"),
    ({"rounding": "float", "multipliers": torch.ones(1)}, "shifts: expected none for rounding float"),
    (FLOAT | {"multipliers": torch.tensor([float("nan")])}, f"{SCALE}nan"),
    (FLOAT | {"multipliers": torch.tensor([float("inf")])}, f"{SCALE}inf"),
    (FLOAT | {"multipliers": torch.tensor([0.0])}, f"{SCALE}0"),
    (FLOAT | {"multipliers": torch.tensor([1, 1, 1, 1, -0.5])}, f"{SCALE}-0.5"),
    ({"output_zero_point": 128}, "expected -128 <= min <= zero point <= max <= 127, got -128, 128, 127"),
    ({"output_zero_point": -5, "output_min": -4}, "got -4, -5, 127"),
    ({"output_zero_point": 5, "output_max": 4}, "got -128, 5, 4"),
    ({"output_min": -129}, "got -129, 0, 127"),
    ({"output_max": 1 << 40}, "got -128, 0, 1099511627776"),
    ({"bias": int32(0, 0, 0, 0)}, "bias: expected one element or 5, got 4"),
    ({"bias": int32(0)}, "bias: expected 5 elements, got one"),
    ({"bias": int32(0, 0, 0, 0, MOST)}, f"a bias of up to 2147483647 {BIAS}"),
    ({"bias": int32(LEAST, 0, 0, 0, 0)}, f"a bias of up to 2147483648 {BIAS}"),
]


@both
@pytest.mark.parametrize(("changed", "message"), REFUSED)
def test_arguments_that_are_refused(
    kernels: Kernels, name: str, made: Any, changed: dict[str, Any], message: str
) -> None:
    caught = refused(kernels, name, made(**changed))
    assert caught.error == "InvalidArgument"
    assert message in caught.log[-1]


@both
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"multipliers": torch.ones(1)}, "multipliers: expected dtype int32, got float32"),
        (FLOAT, "multipliers: expected dtype float32, got int32"),
        ({"shifts": int32(0)}, "shifts: expected dtype int8, got int32"),
        ({"bias": torch.zeros(5)}, "bias: expected dtype int32, got float32"),
    ],
)
def test_lists_of_other_dtypes_are_refused(
    kernels: Kernels, name: str, made: Any, changed: dict[str, Any], message: str
) -> None:
    caught = refused(kernels, name, made(**changed))
    assert caught.error == "InvalidType"
    assert message in caught.log[-1]


@both
@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"weight": torch.uint8}, "InvalidType", "weight: expected dtype int8, got uint8"),
        ({"weight": torch.int32}, "InvalidType", "weight: expected dtype int8, got int32"),
        ({"out": torch.uint8}, "InvalidType", "input and out"),
        ({"input": torch.int16}, "InvalidType", "input and out"),
        ({"input": torch.int32, "out": torch.int32}, "InvalidType", "int32"),
        ({"input": torch.float32, "out": torch.float32}, "InvalidType", "float32"),
    ],
)
def test_dtypes_that_are_refused(
    kernels: Kernels, name: str, made: Any, changed: dict[str, torch.dtype], error: str, message: str
) -> None:
    names = [
        *(argument.name for argument in dialect.overload(name.partition(".")[0])._schema.arguments),
        "out",
    ]
    arguments = [
        argument.to(changed[each]) if each in changed else argument
        for each, argument in zip(names, made(), strict=True)
    ]
    caught = refused(kernels, name, arguments)
    assert caught.error in (error, "NotSupported")
    assert message in caught.log[-1]


@pytest.mark.parametrize("dtype", BYTES)
def test_a_zero_point_of_the_input_is_one_of_its_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    low, high = limits(dtype)
    changed = {"input": torch.ones(1, 2, 4, 4, dtype=dtype), "out": torch.empty(1, 5, 2, 2, dtype=dtype)}
    changed |= {"output_min": low, "output_zero_point": 5, "output_max": high}
    for zero_point in (low, high):
        kernels.run(CONVOLUTION, convolution(input_zero_point=zero_point, **changed))
    for zero_point in (low - 1, high + 1, 1 << 32, -(1 << 40)):
        caught = refused(kernels, CONVOLUTION, convolution(input_zero_point=zero_point, **changed))
        assert caught.error == "InvalidArgument"
        assert f"input_zero_point: expected {low} to {high}, got {zero_point}" in caught.log[-1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"input": torch.ones(3, 5, dtype=torch.int8)}, "weight: expected 5 input features, got 4"),
        ({"input": torch.tensor(1, dtype=torch.int8)}, "rank 2 and 0"),
        ({"weight": torch.ones(5, 4, 1, dtype=torch.int8)}, "weight: expected rank 2"),
        ({"out": torch.empty(3, 4, dtype=torch.int8)}, "out"),
    ],
)
def test_shapes_that_linear_layers_refuse(kernels: Kernels, changed: dict[str, Any], message: str) -> None:
    assert message in refused(kernels, LINEAR, linear(**changed)).log[-1]


@pytest.mark.parametrize(
    "changed",
    [
        {"weight": torch.ones(5, 3, 3, 3, dtype=torch.int8)},
        {"weight": torch.ones(5, 2, 5, 3, dtype=torch.int8)},
        {"groups": 2},
        {"groups": 0},
        {"stride": [0, 1]},
        {"padding": [-1, 0]},
        {"dilation": [1, 0]},
        {"out": torch.empty(1, 5, 2, 3, dtype=torch.int8)},
    ],
)
def test_shapes_that_convolutions_refuse(kernels: Kernels, changed: dict[str, Any]) -> None:
    caught = refused(kernels, CONVOLUTION, convolution(**changed))
    assert caught.error in ("InvalidArgument", "NotSupported")
    assert caught.log


@both
def test_the_largest_sums_are_taken(kernels: Kernels, name: str, made: Any) -> None:
    products = 18 if name == CONVOLUTION else 4
    most = MOST - products * 255 * 128
    taken = made(bias=torch.full((5,), most, dtype=torch.int32))
    check(kernels, name, taken[:-1])
    caught = refused(kernels, name, made(bias=torch.full((5,), most + 1, dtype=torch.int32)))
    assert f"sums of {products} products" in caught.log[-1]


def test_depths_whose_sums_may_overflow_are_refused(kernels: Kernels) -> None:
    depth = MOST // (255 * 128)
    for size in (depth, depth + 1):
        given = {"input": torch.full((1, size), -128, dtype=torch.int8)}
        given |= {"weight": torch.full((5, size), -128, dtype=torch.int8), "bias": None}
        arguments = linear(**given, out=torch.empty(1, 5, dtype=torch.int8), shifts=int8(-30))
        if size == depth:
            check(kernels, LINEAR, arguments[:-1])
        else:
            assert f"sums of {size} products" in refused(kernels, LINEAR, arguments).log[-1]


@both
def test_double_takes_no_shift_that_loses_bits(kernels: Kernels, name: str, made: Any) -> None:
    products = 18 if name == CONVOLUTION else 4
    most = (MOST // (products * 255 * 128)).bit_length() - 1
    check(kernels, name, made(rounding="double", shifts=int8(most))[:-1])
    caught = refused(kernels, name, made(rounding="double", shifts=int8(most + 1)))
    assert f"shifts: expected -31 to {most}, got {most + 1}" in caught.log[-1]


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_halves(kernels: Kernels, rounding: str) -> None:
    """Sums of -40 to 40 in halves and quarters of a step: each rounding mode resolves them in its own
    direction."""
    sums = torch.arange(-40, 41, dtype=torch.int8).reshape(-1, 1)
    one = torch.ones(1, 1, dtype=torch.int8)
    for exponent in (-1, -2, -3):
        made = requantization(np.array([2.0**exponent]), rounding)
        assert made is not None
        shifts = None if made.shifts is None else torch.from_numpy(made.shifts)
        to = [torch.from_numpy(made.multipliers), shifts, rounding, 0, -128, 127]
        check(kernels, LINEAR, [sums, one, None, *to])
        out = torch.empty(81, 1, dtype=torch.int8)
        kernels.run(LINEAR, [sums, one, None, *to, out])
        exact = sums.double() * 2.0**exponent
        if rounding == "single":
            expected = torch.floor(exact + 0.5)
        elif rounding == "float":
            expected = torch.round(exact)
        else:
            # The first rounding rounds halves up, the second one away from zero.
            upper = torch.floor(sums.double() / 2 + 0.5)
            steps = upper * 2.0 ** (exponent + 1)
            expected = torch.sign(steps) * torch.floor(steps.abs() + 0.5)
        assert torch.equal(out.double(), expected)


@pytest.mark.parametrize("dtype", BYTES)
def test_no_elements(kernels: Kernels, dtype: torch.dtype) -> None:
    low, high = limits(dtype)
    to = [int32(HALF), int8(0), "single", 5, low, high]
    for shape, weight in [((0, 4), (5, 4)), ((3, 0), (5, 0)), ((3, 4), (0, 4)), ((2, 0, 4), (3, 4))]:
        bias = torch.arange(weight[0], dtype=torch.int32)
        check(
            kernels, LINEAR, [torch.ones(shape, dtype=dtype), torch.ones(weight, dtype=torch.int8), bias, *to]
        )
    plain = [[1, 1], [1, 1], [1, 1], False, [0, 0], 1]
    x, weight = torch.ones(0, 2, 4, 4, dtype=dtype), torch.ones(5, 2, 3, 3, dtype=torch.int8)
    check(kernels, CONVOLUTION, [x, 7, weight, None, *to[:2], *plain, *to[2:]])


def test_little_scratch_memory_leaves_the_results(kernels: Kernels) -> None:
    for seed in range(40):
        arguments, order = drawn_convolution(seed, "single", torch.int8)
        expected = dialect.overload("rushlight::quantized_convolution")(*arguments)
        for bytes_left in (0, 1, 64, 1000):
            out = poison(with_dim_order(torch.empty_like(expected), order))
            kernels.run(CONVOLUTION, [*arguments, out], temporary_bytes=bytes_left)
            assert_equal(out, expected)


@both
def test_the_host_has_kernels_of_its_own(kernels: Kernels, name: str, made: Any) -> None:
    """The comparisons above then cover two kernels each, with and without prepared constants."""
    assert kernels.variants(name) == [Variant(), Variant(prepare=True), Variant(portable=True)]
