# SPDX-License-Identifier: BSD-3-Clause
"""Layer, group and RMS normalization between dequantize and quantize compute in integers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed
from torch.nn import functional

from rushlight.export.passes import PassContext
from rushlight.export.passes.compute_in_integers import ComputeInIntegers
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import LIBRARY, Fn, apply, core_aten, operators, run

Q = torch.ops.quantized_decomposed
DTYPES = [torch.int8, torch.uint8]


def quantized(
    shape: tuple[int, ...], scale: float, step: float, dtype: torch.dtype = torch.int8, affine: bool = True,
    eps: float = 1e-5,
) -> Fn:  # fmt: skip
    """dequantize -> layer_norm -> quantize."""
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(1)
    move = 0 if dtype == torch.int8 else 128

    def whole(x: torch.Tensor, **parameters: torch.Tensor) -> torch.Tensor:
        real = Q.dequantize_per_tensor(x, scale, 9 + move, info.min, info.max, dtype)
        result = functional.layer_norm(real, shape, parameters.get("weight"), parameters.get("bias"), eps)
        return Q.quantize_per_tensor(result, step, move - 7, info.min, info.max, dtype)

    drawn = {name: torch.randn(shape, generator=generator) for name in ("weight", "bias")} if affine else {}
    return Fn(whole, **drawn)


def grouped(groups: int, scale: float, step: float, dtype: torch.dtype = torch.int8) -> Fn:
    """dequantize -> group_norm of 12 channels -> quantize."""
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(1)
    move = 0 if dtype == torch.int8 else 128

    def whole(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        real = Q.dequantize_per_tensor(x, scale, 9 + move, info.min, info.max, dtype)
        result = functional.group_norm(real, groups, weight, bias)
        return Q.quantize_per_tensor(result, step, move - 7, info.min, info.max, dtype)

    return Fn(whole, **{name: torch.randn(12, generator=generator) for name in ("weight", "bias")})


def rooted(
    shape: tuple[int, ...], scale: float, step: float, dtype: torch.dtype = torch.int8, affine: bool = True
) -> Fn:
    """dequantize -> rms_norm -> quantize."""
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(1)
    move = 0 if dtype == torch.int8 else 128

    def whole(x: torch.Tensor, **parameters: torch.Tensor) -> torch.Tensor:
        real = Q.dequantize_per_tensor(x, scale, 9 + move, info.min, info.max, dtype)
        result = functional.rms_norm(real, shape, parameters.get("weight"), 1e-6)
        return Q.quantize_per_tensor(result, step, move - 7, info.min, info.max, dtype)

    return Fn(whole, **({"weight": torch.randn(shape, generator=generator)} if affine else {}))


def sample(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Numbers around the zero point, as activations are."""
    info, generator = torch.iinfo(dtype), torch.Generator().manual_seed(3)
    drawn = torch.randn(shape, generator=generator) * 40 + (0 if dtype == torch.int8 else 128)
    return drawn.round().clamp(info.min, info.max).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(
    ("shape", "normalized", "scale", "step"),
    [
        ((200, 64), (64,), 0.021, 0.037),
        ((4, 50, 384), (384,), 0.5, 0.0251),
        ((60, 7, 30), (7, 30), 0.0013, 0.041),
        ((30, 1000), (1000,), 1e-4, 0.033),
        ((30, 1000), (1000,), 77.0, 0.0002),
    ],
    ids=str,
)
def test_results_are_those_of_floats(
    shape: Any, normalized: Any, scale: float, step: float, affine: bool, dtype: torch.dtype
) -> None:
    model, x = quantized(normalized, scale, step, dtype, affine), sample(shape, dtype)
    check(model, x, "quantized_layer_norm")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("groups", [1, 3, 12])
@pytest.mark.parametrize("shape", [(20, 12, 7, 9), (40, 12, 31)], ids=str)
def test_group_norms_have_the_results_of_floats(shape: Any, groups: int, dtype: torch.dtype) -> None:
    check(grouped(groups, 0.021, 0.037, dtype), sample(shape, dtype), "quantized_group_norm")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(
    ("shape", "normalized"), [((200, 64), (64,)), ((4, 50, 384), (384,)), ((60, 7, 30), (7, 30))], ids=str
)
def test_rms_norms_have_the_results_of_floats(
    shape: Any, normalized: Any, affine: bool, dtype: torch.dtype
) -> None:
    check(rooted(normalized, 0.021, 0.037, dtype, affine), sample(shape, dtype), "quantized_rms_norm")


def check(model: Fn, x: torch.Tensor, operator: str) -> None:
    """One operator, no result more than a step off and one in a thousand off at all."""
    dtype = x.dtype
    program = core_aten(model, (x,))
    assert apply(program, ComputeInIntegers())
    apply(program, RemoveDeadCode())
    assert operators(program) == [operator]
    (got,), expected = run(program, x), model(x)
    assert got.shape == expected.shape and got.dtype == dtype
    off = (got.int() - expected.int()).abs()
    assert off.max() <= 1
    assert (off > 0).float().mean() <= 1e-3


def test_statistics_that_somebody_reads_stay_in_floats() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        real = Q.dequantize_per_tensor(x, 0.1, 0, -128, 127, torch.int8)
        result, mean, _ = torch.native_layer_norm(real, (8,), None, None, 1e-5)
        return Q.quantize_per_tensor(result, 0.1, 0, -128, 127, torch.int8), mean

    program = core_aten(Fn(function), (sample((4, 8), torch.int8),))
    assert not apply(program, ComputeInIntegers())


@pytest.mark.parametrize(("scale", "step", "eps"), [(1e-12, 0.1, 1.0), (0.1, 1e-35, 1e-5)], ids=str)
def test_what_stays_in_floats_says_why(scale: float, step: float, eps: float) -> None:
    program = core_aten(quantized((8,), scale, step, eps=eps), (sample((4, 8), torch.int8),))
    context = PassContext(LIBRARY)
    assert not ComputeInIntegers().run(program, context)
    assert len(context.remarks) == 1 and context.remarks[0].endswith("its scales are out of range")
