# SPDX-License-Identifier: BSD-3-Clause
"""Elementwise kernels over operands of every pair of shapes and layouts, against torch."""

from __future__ import annotations

import itertools

import pytest
import torch

from support.harness import Kernels, assert_equal, poison

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
    """Multiples of 1/4 from -2 to 2, or integers from -2 to 2; NCHW shapes in the layout."""
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


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (torch.float32, torch.float32),
        (torch.float32, torch.float16),
        (torch.bfloat16, torch.float32),
        (torch.int64, torch.float32),
        (torch.float32, torch.bool),
        (torch.int32, torch.int64),
        (torch.uint8, torch.int16),
    ],
)
def test_conversions_into_any_layout(
    kernels: Kernels, source: torch.dtype, target: torch.dtype, layout: torch.memory_format
) -> None:
    for shape in [(2, 5, 3, 7), (1, 19, 16, 17), (3, 1, 1, 1), (2, 0, 3, 1)]:
        x = values(shape, source, layout)
        for order, target_layout in zip([[0, 1, 2, 3], [0, 2, 3, 1]], LAYOUTS, strict=True):
            for variant in kernels.variants("dim_order_ops::_to_dim_order_copy.out"):
                out = poison(torch.empty(shape, dtype=target, memory_format=target_layout))
                kernels.run("dim_order_ops::_to_dim_order_copy.out", [x, False, order, out], variant=variant)
                assert_equal(out, x.to(target))


@pytest.mark.parametrize("name", ["exp", "sigmoid", "gelu", "neg", "relu", "floor"])
def test_functions_into_any_layout(kernels: Kernels, name: str) -> None:
    for shape in [(2, 5, 3, 7), (1, 40, 9, 31), (3, 1, 1, 1), (2, 0, 3, 1)]:
        for layout in LAYOUTS:
            kernels.check(f"aten::{name}.out", values(shape, torch.float32, layout))
    # The promise of gelu is relative to its argument.
    kernels.check(f"aten::{name}.out", torch.randn(70001), atol=2e-6)


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


def test_threads_do_not_change_results(kernels: Kernels) -> None:
    x, row, planes = torch.randn(2, 150, 33, 31), torch.randn(31), torch.randn(150, 1, 1)
    last = x.contiguous(memory_format=torch.channels_last)
    calls = [
        ("aten::exp.out", [x], torch.float32),
        ("aten::add.out", [x, row, 1], torch.float32),
        ("aten::mul.out", [x, planes], torch.float32),
        ("aten::mul.out", [x, last], torch.float32),
        ("aten::lt.Tensor_out", [x, last], torch.bool),
        ("aten::_to_copy.out", [x, False, None], torch.float16),
        ("quantized_decomposed::quantize_per_tensor.out", [x, 0.02, 3, -128, 127, torch.int8], torch.int8),
    ]
    for name, arguments, dtype in calls:
        outs = [poison(torch.empty(x.shape, dtype=dtype)) for _ in range(2)]
        for threads, out in enumerate(outs, start=1):
            kernels.run(name, [*arguments, out], threads=threads)
        assert torch.equal(outs[0], outs[1]), name
