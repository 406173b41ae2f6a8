# SPDX-License-Identifier: BSD-3-Clause
"""Batch normalization by the batch's own statistics, against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import FLOATING, Kernels, assert_equal, random_tensor, with_dim_order

NAME = "aten::_native_batch_norm_legit.no_stats_out"


def arguments(shape: tuple[int, ...], dtype: torch.dtype, *, affine: bool = True) -> list[Any]:
    weight, bias = (random_tensor((shape[1],), dtype, seed=seed) for seed in (2, 3))
    parameters = [weight, bias] if affine else [None, None]
    return [random_tensor(shape, dtype, seed=1), *parameters, True, 0.1, 1e-5]


def exact(*args: Any) -> list[torch.Tensor]:
    """The function in float64, rounded once."""
    wide = [value.double() if isinstance(value, torch.Tensor) else value for value in args]
    results = torch.ops.aten._native_batch_norm_legit.no_stats(*wide)
    return [result.to(args[0].dtype) for result in results]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("affine", [True, False])
def test_every_dtype(kernels: Kernels, dtype: torch.dtype, affine: bool) -> None:
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {}
    kernels.check(NAME, *arguments((3, 4, 5), dtype, affine=affine), eager=exact, **tolerance)


@pytest.mark.parametrize("shape", [(7, 3), (1, 3, 4), (2, 3, 4, 5), (2, 1, 2, 2, 3)])
def test_shapes(kernels: Kernels, shape: tuple[int, ...]) -> None:
    kernels.check(NAME, *arguments(shape, torch.float32), eager=exact, rtol=1e-5, atol=1e-5)


def test_channels_last(kernels: Kernels) -> None:
    values, *rest = arguments((2, 3, 4, 5), torch.float32)
    last = with_dim_order(values, (0, 2, 3, 1))
    kernels.check(NAME, last, *rest, eager=exact, rtol=1e-5, atol=1e-5)


def test_evaluation_and_wrong_parameters_are_refused(kernels: Kernels) -> None:
    values, weight, bias, _, *rest = arguments((2, 3, 4), torch.float32)
    outs = [torch.zeros(2, 3, 4), torch.zeros(3), torch.zeros(3)]
    kernels.refuse(NAME, values, weight, bias, False, *rest, outs=outs)
    kernels.refuse(NAME, values, weight[:2], bias, True, *rest, outs=outs)
    kernels.refuse(NAME, values, weight.double(), bias, True, *rest, outs=outs)
    kernels.refuse(NAME, torch.zeros(3), None, None, True, *rest, outs=[torch.zeros(3)] * 3)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("training", [True, False])
def test_kept_statistics(kernels: Kernels, training: bool, dtype: torch.dtype) -> None:
    for parameter_dtype in {dtype, torch.float32 if dtype.itemsize == 2 else dtype}:
        values = random_tensor((4, 3, 5), dtype)
        weight, bias = (random_tensor((3,), parameter_dtype, seed=seed) for seed in (1, 2))
        mean, var = random_tensor((3,), parameter_dtype, seed=3), torch.rand(3).to(parameter_dtype)
        kept, expected_kept = [mean.clone(), var.clone()], [mean.clone(), var.clone()]
        rest = [training, 0.25, 1e-5]
        expected = torch.ops.aten._native_batch_norm_legit(values, weight, bias, *expected_kept, *rest)
        outs = [torch.empty_like(value) for value in expected]
        kernels.run(
            "aten::_native_batch_norm_legit.out", [values, weight, bias, *kept, *rest, *outs], dynamic=outs
        )
        tolerance = {torch.float16: 1e-2, torch.bfloat16: 5e-2, torch.float32: 5e-6}.get(dtype, 1e-12)
        for actual, value in zip([*outs, *kept], [*expected, *expected_kept], strict=True):
            assert_equal(actual, value, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("eps", [1e-5, 0.0])
def test_the_kept_variance_of_one_element_is_nan(kernels: Kernels, eps: float, dtype: torch.dtype) -> None:
    values = torch.tensor([[1.0, -4.0, float("inf")]], dtype=dtype)
    for momentum in (0.1, 0.0):
        mean, var = torch.zeros(3, dtype=dtype), torch.ones(3, dtype=dtype)
        outs = [torch.empty_like(values), mean.clone(), var.clone()]
        arguments = [values, None, None, mean, var, True, momentum, eps, *outs]
        kernels.run("aten::_native_batch_norm_legit.out", arguments)
        assert var.isnan().all()


def test_the_kept_variance_is_exact_whatever_eps(kernels: Kernels) -> None:
    values = torch.tensor(
        [[2.0, 1e-3, 1e-30, 1e20], [2.0, 1.0001e-3, 2e-30, 2e20], [2.0, 1.0002e-3, 3e-30, 3e20]]
    )
    for eps in (1e-5, 0.0):
        kept, expected = ([torch.zeros(4), torch.zeros(4)] for _ in range(2))
        torch.ops.aten._native_batch_norm_legit(values, None, None, *expected, True, 1.0, eps)
        outs = [torch.empty(3, 4), torch.empty(4), torch.empty(4)]
        kernels.run("aten::_native_batch_norm_legit.out", [values, None, None, *kept, True, 1.0, eps, *outs])
        assert_equal(kept[1], expected[1], rtol=1e-4, atol=0)


def test_kept_statistics_that_are_refused(kernels: Kernels) -> None:
    values, three = torch.ones(4, 3, 5), torch.ones(3)
    outs = [torch.empty(4, 3, 5), torch.empty(3), torch.empty(3)]
    name = "aten::_native_batch_norm_legit.out"
    four = torch.ones(4)
    assert (
        "running_mean"
        in kernels.refuse(name, values, None, None, four, three, True, 0.1, 0.0, outs=outs).log[0]
    )
    assert (
        "running_var"
        in kernels.refuse(name, values, None, None, three, four, True, 0.1, 0.0, outs=outs).log[0]
    )
    assert (
        kernels.refuse(name, values, None, None, three.double(), three, True, 0.1, 0.0, outs=outs).error
        == "InvalidType"
    )
