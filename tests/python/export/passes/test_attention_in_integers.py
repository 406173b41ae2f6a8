# SPDX-License-Identifier: BSD-3-Clause
"""Softmax and products of two activations between dequantize and quantize compute in integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed

from rushlight.export.passes import PassContext
from rushlight.export.passes.compute_in_integers import ComputeInIntegers
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import LIBRARY, Fn, apply, core_aten, operators, run

Q = torch.ops.quantized_decomposed
DTYPES = [torch.int8, torch.uint8]


def quantized(
    function: Callable[..., torch.Tensor],
    scales: tuple[float, ...],
    to: tuple[float, int],
    dtype: torch.dtype = torch.int8,
) -> Fn:
    """dequantize of each input -> function -> quantize, with zero points moved for uint8."""
    info = torch.iinfo(dtype)
    move = 0 if dtype == torch.int8 else 128

    def whole(*inputs: torch.Tensor) -> torch.Tensor:
        real = [
            Q.dequantize_per_tensor(x, scale, move - 5 - 4 * number, info.min, info.max, dtype)
            for number, (x, scale) in enumerate(zip(inputs, scales, strict=True))
        ]
        return Q.quantize_per_tensor(function(*real), to[0], to[1] + move, info.min, info.max, dtype)

    return Fn(whole)


def sample(shape: tuple[int, ...], dtype: torch.dtype = torch.int8, seed: int = 0) -> torch.Tensor:
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(seed)
    return torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)


def compare(model: Fn, inputs: tuple[torch.Tensor, ...], operator: str) -> None:
    """The program has this operator alone, and at most one of 1,000 results is a step off."""
    program = core_aten(model, inputs)
    assert apply(program, ComputeInIntegers())
    apply(program, RemoveDeadCode())
    assert operators(program) == [operator]
    (got,), expected = run(program, *inputs), model(*inputs)
    assert got.shape == expected.shape and got.dtype == expected.dtype
    off = (got.int() - expected.int()).abs()
    assert off.max() <= 1
    assert (off > 0).float().mean() <= 1e-3


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("to", [(1 / 256, -128), (1 / 127, 0), (0.0031, 3), (0.00002, -128)], ids=str)
@pytest.mark.parametrize(("scale", "length"), [(0.1, 12), (0.03, 197), (0.5, 1000), (1e-3, 1)])
def test_softmax(scale: float, length: int, to: tuple[float, int], dtype: torch.dtype) -> None:
    model = quantized(lambda x: x.softmax(-1), (scale,), to, dtype)
    compare(model, (sample((20_000 // length, length), dtype),), "quantized_softmax")


def test_softmax_over_another_dimension() -> None:
    model = quantized(lambda x: x.softmax(1), (0.05,), (1 / 256, -128))
    compare(model, (sample((20, 30, 40)),), "quantized_softmax")


def test_a_softmax_may_have_any_size() -> None:
    model = quantized(lambda x: x.softmax(-1), (0.05,), (1 / 256, -128))
    shapes = (({1: torch.export.Dim("n", min=2, max=5000)},),)
    program = core_aten(model, (sample((3, 20)),), shapes)
    assert apply(program, ComputeInIntegers())
    for size in (2, 4999):
        x = sample((4, size))
        assert (run(program, x)[0].int() - model(x).int()).abs().max() <= 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", [((40, 64), (64, 90)), ((3, 20, 100), (3, 100, 50))], ids=str)
def test_a_product_of_two_activations(shapes: Any, dtype: torch.dtype) -> None:
    multiply = torch.mm if len(shapes[0]) == 2 else torch.bmm
    model = quantized(multiply, (0.02, 0.011), (0.013, 3), dtype)
    inputs = sample(shapes[0], dtype), sample(shapes[1], dtype, 1)
    compare(model, inputs, "quantized_matmul")


@pytest.mark.parametrize(
    ("function", "scales", "to", "shapes", "reason"),
    [
        (lambda x: x.softmax(-1), (0.1,), (1e-12, 0), ((3, 4),), "its scales are out of range"),
        (torch.matmul, (1e6, 1e6), (1e-9, 0), ((2, 3), (3, 4)), "its scales are out of range"),
        (
            torch.matmul,
            (0.1, 0.1),
            (0.1, 0),
            ((1, 40_000), (40_000, 1)),
            "its sums may have more than 32 bits",
        ),
    ],
)
def test_what_stays_in_floats_says_why(
    function: Any, scales: Any, to: tuple[float, int], shapes: Any, reason: str
) -> None:
    program = core_aten(quantized(function, scales, to), tuple(sample(shape) for shape in shapes))
    context = PassContext(LIBRARY)
    assert not ComputeInIntegers().run(program, context)
    assert len(context.remarks) == 1 and context.remarks[0].endswith(reason)
