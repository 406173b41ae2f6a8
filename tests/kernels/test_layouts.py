# SPDX-License-Identifier: BSD-3-Clause
"""Elementwise kernels over operands of every pair of shapes and layouts, against torch."""

from __future__ import annotations

import itertools

import pytest
import torch
from harness import Kernels

SHAPES = [
    ((2, 5, 3, 7), (2, 5, 3, 7)),
    ((2, 5, 3, 7), ()),
    ((), (2, 5, 3, 7)),
    ((2, 5, 3, 7), (7,)),
    ((2, 5, 3, 7), (5, 1, 1)),
    ((2, 5, 3, 1), (1, 5, 1, 7)),
    ((2, 17, 1, 1), (2, 17, 4, 33)),
    ((3, 1, 40), (1, 50, 1)),
    ((1, 1), (1,)),
    ((0, 4), (4,)),
    ((1,), (0,)),
]
FUNCTIONS = [
    *["exp", "expm1", "log", "log1p", "tanh", "sigmoid", "erf", "sin", "cos", "sqrt", "rsqrt", "reciprocal"],
    *["abs", "neg", "relu", "floor", "ceil", "trunc", "round"],
]
LAYOUTS = [torch.contiguous_format, torch.channels_last]


def values(shape: tuple[int, ...], dtype: torch.dtype, layout: torch.memory_format) -> torch.Tensor:
    """Numbers from -2 to 2 by quarters, or whole ones from -2 to 2; NCHW shapes in the layout."""
    numbers = torch.randint(-8, 9, shape) / 4 if dtype.is_floating_point else torch.randint(-2, 3, shape)
    tensor = numbers.to(dtype)
    return tensor.contiguous(memory_format=layout) if len(shape) == 4 else tensor


@pytest.mark.parametrize("layouts", list(itertools.product(LAYOUTS, LAYOUTS)), ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.int64, torch.float16])
@pytest.mark.parametrize("name", ["add.out", "mul.out", "lt.Tensor_out", "ge.Tensor_out", "eq.Tensor_out"])
def test_pairs_of_any_shapes_and_layouts(
    kernels: Kernels, name: str, dtype: torch.dtype, layouts: tuple[torch.memory_format, torch.memory_format]
) -> None:
    for first, second in SHAPES:
        kernels.check(f"aten::{name}", values(first, dtype, layouts[0]), values(second, dtype, layouts[1]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int16, torch.bool])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_choices_of_any_shapes_and_layouts(
    kernels: Kernels, dtype: torch.dtype, layout: torch.memory_format
) -> None:
    for first, second in SHAPES:
        a, b = values(first, dtype, layout), values(second, dtype, torch.contiguous_format)
        for mask in [a == b, torch.tensor(True), (a == b).contiguous()]:
            kernels.check("aten::where.self_out", mask, a, b)


@pytest.mark.parametrize("name", ["exp", "sigmoid", "gelu", "neg", "relu", "floor"])
def test_functions_into_any_layout(kernels: Kernels, name: str) -> None:
    for shape in [(2, 5, 3, 7), (1, 40, 9, 31), (3, 1, 1, 1), (2, 0, 3, 1)]:
        for layout in LAYOUTS:
            kernels.check(f"aten::{name}.out", values(shape, torch.float32, layout))
    kernels.check(f"aten::{name}.out", torch.randn(70001))


def test_functions_of_special_numbers(kernels: Kernels) -> None:
    special = torch.tensor(
        [0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-40, -1e-40, 3e38, -3e38, 1e5, -1e5]
    )
    for name in FUNCTIONS:
        kernels.check(f"aten::{name}.out", special)
    for exponent in [*special.tolist(), 2.0, 3.0, 0.5, -0.5, -1.0, -2.0, 0.3, 7.0, -3.0]:
        kernels.check("aten::pow.Tensor_Scalar_out", special, exponent)
        kernels.check("aten::pow.Scalar_out", exponent, special)
    kernels.check("aten::pow.Tensor_Tensor_out", special[:, None], special)
    kernels.check("aten::maximum.out", special[:, None], special)
    kernels.check("aten::minimum.out", special[:, None], special)
    kernels.check("aten::clamp.Tensor_out", special[:, None], special, special.flip(0))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_integers_wrap(kernels: Kernels, dtype: torch.dtype) -> None:
    info = torch.iinfo(dtype)
    ends = torch.tensor([info.min, info.min + 1, -1, 0, 1, 2, info.max], dtype=dtype)
    for alpha in [1, -1, 3, info.max]:
        kernels.check("aten::add.out", ends[:, None], ends, alpha=alpha)
        kernels.check("aten::sub.out", ends[:, None], ends, alpha=alpha)
        kernels.check("aten::rsub.Scalar_out", ends, 5, alpha)
    kernels.check("aten::mul.out", ends[:, None], ends)
    kernels.check("aten::mul.Scalar_out", ends, -3)
