# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the exporter's dialect that fuse an operator with its successors, against torch eager."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from support.harness import (
    FLOATING,
    KernelRefused,
    Kernels,
    assert_equal,
    poison,
    random_tensor,
    with_dim_order,
)

CONVOLUTION = "rushlight::convolution_act.out"
LINEAR = "rushlight::linear_act.out"
NHWC = [0, 2, 3, 1]

Function = Callable[[torch.Tensor], torch.Tensor]
# Name, low, high, and PyTorch's function.
ACTIVATIONS: list[tuple[str, float, float, Function]] = [
    ("none", 0.0, 0.0, lambda x: x),
    ("clamp", 0.0, math.inf, torch.relu),
    ("clamp", 0.0, 6.0, functional.relu6),
    ("clamp", -0.5, 0.25, lambda x: torch.clamp(x, -0.5, 0.25)),
    ("clamp", 1.0, -1.0, lambda x: torch.clamp(x, 1.0, -1.0)),
    ("leaky_relu", 0.1, 0.0, lambda x: functional.leaky_relu(x, 0.1)),
    ("hardsigmoid", 0.0, 0.0, functional.hardsigmoid),
    ("hardswish", 0.0, 0.0, functional.hardswish),
    ("sigmoid", 0.0, 0.0, torch.sigmoid),
    ("silu", 0.0, 0.0, functional.silu),
    ("tanh", 0.0, 0.0, torch.tanh),
    ("gelu", 0.0, 0.0, functional.gelu),
    ("gelu_tanh", 0.0, 0.0, lambda x: functional.gelu(x, approximate="tanh")),
]
NAMES = ["-".join(map(str, each[:3])) for each in ACTIVATIONS]
# Tolerances of dtypes that are rounded after the operator, and once more at the end.
LOOSE: dict[torch.dtype, dict[str, float]] = {
    torch.float16: {"rtol": 2e-3, "atol": 2e-2},
    torch.bfloat16: {"rtol": 1.6e-2, "atol": 1.5e-1},
    torch.float32: {"rtol": 1e-5, "atol": 2e-5},
    torch.float64: {"rtol": 1e-12, "atol": 1e-12},
}


def expected_of(
    linear: torch.Tensor, residual: torch.Tensor | None, function: Function, dtype: torch.dtype
) -> torch.Tensor:
    """The expected result, from an operator's result in float64."""
    return function(linear if residual is None else linear + residual.double()).to(dtype)


def check(kernels: Kernels, name: str, arguments: list[Any], expected: torch.Tensor, order: Any) -> None:
    """Runs all variants, with static and dynamic results in dim order `order`."""
    for variant, is_dynamic in itertools.product(kernels.variants(name), (False, True)):
        out = poison(with_dim_order(torch.empty_like(expected), order))
        kernels.run(name, [*arguments, out], dynamic=[out] if is_dynamic else (), variant=variant)
        assert_equal(out, expected, **LOOSE[expected.dtype])


def last_arguments(name: str, activation: str, low: float, high: float) -> list[tuple[str, list[Any]]]:
    """The operators that support the activation, with its arguments."""
    calls: list[tuple[str, list[Any]]] = [(name, [activation, low, high])]
    if activation in ("none", "clamp"):
        bounds = [-math.inf, math.inf] if activation == "none" else [low, high]
        calls.append((name.replace(".out", ".clamp_out"), bounds))
    return calls


def convolution_arguments(dtype: torch.dtype) -> list[Any]:
    """Input, weight and bias; stride, padding, dilation, transposed, output padding, groups."""
    return [
        random_tensor((2, 4, 7, 6), dtype),
        random_tensor((6, 2, 3, 3), dtype, low=-1, high=1, seed=1),
        random_tensor((6,), dtype, seed=2),
        [2, 1],
        [1, 1],
        [1, 1],
        False,
        [0, 0],
        2,
    ]


def convolved(arguments: list[Any]) -> torch.Tensor:
    return torch.ops.aten.convolution(*(a.double() if isinstance(a, torch.Tensor) else a for a in arguments))


@pytest.mark.parametrize("with_residual", [False, True])
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("activation", ACTIVATIONS, ids=NAMES)
def test_a_convolution_with_what_comes_after_it(
    kernels: Kernels, activation: Any, dtype: torch.dtype, with_residual: bool
) -> None:
    name, low, high, function = activation
    arguments = convolution_arguments(dtype)
    plain = convolved(arguments)
    residual = random_tensor(plain.shape, dtype, seed=3) if with_residual else None
    expected = expected_of(plain, residual, function, dtype)
    for operator, last in last_arguments(CONVOLUTION, name, low, high):
        check(kernels, operator, [*arguments, residual, *last], expected, range(4))


@pytest.mark.parametrize("order", [range(4), NHWC])
@pytest.mark.parametrize("activation", [ACTIVATIONS[2], ACTIVATIONS[7]])
def test_what_is_not_finite_reaches_what_comes_after(kernels: Kernels, activation: Any, order: Any) -> None:
    """Convolutions with many channels and 3 x 3 kernels, whose transforms spread infinities and NaN."""
    values = random_tensor((2, 32, 14, 15), torch.float32)
    values[1, 3, 5, 6], values[1, 7, 13, 0] = math.nan, math.inf
    weight = random_tensor((36, 32, 3, 3), torch.float32, low=-1, high=1, seed=1)
    arguments = [with_dim_order(values, order), weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1]
    plain = convolved(arguments)
    residual = random_tensor(plain.shape, torch.float32, seed=3)
    residual[0, 0, 0, 0] = math.inf
    name, low, high, function = activation
    expected = expected_of(plain, residual, function, torch.float32)
    residual = with_dim_order(residual, order)
    check(kernels, CONVOLUTION, [*arguments, residual, name, low, high], expected, order)


@pytest.mark.parametrize("orders", [(NHWC, NHWC, NHWC), (range(4), NHWC, range(4)), (NHWC, range(4), NHWC)])
def test_a_convolution_and_its_residual_may_lie_in_any_order(kernels: Kernels, orders: Any) -> None:
    arguments = convolution_arguments(torch.float32)
    plain = convolved(arguments)
    residual = random_tensor(plain.shape, torch.float32, seed=3)
    expected = torch.relu(plain + residual).float()
    arguments[0] = with_dim_order(arguments[0], orders[0])
    arguments += [with_dim_order(residual, orders[1]), "clamp", 0.0, math.inf]
    check(kernels, CONVOLUTION, arguments, expected, orders[2])


@pytest.mark.parametrize("order", [range(4), NHWC])
@pytest.mark.parametrize("groups", [1, 3, 12])
@pytest.mark.parametrize("activation", ["clamp", "hardswish"])
def test_what_comes_after_is_right_at_the_edges_of_tiles(
    kernels: Kernels, activation: str, groups: int, order: Any
) -> None:
    values = with_dim_order(random_tensor((2, 12, 13, 19), torch.float32), order)
    for outs, transposed in [(12, False), (84, False), (12, True)]:
        shape = (12, outs // groups, 3, 3) if transposed else (outs, 12 // groups, 3, 3)
        weight = random_tensor(shape, torch.float32, low=-1, high=1, seed=1)
        arguments = [values, weight, None, [2, 2], [1, 1], [1, 1], transposed, [0, 0], groups]
        plain = convolved(arguments)
        residual = random_tensor(plain.shape, torch.float32, seed=3)
        function = functional.relu6 if activation == "clamp" else functional.hardswish
        expected = function(plain + residual).float()
        arguments += [with_dim_order(residual, order), activation, 0.0, 6.0]
        check(kernels, CONVOLUTION, arguments, expected, order)


@pytest.mark.parametrize("order", [range(4), NHWC])
@pytest.mark.parametrize("activation", ["clamp", "hardswish"])
def test_what_comes_after_many_channels(kernels: Kernels, activation: str, order: Any) -> None:
    values = with_dim_order(random_tensor((2, 40, 15, 13), torch.float32, low=-1, high=1), order)
    weight = random_tensor((36, 40, 3, 3), torch.float32, low=-1, high=1, seed=1)
    bias = random_tensor((36,), torch.float32, seed=2)
    arguments = [values, weight, bias, [1, 1], [1, 1], [1, 1], False, [0, 0], 1]
    plain = convolved(arguments)
    residual = random_tensor(plain.shape, torch.float32, seed=3)
    function = functional.relu6 if activation == "clamp" else functional.hardswish
    expected = function(plain + residual).float()
    for variant in kernels.variants(CONVOLUTION):
        out = poison(with_dim_order(torch.empty_like(expected), order))
        after = [with_dim_order(residual, order), activation, 0.0, 6.0]
        kernels.run(CONVOLUTION, [*arguments, *after, out], variant=variant, threads=2)
        assert_equal(out, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_convolutions_of_each_rank(kernels: Kernels, rank: int, transposed: bool) -> None:
    values = random_tensor((1, 4, *[5] * rank), torch.float32)
    weight = random_tensor((4, 4, *[2] * rank), torch.float32, low=-1, high=1, seed=1)
    arguments = [values, weight, None, [2] * rank, [1] * rank, [1] * rank, transposed, [0] * rank, 1]
    expected = functional.silu(convolved(arguments)).float()
    check(kernels, CONVOLUTION, [*arguments, None, "silu", 0.0, 0.0], expected, range(rank + 2))


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("with_residual", [False, True])
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("activation", ACTIVATIONS, ids=NAMES)
def test_a_linear_layer_with_what_comes_after_it(
    kernels: Kernels, activation: Any, dtype: torch.dtype, with_residual: bool, with_bias: bool
) -> None:
    name, low, high, function = activation
    values = random_tensor((2, 3, 5), dtype, low=-2, high=2)
    weight = random_tensor((4, 5), dtype, low=-1, high=1, seed=1)
    bias = random_tensor((4,), dtype, seed=2) if with_bias else None
    plain = functional.linear(values.double(), weight.double(), None if bias is None else bias.double())
    residual = random_tensor((2, 3, 4), dtype, seed=3) if with_residual else None
    expected = expected_of(plain, residual, function, dtype)
    check(kernels, LINEAR, [values, weight, bias, residual, name, low, high], expected, range(3))
    transposed = None if residual is None else with_dim_order(residual, [2, 0, 1])
    check(kernels, LINEAR, [values, weight, bias, transposed, name, low, high], expected, [1, 0, 2])


def test_a_layer_of_no_rows_and_one_of_no_depth(kernels: Kernels) -> None:
    bias = random_tensor((4,), torch.float32)
    for rows, depth in ((0, 3), (2, 0)):
        values, weight = torch.ones(rows, depth), torch.ones(4, depth)
        expected = torch.relu(functional.linear(values, weight, bias))
        check(kernels, LINEAR, [values, weight, bias, None, "clamp", 0.0, math.inf], expected, range(2))


@pytest.mark.parametrize("name", sorted({each[0] for each in ACTIVATIONS} - {"gelu", "gelu_tanh"}))
def test_nan_stays_and_infinities_are_what_pytorch_says(kernels: Kernels, name: str) -> None:
    low, high, function = next(each[1:] for each in ACTIVATIONS if each[0] == name)
    values = torch.tensor([[math.nan], [math.inf], [-0.0], [100.0]])
    out = torch.empty(4, 1)
    kernels.run(LINEAR, [values, torch.ones(1, 1), None, None, name, low, high, out])
    assert_equal(out, function(values))


@pytest.mark.parametrize("name", [CONVOLUTION, LINEAR])
def test_an_unknown_activation_is_named_with_the_known_ones(kernels: Kernels, name: str) -> None:
    operands: list[Any] = [torch.ones(1, 1), torch.ones(1, 1), None]
    if name == CONVOLUTION:
        operands = [torch.ones(1, 1, 1), torch.ones(1, 1, 1), None, [1], [0], [1], False, [0], 1]
    for word in ("relu", "", "clamp,", "gelu_tan", "tanh, gelu"):
        with pytest.raises(KernelRefused) as refused:
            kernels.run(name, [*operands, None, word, 0.0, 0.0, torch.ones_like(operands[0])])
        assert refused.value.error == "InvalidArgument"
        assert f"got '{word}'" in str(refused.value)
        assert "none, clamp, leaky_relu" in str(refused.value) and "gelu_tanh, got" in str(refused.value)


@pytest.mark.parametrize(
    ("residual", "error", "named"),
    [
        (torch.ones(2, 4, dtype=torch.float64), "InvalidType", "input and residual"),
        (torch.ones(4), "InvalidArgument", "residual: expected the shape of the result"),
        (torch.ones(2, 3), "InvalidArgument", "residual: expected the shape of the result"),
    ],
)
def test_a_residual_of_another_shape_or_dtype_is_refused(
    kernels: Kernels, residual: torch.Tensor, error: str, named: str
) -> None:
    with pytest.raises(KernelRefused) as refused:
        kernels.run(
            LINEAR, [torch.ones(2, 3), torch.ones(4, 3), None, residual, "none", 0.0, 0.0, torch.ones(2, 4)]
        )
    assert refused.value.error == error
    assert named in str(refused.value)


@pytest.mark.parametrize("dtype", [torch.int64, torch.complex64])
def test_other_dtypes_are_refused(kernels: Kernels, dtype: torch.dtype) -> None:
    values = torch.ones(1, 1, dtype=dtype)
    with pytest.raises(KernelRefused) as refused:
        kernels.run(LINEAR, [values, values, None, None, "none", 0.0, 0.0, values.clone()])
    assert refused.value.error == "InvalidType"
