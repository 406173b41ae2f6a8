# SPDX-License-Identifier: BSD-3-Clause
"""Layer normalization of integers against its definition in the exporter's dialect, and against PyTorch in
float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from rushlight.export.dialect import integer_norm  # defines torch.ops.rushlight
from rushlight.integers.rules.norm import FRACTION, epsilon_of, fixed_point
from support.harness import Kernels, poison, with_dim_order

NAME = "rushlight::quantized_layer_norm.out"
BYTES = [torch.int8, torch.uint8]


def numbers(shape: tuple[int, ...], dtype: torch.dtype = torch.int8, seed: int = 0) -> torch.Tensor:
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(seed)
    return torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)


def parameters(shape: tuple[int, ...], step: float = 0.03) -> tuple[np.ndarray, np.ndarray]:
    """Weight and bias, in quantization steps."""
    drawn = np.random.default_rng(2)
    return drawn.uniform(-2, 2, shape) / step, drawn.uniform(-1, 1, shape) / step


def arguments(
    x: torch.Tensor,
    shape: tuple[int, ...],
    epsilon: tuple[int, int] = (2359, 0),
    step: float = 0.03,
    zero_point: int = 5,
) -> list[Any]:
    found = fixed_point(*parameters(shape, step))
    assert found is not None
    weight, bias, shift, bias_shift = found
    info = torch.iinfo(x.dtype)
    constants = [torch.from_numpy(weight), torch.from_numpy(bias)]
    return [x, *constants, *epsilon, shift, bias_shift, zero_point, info.min, info.max]


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize(
    ("shape", "normalized"),
    [
        ((3, 16), (16,)),
        ((2, 5, 197), (197,)),
        ((4, 3, 5), (3, 5)),
        ((6,), (6,)),
        ((5, 1), (1,)),
        ((0, 4), (4,)),
        ((2, 0), (0,)),
        ((2, 3000), (3000,)),
    ],
    ids=str,
)
def test_groups_are_as_defined(
    kernels: Kernels, shape: tuple[int, ...], normalized: tuple[int, ...], dtype: torch.dtype
) -> None:
    for epsilon, step in (((0, 0), 0.03), ((1, 22), 1e-6), ((2359, 2), 0.7), ((1 << 62, 0), 1e4)):
        kernels.check(NAME, *arguments(numbers(shape, dtype), normalized, epsilon, step), rtol=0, atol=0)


@pytest.mark.parametrize("epsilon", [(0, 0), (1, 0), (1, 36), (3, 20), (1 << 40, 2)])
def test_equal_elements_are_all_bias(kernels: Kernels, epsilon: tuple[int, int]) -> None:
    x = torch.full((2, 40), -77, dtype=torch.int8)
    given = arguments(x, (40,), epsilon)
    kernels.check(NAME, *given, rtol=0, atol=0)
    out = torch.empty_like(x)
    kernels.run(NAME, [*given, out])
    expected = np.clip(np.floor(parameters((40,))[1] + 0.5) + 5, -128, 127)
    assert np.array_equal(out[1].numpy(), expected.astype(np.int8))


def test_tensors_may_lie_in_any_order(kernels: Kernels) -> None:
    x = with_dim_order(numbers((2, 5, 3, 4)), [1, 0, 3, 2])
    kernels.check(NAME, *arguments(x, (3, 4)), out_dim_order=[0, 2, 3, 1], rtol=0, atol=0)


def test_the_result_may_lie_where_the_input_does(kernels: Kernels) -> None:
    given = arguments(numbers((6, 50)), (50,))
    expected = torch.ops.rushlight.quantized_layer_norm(*given)
    kernels.run(NAME, [*given, given[0]])
    assert torch.equal(given[0], expected)


@pytest.mark.parametrize("length", [2, 7, 64, 768, 5000])
@pytest.mark.parametrize("spread", [1, 20, 255])
def test_results_are_the_nearest(kernels: Kernels, length: int, spread: int) -> None:
    generator = torch.Generator().manual_seed(length)
    x = torch.randint(0, spread + 1, (20_000 // length, length), generator=generator).to(torch.uint8)
    step, scale, eps = 4 * math.sqrt(length) / 255, 0.05, 1e-5
    weight, bias = parameters((length,), step)
    epsilon = epsilon_of(eps, length, scale)
    assert epsilon is not None
    given = arguments(x, (length,), epsilon, step, 128)
    out = torch.empty_like(x)
    kernels.run(NAME, [*given, out])
    wide = torch.from_numpy(weight), torch.from_numpy(bias)
    exact = torch.nn.functional.layer_norm(x.double() * scale, (length,), *wide, eps) + 128
    assert (out.double() - exact.clamp(0, 255)).abs().max() <= 0.5 + 1e-3


def test_the_rules_know_the_bits_of_the_kernel() -> None:
    assert FRACTION == integer_norm.FRACTION


@pytest.mark.parametrize(
    ("argument", "wrong", "named"),
    [
        (0, torch.zeros(4, dtype=torch.int16), "input: "),
        (1, torch.zeros(4), "weight and bias: expected dtype int32"),
        (1, torch.zeros(3, dtype=torch.int32), "weight"),
        (1, torch.zeros((), dtype=torch.int32), "weight: expected rank 1 to 1, got 0"),
        (2, torch.zeros(5, dtype=torch.int32), "bias"),
        (3, -1, "epsilon: expected 0 to 2.62, got -1"),
        (3, (1 << 62) + 1, "epsilon: "),
        (4, 1, "epsilon_shift: expected an even number from 0 to 62, got 1"),
        (4, 64, "epsilon_shift: "),
        (4, 46, "squares of 4 elements have more than 62 bits with 46 more"),
        (5, 0, "shift: expected 1 to 62, got 0"),
        (5, 63, "shift: expected 1 to 62, got 63"),
        (6, 31, "bias_shift: expected 0 to 30, got 31"),
        (9, 128, "output_min, output_zero_point, output_max"),
        (10, torch.zeros(4, dtype=torch.uint8), "input and out"),
        (10, torch.zeros(5, dtype=torch.int8), "out"),
    ],
)
def test_wrong_arguments_are_named(kernels: Kernels, argument: int, wrong: Any, named: str) -> None:
    given = [*arguments(numbers((4,)), (4,)), poison(numbers((4,)))]
    given[argument] = wrong
    with pytest.raises(Exception, match=named):
        kernels.run(NAME, given)
