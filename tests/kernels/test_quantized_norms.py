# SPDX-License-Identifier: BSD-3-Clause
"""Group and RMS normalization of integers against their definitions in the exporter's dialect, and against
PyTorch in float64. Layer normalization has its own file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from rushlight.export.dialect import integer_norm  # noqa: F401  # defines torch.ops.rushlight
from rushlight.integers.rules.norm import epsilon_of, fixed_point
from support.harness import Kernels, poison, with_dim_order

GROUP = "rushlight::quantized_group_norm.out"
RMS = "rushlight::quantized_rms_norm.out"
BYTES = [torch.int8, torch.uint8]
EPSILONS = [((0, 0), 0.03), ((1, 16), 1e-6), ((2359, 2), 0.7), ((1 << 62, 0), 1e4)]


def numbers(shape: tuple[int, ...], dtype: torch.dtype = torch.int8, seed: int = 0) -> torch.Tensor:
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(seed)
    return torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)


def drawn(shape: tuple[int, ...], step: float) -> tuple[np.ndarray, np.ndarray]:
    """Weight and bias, in quantization steps."""
    random = np.random.default_rng(2)
    return random.uniform(-2, 2, shape) / step, random.uniform(-1, 1, shape) / step


def end(dtype: torch.dtype, zero_point: int = 5) -> list[int]:
    return [zero_point, torch.iinfo(dtype).min, torch.iinfo(dtype).max]


def grouped(
    x: torch.Tensor, groups: int, epsilon: tuple[int, int] = (2359, 0), step: float = 0.03
) -> list[Any]:
    found = fixed_point(*drawn((x.shape[1],), step))
    assert found is not None
    weight, bias, shift, bias_shift = found
    constants = [torch.from_numpy(weight), torch.from_numpy(bias)]
    return [x, *constants, groups, *epsilon, shift, bias_shift, *end(x.dtype)]


def rooted(
    x: torch.Tensor, shape: tuple[int, ...], zero_point: int, epsilon: tuple[int, int] = (2359, 0),
    step: float = 0.03,
) -> list[Any]:  # fmt: skip
    found = fixed_point(drawn(shape, step)[0], np.zeros(shape))
    assert found is not None
    return [x, zero_point, torch.from_numpy(found[0]), *epsilon, found[2], *end(x.dtype)]


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize(
    ("shape", "groups"),
    [((2, 6, 5, 7), 3), ((2, 6, 5, 7), 6), ((2, 6, 5, 7), 1), ((3, 8), 4), ((2, 4, 9), 2), ((0, 4, 3), 2),
     ((1, 4, 0), 2), ((1, 12, 3, 4, 2), 4)],
    ids=str,
)  # fmt: skip
def test_groups_are_as_defined(
    kernels: Kernels, shape: tuple[int, ...], groups: int, dtype: torch.dtype
) -> None:
    for epsilon, step in EPSILONS:
        kernels.check(GROUP, *grouped(numbers(shape, dtype), groups, epsilon, step), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize(
    ("shape", "normalized"),
    [((3, 16), (16,)), ((2, 5, 197), (197,)), ((4, 3, 5), (3, 5)), ((5, 1), (1,)), ((0, 4), (4,))],
    ids=str,
)
def test_rows_are_as_defined(
    kernels: Kernels, shape: tuple[int, ...], normalized: tuple[int, ...], dtype: torch.dtype
) -> None:
    for epsilon, step in EPSILONS:
        for zero_point in (torch.iinfo(dtype).min, 7, torch.iinfo(dtype).max):
            given = rooted(numbers(shape, dtype), normalized, zero_point, epsilon, step)
            kernels.check(RMS, *given, rtol=0, atol=0)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [1, 0, 3, 2], [3, 2, 1, 0]], ids=str)
def test_tensors_may_lie_in_any_order(kernels: Kernels, order: list[int]) -> None:
    x = with_dim_order(numbers((2, 6, 3, 4)), order)
    for out in ([0, 1, 2, 3], [0, 2, 3, 1], order):
        kernels.check(GROUP, *grouped(x, 3), out_dim_order=out, rtol=0, atol=0)
        kernels.check(RMS, *rooted(x, (3, 4), 3), out_dim_order=out, rtol=0, atol=0)


def test_the_result_may_lie_where_the_input_does(kernels: Kernels) -> None:
    for name, given in ((GROUP, grouped(numbers((2, 6, 5)), 2)), (RMS, rooted(numbers((6, 50)), (50,), -9))):
        expected = getattr(torch.ops.rushlight, name[11:-4])(*given)
        kernels.run(name, [*given, given[0]])
        assert torch.equal(given[0], expected)


@pytest.mark.parametrize("groups", [1, 4, 16])
def test_groups_are_the_nearest(kernels: Kernels, groups: int) -> None:
    x, step, scale = numbers((40, 16, 6, 6), torch.uint8), 0.11, 0.05
    weight, bias = (torch.from_numpy(each) for each in drawn((16,), step))
    epsilon = epsilon_of(1e-5, 36 * 16 // groups, scale)
    assert epsilon is not None
    given = grouped(x, groups, epsilon, step)
    given[-3:] = [128, 0, 255]
    out = torch.empty_like(x)
    kernels.run(GROUP, [*given, out])
    exact = functional.group_norm(x.double() * scale, groups, weight, bias, 1e-5) + 128
    assert (out.double() - exact.clamp(0, 255)).abs().max() <= 0.5 + 1e-3


@pytest.mark.parametrize("length", [2, 7, 64, 768])
def test_rows_are_the_nearest(kernels: Kernels, length: int) -> None:
    x, step, scale = numbers((20_000 // length, length), torch.uint8), 4 * math.sqrt(length) / 255, 0.05
    weight = torch.from_numpy(drawn((length,), step)[0])
    epsilon = epsilon_of(1e-5, length, scale, 16)
    assert epsilon is not None
    given = rooted(x, (length,), 93, epsilon, step)
    given[-3:] = [128, 0, 255]
    out = torch.empty_like(x)
    kernels.run(RMS, [*given, out])
    exact = functional.rms_norm((x.double() - 93) * scale, (length,), weight, 1e-5) + 128
    assert (out.double() - exact.clamp(0, 255)).abs().max() <= 0.5 + 1e-3


@pytest.mark.parametrize(
    ("name", "argument", "wrong", "named"),
    [
        (GROUP, 0, torch.zeros(6, dtype=torch.int8), "input: expected rank 2 at least, got 1"),
        (GROUP, 1, torch.zeros(6), "weight and bias: expected dtype int32"),
        (GROUP, 1, torch.zeros(5, dtype=torch.int32), "weight"),
        (GROUP, 2, torch.zeros(3, 2, dtype=torch.int32), "bias"),
        (GROUP, 3, 4, "groups: expected a divisor of 6 channels, got 4"),
        (GROUP, 3, 0, "groups: "),
        (GROUP, 4, -1, "epsilon: "),
        (GROUP, 5, 46, "squares of 8 elements have more than 62 bits with 46 more"),
        (GROUP, 10, 128, "output_min, output_zero_point, output_max"),
        (RMS, 1, 128, "input_zero_point"),
        (RMS, 2, torch.zeros(4, dtype=torch.int64), "weight and bias: expected dtype int32"),
        (RMS, 4, 44, "squares of 4 elements have more than 62 bits with 44 more"),
        (RMS, 5, 63, "shift: expected 1 to 62, got 63"),
    ],
)
def test_wrong_arguments_are_named(
    kernels: Kernels, name: str, argument: int, wrong: Any, named: str
) -> None:
    x = numbers((1, 6, 4))
    given = [*(grouped(x, 3) if name == GROUP else rooted(x, (4,), 0)), poison(x)]
    given[argument] = wrong
    with pytest.raises(Exception, match=named):
        kernels.run(name, given)
