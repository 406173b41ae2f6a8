# SPDX-License-Identifier: BSD-3-Clause
"""Batch normalization with given statistics against torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from support.harness import FLOATING, Kernels, poison, random_tensor, with_dim_order

NAME = "aten::_native_batch_norm_legit_no_training.out"


def parameters(channels: int, dtype: torch.dtype) -> list[torch.Tensor]:
    """weight, bias, running_mean, running_var."""
    lows = [-2, -2, -2, 0.1]
    return [random_tensor((channels,), dtype, low=low, high=2, seed=i) for i, low in enumerate(lows)]


def check(kernels: Kernels, arguments: Sequence[Any], **kwargs: Any) -> None:
    """Compares with torch on all arguments of the operator."""
    atol = {torch.float64: 1e-12, torch.float32: 5e-6}.get(
        arguments[0].dtype, torch.finfo(arguments[0].dtype).eps
    )
    kernels.check(NAME, *arguments, 0.1, 1e-5, atol=atol, **kwargs)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(
    "shape", [(3, 5), (2, 5, 7), (2, 5, 3, 4), (2, 5, 3, 2, 2), (0, 5, 3), (2, 5, 0), (1, 5, 1)]
)
def test_every_rank_and_dtype(kernels: Kernels, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    check(kernels, [random_tensor(shape, dtype), *parameters(5, dtype)])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bit_inputs_with_wide_parameters(kernels: Kernels, dtype: torch.dtype) -> None:
    check(kernels, [random_tensor((2, 5, 3, 4), dtype), *parameters(5, torch.float32)])


def test_weight_and_bias_may_be_absent(kernels: Kernels) -> None:
    x = random_tensor((2, 5, 3, 4), torch.float32)
    weight, bias, mean, var = parameters(5, torch.float32)
    for present in [(None, None), (weight, None), (None, bias)]:
        check(kernels, [x, *present, mean, var])


@pytest.mark.parametrize("in_order", [(0, 2, 3, 1), (0, 1, 2, 3), (3, 1, 2, 0)])
@pytest.mark.parametrize("out_order", [(0, 2, 3, 1), (0, 1, 2, 3)])
def test_layouts(kernels: Kernels, in_order: tuple[int, ...], out_order: tuple[int, ...]) -> None:
    x = with_dim_order(random_tensor((2, 5, 3, 4), torch.float32), in_order)
    outs = [with_dim_order(poison(torch.empty(2, 5, 3, 4)), out_order), torch.empty(0), torch.empty(0)]
    arguments = [x, *parameters(5, torch.float32), 0.1, 1e-3]
    kernels.run(NAME, [*arguments, *outs])
    expected = torch.ops.aten._native_batch_norm_legit_no_training(*arguments)[0]
    torch.testing.assert_close(outs[0], expected, rtol=1e-5, atol=5e-6, check_stride=False)


F = torch.empty


@pytest.mark.parametrize(
    ("shape", "made"),
    [
        ((3,), [None, None, F(3), F(3)]),
        ((2, 3), [None, None, F(2), F(3)]),
        ((2, 3), [None, None, F(3), F(3, 1)]),
        ((2, 3), [F(1), None, F(3), F(3)]),
        ((2, 3), [None, F(3).double(), F(3), F(3)]),
        ((2, 3), [None, None, F(3).double(), F(3).double()]),
        ((2, 3), [None, None, F(3).half(), F(3).half()]),
    ],
)
def test_bad_arguments_are_refused(kernels: Kernels, shape: tuple[int, ...], made: list[Any]) -> None:
    refused = kernels.refuse(NAME, F(shape), *made, 0.1, 1e-5, outs=[F(shape), F(0), F(0)])
    assert refused.error in {"InvalidArgument", "InvalidType"}


def test_integers_are_refused(kernels: Kernels) -> None:
    x = torch.ones(2, 3).int()
    made = [x[0].clone()] * 4
    assert kernels.refuse(NAME, x, *made, 0.1, 1e-5, outs=[x.clone(), x[:0, 0].clone(), x[:0, 0].clone()])
