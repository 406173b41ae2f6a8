# SPDX-License-Identifier: BSD-3-Clause
"""Means and average pools between dequantize and quantize compute in integers, and round as PT2E does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed
from torch.nn import functional

from rushlight.export.passes import PassContext
from rushlight.export.passes.compute_in_integers import ComputeInIntegers
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from rushlight.integers.rules import Settings
from support.graphs import LIBRARY, Fn, apply, core_aten, operators, run

Q = torch.ops.quantized_decomposed
OWN = (0.0231, -5)  # scale and zero point of the input
OTHER = (0.0173, 7)

AVERAGES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "mean": (lambda x: x.mean([2, 3]), "quantized_mean"),
    "mean that keeps dimensions": (lambda x: x.mean((-1, -2), keepdim=True), "quantized_mean"),
    "mean of channels": (lambda x: x.mean(1), "quantized_mean"),
    "mean of all": (lambda x: x.mean(), "quantized_mean"),
    "adaptive to one": (lambda x: functional.adaptive_avg_pool2d(x, 1), "quantized_mean"),
    "adaptive that divides": (lambda x: functional.adaptive_avg_pool2d(x, (2, 6)), "quantized_avg_pool2d"),
    "adaptive with windows of several sizes": (
        lambda x: functional.adaptive_avg_pool2d(x, (5, 7)),
        "quantized_adaptive_avg_pool2d",
    ),
    "adaptive that repeats": (
        lambda x: functional.adaptive_avg_pool2d(x, (24, 19)),
        "quantized_adaptive_avg_pool2d",
    ),
    "pool": (lambda x: functional.avg_pool2d(x, 2), "quantized_avg_pool2d"),
    "pool with padding": (lambda x: functional.avg_pool2d(x, (3, 2), 2, 1), "quantized_avg_pool2d"),
    "pool that leaves padding out": (
        lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        "quantized_avg_pool2d",
    ),
    "pool with a divisor": (
        lambda x: functional.avg_pool2d(x, 3, divisor_override=7),
        "quantized_avg_pool2d",
    ),
}


def quantized(
    average: Callable[[torch.Tensor], torch.Tensor],
    to: tuple[float, int],
    dtype: torch.dtype = torch.int8,
    clamp: bool = False,
) -> Fn:
    """dequantize -> average -> [relu] -> quantize, with zero points moved for uint8."""
    info = torch.iinfo(dtype)
    move = 0 if dtype == torch.int8 else 128

    def function(x: torch.Tensor) -> torch.Tensor:
        real = Q.dequantize_per_tensor(x, OWN[0], OWN[1] + move, info.min, info.max, dtype)
        result = average(real)
        result = result.relu() if clamp else result
        return Q.quantize_per_tensor(result, to[0], to[1] + move, info.min, info.max, dtype)

    return Fn(function)


def sample(dtype: torch.dtype, shape: tuple[int, ...] = (8, 24, 12, 18)) -> torch.Tensor:
    """Numbers of the whole range of a dtype."""
    info = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(3)
    return torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize("name", AVERAGES)
def test_an_average_computes_in_integers_and_is_what_the_floats_are(name: str, dtype: torch.dtype) -> None:
    average, operator = AVERAGES[name]
    x = sample(dtype)
    for clamp in (False, True):
        model = quantized(average, OTHER, dtype, clamp)
        program = core_aten(model, (x,))
        assert apply(program, ComputeInIntegers())
        apply(program, RemoveDeadCode())
        assert operators(program) == [operator]
        (got,), expected = run(program, x), model(x)
        assert got.shape == expected.shape and got.dtype == dtype
        difference = (got.int() - expected.int()).abs()
        assert difference.max() <= 1
        assert (difference == 0).float().mean() >= 0.999


LINES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "pool": (lambda x: functional.avg_pool1d(x, 3), "quantized_avg_pool2d"),
    "pool with padding": (lambda x: functional.avg_pool1d(x, 3, 2, 1, True, False), "quantized_avg_pool2d"),
    "adaptive to one": (lambda x: functional.adaptive_avg_pool1d(x, 1), "quantized_avg_pool2d"),
    "adaptive that divides": (lambda x: functional.adaptive_avg_pool1d(x, 10), "quantized_avg_pool2d"),
    "adaptive": (lambda x: functional.adaptive_avg_pool1d(x, 7), "quantized_adaptive_avg_pool2d"),
}


@pytest.mark.parametrize("name", LINES)
def test_averages_of_lines_are_those_of_images(name: str) -> None:
    average, operator = LINES[name]
    x = sample(torch.int8, (16, 24, 50))
    model = quantized(average, OTHER)
    program = core_aten(model, (x,))
    apply(program, ComputeInIntegers(), RemoveDeadCode())
    assert operators(program) == [operator]
    difference = (run(program, x)[0].int() - model(x).int()).abs()
    assert difference.max() <= 1
    assert (difference == 0).float().mean() >= 0.999


def test_only_halves_differ_where_scales_are_equal() -> None:
    x = sample(torch.int8)
    for name in ("pool", "pool with padding", "pool that leaves padding out", "mean"):
        model = quantized(AVERAGES[name][0], OWN)
        program = core_aten(model, (x,))
        apply(program, ComputeInIntegers())
        (got,), expected = run(program, x), model(x)
        exact = AVERAGES[name][0](x.double() - OWN[1]) + OWN[1]
        halves = ((exact - exact.floor()) - 0.5).abs() < 1e-9
        assert torch.equal(got[~halves], expected[~halves])
        assert (got.int() - expected.int()).abs().max() <= 1
        assert ((got[halves].int() - OWN[1]) % 2 == 0).all()  # to even, counted from the zero point


def test_an_average_of_floats_stays_one() -> None:
    program = core_aten(Fn(lambda x: x.mean([2, 3])), (torch.randn(2, 3, 4, 4),))
    assert not apply(program, ComputeInIntegers())


@pytest.mark.parametrize(
    ("average", "shape", "reason"),
    [
        (lambda x: functional.avg_pool2d(x, 2, divisor_override=-2), (2, 3, 8, 8), "its divisor is below 1"),
        (lambda x: functional.avg_pool1d(x, 2), (3, 8), "it has no batch"),
        (lambda x: functional.adaptive_avg_pool1d(x, 3), (3, 8), "it has no batch"),
    ],
)
def test_what_stays_in_floats_says_why(average: Any, shape: tuple[int, ...], reason: str) -> None:
    program = core_aten(quantized(average, OTHER), (sample(torch.int8, shape),))
    context = PassContext(LIBRARY)
    assert not ComputeInIntegers().run(program, context)
    assert len(context.remarks) == 1 and context.remarks[0].endswith(reason)


def test_sizes_may_be_dynamic() -> None:
    model = quantized(AVERAGES["mean"][0], OTHER)
    shapes = {2: torch.export.Dim("h", min=2, max=64), 3: torch.export.Dim("w", min=2, max=64)}
    program = core_aten(model, (sample(torch.int8),), ((shapes,),))
    assert apply(program, ComputeInIntegers())
    for size in ((4, 7), (31, 2)):
        x = sample(torch.int8, (3, 5, *size))
        assert (run(program, x)[0].int() - model(x).int()).abs().max() <= 1


def test_the_rounding_of_other_sums_is_not_that_of_averages() -> None:
    program = core_aten(quantized(AVERAGES["mean"][0], OTHER), (sample(torch.int8),))
    apply(program, ComputeInIntegers(Settings(rounding="double")), RemoveDeadCode())
    (node,) = [node for node in program.graph.nodes if node.op == "call_function"]
    assert "float" in node.args
