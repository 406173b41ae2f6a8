# SPDX-License-Identifier: BSD-3-Clause
"""Interpolation and pools of volumes between dequantize and quantize compute in integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed
from torch.nn import functional

import rushlight
from rushlight.export.passes.compute_in_integers import ComputeInIntegers
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import Fn, apply, core_aten, operators, run

Q = torch.ops.quantized_decomposed
IMAGE, VOLUME = (3, 8, 17, 24), (2, 4, 9, 10, 11)
Function = Callable[[torch.Tensor], torch.Tensor]


def resized(**how: Any) -> Function:
    return lambda x: functional.interpolate(x, mode="bilinear", **how)


# The function, its input's shape, its operator.
FUNCTIONS: dict[str, tuple[Function, tuple[int, ...], str]] = {
    "twice": (resized(scale_factor=2), IMAGE, "quantized_interpolate2d"),
    "twice, corners aligned": (
        resized(scale_factor=2, align_corners=True), IMAGE, "quantized_interpolate2d",
    ),
    "to a size": (resized(size=(40, 31)), IMAGE, "quantized_interpolate2d"),
    "smaller": (resized(size=(9, 7)), IMAGE, "quantized_interpolate2d"),
    "by a fraction": (resized(scale_factor=(1.7, 0.6)), IMAGE, "quantized_interpolate2d"),
    "to one pixel": (resized(size=1, align_corners=True), IMAGE, "quantized_interpolate2d"),
    "rectified": (lambda x: resized(scale_factor=3)(x).relu(), IMAGE, "quantized_interpolate2d"),
    "pool": (lambda x: functional.avg_pool3d(x, 3), VOLUME, "quantized_avg_pool3d"),
    "pool with padding": (
        lambda x: functional.avg_pool3d(x, (2, 3, 4), 2, (1, 1, 2), count_include_pad=False),
        VOLUME,
        "quantized_avg_pool3d",
    ),
    "pool with a divisor": (
        lambda x: functional.avg_pool3d(x, 2, divisor_override=5), VOLUME, "quantized_avg_pool3d",
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize("scales", [(0.0213517, 0.0341093), (0.0501873, 0.0311717)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_those_of_floats(name: str, scales: tuple[float, float], dtype: torch.dtype) -> None:
    function, shape, operator = FUNCTIONS[name]
    info, move = torch.iinfo(dtype), 0 if dtype == torch.int8 else 128
    points = move - 5, move + 9

    def whole(x: torch.Tensor) -> torch.Tensor:
        real = Q.dequantize_per_tensor(x, scales[0], points[0], info.min, info.max, dtype)
        return Q.quantize_per_tensor(function(real), scales[1], points[1], info.min, info.max, dtype)

    generator = torch.Generator().manual_seed(3)
    x = torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)
    program = core_aten(Fn(whole), (x,))
    assert apply(program, ComputeInIntegers())
    apply(program, RemoveDeadCode())
    assert operators(program) == [operator]
    (got,), expected = run(program, x), whole(x)
    off = (got.int() - expected.int()).abs()
    assert off.max() <= 1
    assert (off > 0).float().mean() <= 1e-3


def test_the_report_counts_operators_with_float_scales_as_integers() -> None:
    def whole(x: torch.Tensor) -> torch.Tensor:
        q = Q.quantize_per_tensor(x, 0.1, 3, -128, 127, torch.int8)
        real = Q.dequantize_per_tensor(q, 0.1, 3, -128, 127, torch.int8)
        q = Q.quantize_per_tensor(real.mean((2, 3)), 0.05, 3, -128, 127, torch.int8)
        return Q.dequantize_per_tensor(q, 0.05, 3, -128, 127, torch.int8)

    (method,) = rushlight.export(Fn(whole), (torch.randn(IMAGE),)).report.methods
    assert [(row.operator, row.integers) for row in method.arithmetic] == [
        ("rushlight::quantized_mean", True)
    ]


@pytest.mark.parametrize("factor", [2, 4])
def test_an_image_that_keeps_its_scale_has_all_numbers_of_floats(factor: int) -> None:
    """Its results are whole in 64ths, halves too: float32 rounds them without an error before."""

    def whole(x: torch.Tensor) -> torch.Tensor:
        real = Q.dequantize_per_tensor(x, 0.125, 3, -128, 127, torch.int8)
        return Q.quantize_per_tensor(resized(scale_factor=factor)(real), 0.125, 3, -128, 127, torch.int8)

    x = torch.randint(-128, 128, IMAGE, generator=torch.Generator().manual_seed(2)).to(torch.int8)
    program = core_aten(Fn(whole), (x,))
    assert apply(program, ComputeInIntegers())
    assert torch.equal(run(program, x)[0], whole(x))
