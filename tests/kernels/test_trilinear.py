# SPDX-License-Identifier: BSD-3-Clause
"""Sums of products of three tensors, as in bilinear layers, against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import REAL, Kernels, random_tensor, with_dim_order

NAME = "aten::_trilinear.out"


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_a_bilinear_layer(kernels: Kernels, dtype: torch.dtype) -> None:
    a, weight, b = (
        random_tensor(shape, dtype, low=-2, high=2, seed=seed)
        for seed, shape in enumerate([(5, 3), (2, 3, 4), (5, 4)])
    )
    near: dict[str, Any] = (
        {"rtol": 5e-2, "atol": 5e-2} if dtype.itemsize == 2 else {"rtol": 1e-5, "atol": 1e-5}
    )
    kernels.check(NAME, a, weight, b, [1, 3], [0], [1, 2], [2, 3], **near)
    kernels.check(
        NAME,
        with_dim_order(a, [1, 0]),
        with_dim_order(weight, [2, 0, 1]),
        b,
        [1, 3],
        [0],
        [1, 2],
        [-1, 2],
        **near,
    )


@pytest.mark.parametrize("sums", [[], [0], [1], [0, 1]])
def test_any_dimensions_are_summed(kernels: Kernels, sums: list[int]) -> None:
    a, b = random_tensor((2, 3), torch.float64), random_tensor((1, 3), torch.float64, seed=1)
    kernels.check(NAME, a, b, a, [], [], [], sums)
    kernels.check(NAME, a[:0].clone(), b, a[:0].clone(), [], [], [], sums)


def test_numbers_and_outer_products(kernels: Kernels) -> None:
    a, b, c = (torch.tensor(float(x)) for x in (2, 3, 4))
    # PyTorch returns 0 for this case.
    kernels.check(NAME, a, b, c, [0], [0], [0], [0], eager=lambda *_: torch.tensor(24.0))
    a, b, c = (random_tensor((size,), torch.float64) for size in (2, 3, 4))
    kernels.check(NAME, a, b, c, [1, 2], [0, 2], [0, 1], [], 0)


def test_sums_of_nothing_are_zero(kernels: Kernels) -> None:
    kernels.check(NAME, torch.ones(2, 0), torch.ones(2, 0), torch.ones(2, 1), [], [], [], [1])


def test_what_products_of_three_refuse(kernels: Kernels) -> None:
    a, out = torch.ones(2, 3), [torch.ones(2)]
    assert "dtype" in kernels.refuse(NAME, a, a.double(), a, [], [], [], [1], outs=out).log[0]
    assert "broadcast" in kernels.refuse(NAME, a, torch.ones(3, 3), a, [], [], [], [1], outs=out).log[0]
    assert "dimensions" in kernels.refuse(NAME, a, a, a, [0], [], [0], [1], outs=out).log[0]
    kernels.refuse(NAME, a, a, a, [5], [0], [0], [1], outs=out)
    kernels.refuse(NAME, a, a, a, [], [], [], [2], outs=out)
    kernels.refuse(NAME, a, a, a, [0] * 15, [0] * 15, [0] * 15, [1], outs=out)
    kernels.refuse(NAME, a > 0, a > 0, a > 0, [], [], [], [1], outs=[out[0] > 0])
