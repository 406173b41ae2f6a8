# SPDX-License-Identifier: BSD-3-Clause
"""clamp, hardtanh, leaky_relu, elu, glu and logit against torch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from support.harness import FLOATING, REAL, Kernels, random_tensor, with_dim_order

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, 80.0, -80.0, math.inf, -math.inf, math.nan]
BOUNDS = [(0, 2), (1, None), (None, 2), (3, 1), (0.5, 2.5), (None, 1.5)]
CLOSE = {torch.float32: {"rtol": 3e-6, "atol": 1e-6}, torch.bfloat16: {"rtol": 1.6e-2, "atol": 1e-5}}


def close(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances of exponentials and logarithms."""
    return CLOSE.get(dtype, {})


@pytest.mark.parametrize(("low", "high"), BOUNDS)
@pytest.mark.parametrize("dtype", REAL)
def test_clamp_to_numbers(kernels: Kernels, dtype: torch.dtype, low: Any, high: Any) -> None:
    kernels.check("aten::clamp.out", random_tensor((9, 11), dtype), low, high)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint16])
def test_clamp_of_other_dtypes_promotes(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::clamp.out", random_tensor((9,), dtype), 0.5, 2.5)


def test_clamp_of_special_numbers(kernels: Kernels) -> None:
    values = torch.tensor(SPECIAL)
    for low, high in [(-0.5, 1), (math.nan, 1), (0, math.nan), (-math.inf, math.inf)]:
        kernels.check("aten::clamp.out", values, low, high)
        kernels.check("aten::hardtanh.out", values, low, high)
    bounds = values.reshape(-1, 1)
    kernels.check("aten::clamp.Tensor_out", values, bounds, None)
    kernels.check("aten::clamp.Tensor_out", values, None, bounds)
    kernels.check("aten::clamp.Tensor_out", values, bounds, bounds.flip(0))


@pytest.mark.parametrize("dtype", REAL)
def test_clamp_to_tensors(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((9, 11), dtype)
    low, high = random_tensor((11,), dtype, seed=1), random_tensor((9, 1), dtype, seed=2)
    kernels.check("aten::clamp.Tensor_out", values, low, high)
    kernels.check("aten::clamp.Tensor_out", values, low, None)
    kernels.check("aten::clamp.Tensor_out", values, None, high)
    kernels.check("aten::clamp.Tensor_out", values, torch.tensor(0.5, dtype=torch.float64), high)


def test_bounds_that_are_refused(kernels: Kernels) -> None:
    whole = torch.tensor([1, 5], dtype=torch.int8)
    kernels.refuse("aten::clamp.out", whole, None, None, outs=[whole.clone()])
    kernels.refuse("aten::clamp.Tensor_out", whole, None, None, outs=[whole.clone()])
    refused = kernels.refuse("aten::clamp.out", whole, -200, 3, outs=[whole.clone()])
    assert "min" in refused.log[0] and "-200" in refused.log[0]
    assert "max" in kernels.refuse("aten::clamp.out", whole, 0, 128, outs=[whole.clone()]).log[0]
    mask = torch.tensor([True])
    assert kernels.refuse("aten::clamp.out", mask, True, outs=[mask.clone()]).error == "InvalidType"


@pytest.mark.parametrize("dtype", [dtype for dtype in REAL if dtype.is_signed])
@pytest.mark.parametrize(("low", "high"), [(-1, 1), (-2, 3), (2, 1)])
def test_hardtanh(kernels: Kernels, dtype: torch.dtype, low: int, high: int) -> None:
    kernels.check("aten::hardtanh.out", random_tensor((9, 11), dtype), low, high)


def test_hardtanh_of_unsigned_needs_bounds_of_its_kind(kernels: Kernels) -> None:
    values = torch.arange(20, dtype=torch.uint8)
    kernels.check("aten::hardtanh.out", values, 2, 6)
    assert "min_val" in kernels.refuse("aten::hardtanh.out", values, outs=[values.clone()]).log[0]


def test_hardtanh_of_integers_takes_whole_parts(kernels: Kernels) -> None:
    kernels.check("aten::hardtanh.out", torch.arange(-5, 5), -1.5, 2.5)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("slope", [0.01, 0, 2, -0.5])
def test_leaky_relu(kernels: Kernels, dtype: torch.dtype, slope: float) -> None:
    kernels.check("aten::leaky_relu.out", random_tensor((9, 11), dtype), slope)
    kernels.check("aten::leaky_relu.out", torch.tensor(SPECIAL, dtype=dtype), slope)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("numbers", [(1, 1, 1), (1.67, 1.05, 1), (0.5, 2, 3), (0, 1, 1)])
def test_elu(kernels: Kernels, dtype: torch.dtype, numbers: tuple[float, ...]) -> None:
    kernels.check("aten::elu.out", random_tensor((9, 11), dtype), *numbers, **close(dtype))
    kernels.check("aten::elu.out", torch.tensor(SPECIAL, dtype=dtype), *numbers, **close(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("eps", [None, 0.1, 0.7, 0.0, 1e-6])
def test_logit(kernels: Kernels, dtype: torch.dtype, eps: float | None) -> None:
    values = random_tensor((9, 11), torch.float64, low=-0.1, high=1.1).to(dtype)
    if dtype in (torch.float16, torch.bfloat16):  # torch rounds eps, too
        reference = torch.logit(values.float(), eps).to(dtype)
        kernels.check("aten::logit.out", values, eps, eager=lambda *_: reference, atol=1e-2)
    else:
        kernels.check("aten::logit.out", values, eps, rtol=2e-5, atol=1e-6)


def test_logit_of_integers_and_special_numbers(kernels: Kernels) -> None:
    kernels.check("aten::logit.out", torch.tensor([0, 1, 2]), None)
    kernels.check("aten::logit.out", torch.tensor(SPECIAL), 0.25, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_glu(kernels: Kernels, dtype: torch.dtype, dim: int) -> None:
    tolerance = {"rtol": 2e-3} if dtype == torch.float16 else close(dtype)
    kernels.check("aten::glu.out", random_tensor((4, 6, 10), dtype), dim, **tolerance)


@pytest.mark.parametrize("shape", [(2,), (0,), (0, 4), (2, 0, 4), (3, 0)])
def test_glu_of_every_rank(kernels: Kernels, shape: tuple[int, ...]) -> None:
    kernels.check("aten::glu.out", random_tensor(shape, torch.float32), **close(torch.float32))


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 1, 0, 2]])
def test_glu_of_other_dim_orders(kernels: Kernels, order: list[int]) -> None:
    values = with_dim_order(random_tensor((2, 4, 6, 2), torch.float32), order)
    for dim in range(4):
        kernels.check("aten::glu.out", values, dim, out_dim_order=[0, 2, 3, 1], **close(torch.float32))


def test_glu_into_another_floating_dtype(kernels: Kernels) -> None:
    for source, target in [(torch.float32, torch.float64), (torch.float64, torch.float32)]:
        kernels.check(
            "aten::glu.out", random_tensor((4, 6), source), 1, out_dtype=target, **close(torch.float32)
        )


def test_glu_refuses(kernels: Kernels) -> None:
    odd = torch.ones(3)
    assert "even" in kernels.refuse("aten::glu.out", odd, outs=[torch.ones(1)]).log[0]
    assert "rank" in kernels.refuse("aten::glu.out", torch.tensor(1.0), outs=[torch.ones(1)]).log[0]
    assert "dim" in kernels.refuse("aten::glu.out", torch.ones(4), 1, outs=[torch.ones(2)]).log[0]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(
    "name", ["hardswish", "hardsigmoid", "mish", "silu", "softplus", "celu", "hardshrink", "softshrink"]
)
def test_functions_without_arguments(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    for values in [random_tensor((9, 11), dtype, low=-8, high=8), torch.tensor(SPECIAL).to(dtype)]:
        kernels.check(f"aten::{name}.out", values, **close(dtype))


def test_arguments_of_activations(kernels: Kernels) -> None:
    values = torch.cat([random_tensor((30,), torch.float32), torch.tensor(SPECIAL)])
    kernels.check("aten::softplus.out", values, 2, 1.5, **close(torch.float32))
    kernels.check("aten::celu.out", values, 0.3, **close(torch.float32))
    kernels.check("aten::hardshrink.out", values, 1.5)
    kernels.check("aten::softshrink.out", values, 1.5)
    ones = torch.ones(3)
    assert "alpha" in kernels.refuse("aten::celu.out", ones, 0.0, outs=[ones]).log[0]
    assert "lambd" in kernels.refuse("aten::softshrink.out", ones, -1.0, outs=[ones]).log[0]


@pytest.mark.parametrize("dtype", REAL)
def test_threshold(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::threshold.out", random_tensor((9, 11), dtype), 2, 7)
    kernels.check("aten::threshold.out", torch.tensor([0, 1, 255], dtype=torch.uint8), -1, 7)
    refused = kernels.refuse("aten::threshold.out", torch.ones(2).byte(), 300, 1, outs=[torch.ones(2).byte()])
    assert "threshold" in refused.log[0]


@pytest.mark.parametrize("dtype", FLOATING)
def test_log_sigmoid(kernels: Kernels, dtype: torch.dtype) -> None:
    for values in [random_tensor((9, 11), dtype), torch.tensor(SPECIAL).to(dtype)]:
        kernels.check("aten::log_sigmoid_forward.output", values, **close(dtype))
        kernels.check("aten::log_sigmoid.out", values, **close(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
def test_randomized_leaky_relu(kernels: Kernels, dtype: torch.dtype) -> None:
    values, name = random_tensor((2000,), dtype), "aten::rrelu_with_noise.out"
    noise, out = torch.zeros_like(values), torch.empty_like(values)
    kernels.run(name, [values, noise, 0.1, 0.3, False, None, out], dynamic=[out])
    torch.testing.assert_close(out, torch.where(values > 0, values, values * 0.2))
    assert (noise == 0).all()
    kernels.run(name, [values, noise, 0.1, 0.3, True, None, out], dynamic=[out])
    torch.testing.assert_close(out, values * noise)
    negative = noise[values <= 0].double()
    assert (noise[values > 0] == 1).all() and negative.min() > 0.099 and negative.max() < 0.301
    assert abs(negative.mean() - 0.2) < 0.01


@pytest.mark.parametrize("name", ["elu", "leaky_relu"])
def test_the_dtype_stays(kernels: Kernels, name: str) -> None:
    refused = kernels.refuse(f"aten::{name}.out", torch.ones(2), outs=[torch.ones(2).double()])
    assert refused.error == "InvalidType"
