# SPDX-License-Identifier: BSD-3-Clause
"""var and var_mean against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import FLOATING, Kernels, random_tensor, with_dim_order

VAR = "aten::var.out"
CORRECTED = "aten::var.correction_out"
WITH_MEAN = "aten::var_mean.correction_out"
DIMS = [None, [], [0], [-1], [0, 2], [1, 0, 2]]


def close(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances: sums are added in another order."""
    return {"rtol": 5e-6, "atol": 1e-6} if dtype == torch.float32 else {}


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("dtype", FLOATING)
def test_variance(kernels: Kernels, dtype: torch.dtype, dim: list[int] | None, keepdim: bool) -> None:
    values = random_tensor((3, 40, 5), dtype)
    for unbiased in (False, True):
        kernels.check(VAR, values, dim, unbiased, keepdim, **close(dtype))
    for correction in (None, 0, 2, 0.5):
        for name in (CORRECTED, WITH_MEAN):
            kernels.check(name, values, dim, correction=correction, keepdim=keepdim, **close(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
def test_variance_of_a_large_mean(kernels: Kernels, dtype: torch.dtype) -> None:
    values = (torch.arange(3000) % 7 + 1000).to(dtype)
    exact = [result.to(dtype) for result in torch.var_mean(values.double())]
    kernels.check(WITH_MEAN, values, eager=lambda *_: exact, **close(dtype))


@pytest.mark.filterwarnings("ignore:var")
@pytest.mark.parametrize(
    ("values", "dim", "correction"),
    [
        (torch.ones(1), None, 1),
        (torch.tensor(3.0), None, 1),
        (torch.ones(3, 0), [1], 1),
        (torch.ones(0, 3), [1], 1),
        (torch.tensor([1.0, 2.0]), None, 2),
        (torch.tensor([1.0, 2.0]), None, 5),
        (torch.tensor([1.0, float("inf"), 2.0]), None, 1),
        (torch.tensor([1.0, float("nan"), 2.0]), None, 1),
    ],
)
def test_variance_of_few_elements(kernels: Kernels, values: torch.Tensor, dim: Any, correction: int) -> None:
    kernels.check(CORRECTED, values, dim, correction=correction)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 1, 0, 2]])
def test_variance_of_other_dim_orders(kernels: Kernels, order: list[int]) -> None:
    values = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), order)
    for dim in ([0], [1, 3], [2]):
        kernels.check(WITH_MEAN, values, dim, **close(torch.float32))


def test_variance_into_another_dtype(kernels: Kernels) -> None:
    values = random_tensor((3, 40), torch.float32)
    kernels.check(CORRECTED, values, [1], out_dtype=torch.float64, rtol=5e-6)
    kernels.check(CORRECTED, values, [1], out_dtype=torch.float16)


def test_variance_refuses(kernels: Kernels) -> None:
    whole, real = torch.ones(3, dtype=torch.int32), torch.ones(3)
    out = torch.empty(())
    assert kernels.refuse(VAR, whole, None, outs=[out]).error == "InvalidType"
    assert kernels.refuse(CORRECTED, real, None, outs=[out.int()]).error == "InvalidType"
    assert kernels.refuse(CORRECTED, real, [1], outs=[out]).error == "InvalidArgument"
    assert kernels.refuse(CORRECTED, real, [0, 0], outs=[out]).error == "InvalidArgument"
