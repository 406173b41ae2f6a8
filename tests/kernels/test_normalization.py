# SPDX-License-Identifier: BSD-3-Clause
"""native_layer_norm and native_group_norm against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import FLOATING, Kernels, assert_equal, random_tensor, with_dim_order

REDUCED = [torch.float16, torch.bfloat16]
GROUP_NORM = "aten::native_group_norm.out"
LAYER_NORM = "aten::native_layer_norm.out"
LAYER_SHAPES = [((5,), 1), ((2, 7), 1), ((2, 7), 2), ((3, 1, 4), 2), ((2, 3, 4, 5), 1), ((2, 3, 4, 5), 3)]


def close(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances: if torch's sums are as exact as their type, differences come from their order."""
    return {"rtol": 2e-6, "atol": 2e-6} if dtype == torch.float32 else {}


def layer_arguments(
    shape: tuple[int, ...], trailing: int, dtype: torch.dtype, *, weight: bool = True, bias: bool = True
) -> list[Any]:
    """Arguments of native_layer_norm that normalize the last `trailing` dimensions."""
    normalized = shape[len(shape) - trailing :]
    return [
        random_tensor(shape, dtype, seed=1),
        list(normalized),
        random_tensor(normalized, dtype, seed=2) if weight else None,
        random_tensor(normalized, dtype, seed=3) if bias else None,
        1e-5,
    ]


def exact_layer_norm(*args: Any) -> list[torch.Tensor]:
    """The layer norm in float64, rounded once."""
    input, shape, weight, bias, eps = args
    wide = [None if t is None else t.double() for t in (input, weight, bias)]
    results = torch.native_layer_norm(wide[0], shape, wide[1], wide[2], eps)
    return [result.to(input.dtype) for result in results]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("shape", "trailing"), LAYER_SHAPES)
def test_layer_norm(kernels: Kernels, shape: tuple[int, ...], trailing: int, dtype: torch.dtype) -> None:
    kernels.check(
        LAYER_NORM, *layer_arguments(shape, trailing, dtype), eager=exact_layer_norm, **close(dtype)
    )


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_layer_norm_with_and_without_parameters(kernels: Kernels, weight: bool, bias: bool) -> None:
    arguments = layer_arguments((4, 6, 9), 2, torch.float32, weight=weight, bias=bias)
    kernels.check(LAYER_NORM, *arguments, **close(torch.float32))


@pytest.mark.parametrize("dtype", FLOATING)
def test_layer_norm_of_a_large_mean(kernels: Kernels, dtype: torch.dtype) -> None:
    values = (torch.arange(600, dtype=torch.float64).reshape(2, 300) % 7 + 1000).to(dtype)
    # The mean itself is rounded: its last digit is that of 1000.
    tolerance = {} if dtype == torch.float64 else {"rtol": 8e-3, "atol": 2e-5}
    arguments = [values, [300], None, None, 1e-5]
    kernels.check(LAYER_NORM, *arguments, eager=exact_layer_norm, **tolerance)


@pytest.mark.parametrize("dtype", REDUCED)
@pytest.mark.parametrize("statistics", ["own", "float32"])
def test_layer_norm_of_16_bits_with_float32_parameters(
    kernels: Kernels, dtype: torch.dtype, statistics: str
) -> None:
    values = random_tensor((4, 33), dtype)
    weight, bias = random_tensor((33,), torch.float32, seed=4), random_tensor((33,), torch.float32, seed=5)
    expected = torch.native_layer_norm(values, [33], weight, bias, 1e-5)
    held = dtype if statistics == "own" else torch.float32
    outs = [torch.empty_like(values), torch.empty(4, 1, dtype=held), torch.empty(4, 1, dtype=held)]
    kernels.run(LAYER_NORM, [values, [33], weight, bias, 1e-5, *outs])
    assert_equal(outs[0], expected[0])
    assert_equal(outs[1], expected[1].to(held), rtol=8e-3, atol=1e-4)
    assert_equal(outs[2], expected[2].to(held), rtol=8e-3)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 2, 0)])
def test_layer_norm_of_nothing(kernels: Kernels, shape: tuple[int, ...]) -> None:
    arguments = layer_arguments(shape, 1, torch.float32)
    kernels.check(LAYER_NORM, *arguments)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 1, 0, 2], [0, 1, 3, 2]])
@pytest.mark.parametrize("trailing", [1, 2, 3, 4])
def test_layer_norm_of_other_dim_orders(kernels: Kernels, order: list[int], trailing: int) -> None:
    arguments = layer_arguments((2, 3, 4, 5), trailing, torch.float32)
    arguments[0] = with_dim_order(arguments[0], order)
    kernels.check(LAYER_NORM, *arguments, **close(torch.float32))
    kernels.check(LAYER_NORM, *arguments, out_dim_order=[0, 2, 3, 1], **close(torch.float32))


def test_layer_norm_of_not_a_number(kernels: Kernels) -> None:
    values = torch.tensor([[1.0, float("nan"), 2.0], [1.0, float("inf"), 2.0], [1.0, 2.0, 3.0]])
    outs = [torch.empty(3, 3), torch.empty(3, 1), torch.empty(3, 1)]
    kernels.run(LAYER_NORM, [values, [3], None, None, 1e-5, *outs])
    assert_equal(outs[0], torch.native_layer_norm(values, [3], None, None, 1e-5)[0], atol=2e-6)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({1: [4]}, "normalized_shape"),
        ({1: []}, "normalized_shape"),
        ({1: [2, 3, 5]}, "normalized_shape"),
        ({2: torch.ones(4)}, "weight"),
        ({3: torch.ones(1, 5)}, "bias"),
        ({2: torch.ones(5, dtype=torch.float64)}, "weight"),
        ({3: torch.ones(5, dtype=torch.float16)}, "bias"),
        ({0: torch.ones(3, 5, dtype=torch.int32)}, "out0"),
    ],
)
def test_layer_norm_refuses(kernels: Kernels, change: dict[int, Any], named: str) -> None:
    arguments = layer_arguments((3, 5), 1, torch.float32)
    for index, value in change.items():
        arguments[index] = value
    outs = [torch.empty(3, 5), torch.empty(3, 1), torch.empty(3, 1)]
    assert named in kernels.refuse(LAYER_NORM, *arguments, outs=outs).log[0]


def test_layer_norm_refuses_integers(kernels: Kernels) -> None:
    whole = torch.ones(3, 5, dtype=torch.int32)
    outs = [whole.clone(), torch.empty(3, 1), torch.empty(3, 1)]
    assert kernels.refuse(LAYER_NORM, whole, [5], None, None, 1e-5, outs=outs).error == "InvalidType"


def group_arguments(
    shape: tuple[int, ...], group: int, dtype: torch.dtype, *, weight: bool = True, bias: bool = True
) -> list[Any]:
    """Arguments of native_group_norm."""
    channels = shape[1]
    positions = torch.Size(shape[2:]).numel()
    return [
        random_tensor(shape, dtype, seed=1),
        random_tensor((channels,), dtype, seed=2) if weight else None,
        random_tensor((channels,), dtype, seed=3) if bias else None,
        shape[0],
        channels,
        positions,
        group,
        1e-5,
    ]


def exact_group_norm(*args: Any) -> list[torch.Tensor]:
    """The group norm in float64, rounded once."""
    wide = [None if t is None else t.double() for t in args[:3]]
    return [result.to(args[0].dtype) for result in torch.native_group_norm(*wide, *args[3:])]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(
    ("shape", "group"),
    [((2, 6, 5), 1), ((2, 6, 5), 3), ((1, 6, 4, 3), 6), ((3, 4), 2), ((2, 4, 2, 3, 2), 2)],
)
def test_group_norm(kernels: Kernels, shape: tuple[int, ...], group: int, dtype: torch.dtype) -> None:
    kernels.check(GROUP_NORM, *group_arguments(shape, group, dtype), eager=exact_group_norm, **close(dtype))


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_group_norm_with_and_without_parameters(kernels: Kernels, weight: bool, bias: bool) -> None:
    arguments = group_arguments((2, 6, 9), 3, torch.float32, weight=weight, bias=bias)
    kernels.check(GROUP_NORM, *arguments, **close(torch.float32))


@pytest.mark.parametrize("dtype", REDUCED)
def test_group_norm_of_16_bits_with_float32_parameters(kernels: Kernels, dtype: torch.dtype) -> None:
    arguments = group_arguments((2, 6, 9), 3, torch.float32)
    arguments[0] = arguments[0].to(dtype)
    expected = torch.native_group_norm(*arguments)
    outs = [torch.empty_like(result) for result in expected]
    kernels.run(GROUP_NORM, [*arguments, *outs])
    assert_equal(outs[0], expected[0])
    assert_equal(outs[1], expected[1], atol=1e-5)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 1, 0, 2]])
def test_group_norm_of_other_dim_orders(kernels: Kernels, order: list[int]) -> None:
    arguments = group_arguments((2, 6, 4, 5), 3, torch.float32)
    arguments[0] = with_dim_order(arguments[0], order)
    kernels.check(
        GROUP_NORM,
        *arguments,
        eager=lambda x, *rest: torch.native_group_norm(x.contiguous(), *rest),
        **close(torch.float32),
    )


def test_group_norm_of_no_samples(kernels: Kernels) -> None:
    kernels.check(GROUP_NORM, *group_arguments((0, 4, 3), 2, torch.float32))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({3: 3}, "N, C, HxW"),
        ({4: 5}, "N, C, HxW"),
        ({5: 2}, "N, C, HxW"),
        ({6: 4}, "group"),
        ({6: 0}, "group"),
        ({6: -2}, "group"),
        ({1: torch.ones(5)}, "weight"),
        ({2: torch.ones(6, 1)}, "bias"),
        ({1: torch.ones(6, dtype=torch.float16)}, "weight"),
    ],
)
def test_group_norm_refuses(kernels: Kernels, change: dict[int, Any], named: str) -> None:
    arguments = group_arguments((2, 6, 5), 3, torch.float32)
    for index, value in change.items():
        arguments[index] = value
    outs = [torch.empty(2, 6, 5), torch.empty(2, 3), torch.empty(2, 3)]
    assert named in kernels.refuse(GROUP_NORM, *arguments, outs=outs).log[0]
