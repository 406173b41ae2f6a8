# SPDX-License-Identifier: BSD-3-Clause
"""linalg_vector_norm and norm against torch."""

from __future__ import annotations

import pytest
import torch

from support.harness import FLOATING, Kernels, random_tensor, with_dim_order

ORDERS = [0, 1, 2, 3, 0.5, -1, 2.5, float("inf"), float("-inf")]


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_norms_of_every_dtype(kernels: Kernels, dtype: torch.dtype, order: float) -> None:
    self = random_tensor((4, 3, 7), dtype)
    rough = {"rtol": 2e-3} if dtype == torch.float16 else {"rtol": 1e-5} if dtype == torch.float32 else {}
    if rough:
        rough["atol"] = 1e-5
    for dim in (None, [0], [1, -1], []):
        kernels.check("aten::linalg_vector_norm.out", self, order, dim, **rough)
    kernels.check("aten::linalg_vector_norm.out", self, order, [1], True, **rough)
    kernels.check("aten::norm.out", self, order, [1], True, **rough)
    kernels.check("aten::norm.Scalar_out", self, order, **rough)


def test_norms_in_another_dtype(kernels: Kernels) -> None:
    self = random_tensor((4, 5), torch.float16)
    for dtype in (torch.float32, torch.float64):
        kernels.check("aten::linalg_vector_norm.out", self, 2, [1], dtype=dtype)
        kernels.check("aten::norm.dtype_out", self, None, [1], False, dtype=dtype)
        kernels.check("aten::norm.ScalarOpt_dtype_out", self, 3, dtype=dtype)
    kernels.check("aten::norm.out", self.float(), None, [0])


def test_norms_at_the_edges(kernels: Kernels) -> None:
    nan, inf = float("nan"), float("inf")
    for order in (0, 1, 2, inf, -inf):
        for values in ([nan, 1.0], [1.0, nan], [inf, -2.0], [-0.0, 0.0]):
            kernels.check("aten::linalg_vector_norm.out", torch.tensor(values), order)
        kernels.check("aten::linalg_vector_norm.out", torch.tensor(-3.0), order)
    for order in (0, 1, 2):
        kernels.check("aten::linalg_vector_norm.out", torch.zeros(0, 3), order, [0])
    long = torch.full((1 << 20,), 0.1)
    exact = torch.linalg.vector_norm(long.double()).float()
    kernels.check("aten::linalg_vector_norm.out", long, 2, eager=lambda *_: exact)
    swapped = with_dim_order(random_tensor((3, 4, 5), torch.float32), [2, 0, 1])
    kernels.check("aten::linalg_vector_norm.out", swapped, 2, [0], True, out_dim_order=[1, 0, 2])


def test_norms_are_refused(kernels: Kernels) -> None:
    name = "aten::linalg_vector_norm.out"
    kernels.refuse(name, torch.zeros(3).int(), outs=[torch.zeros(())])
    kernels.refuse(name, torch.zeros(3), outs=[torch.zeros(()).int()])
    kernels.refuse(name, torch.zeros(3), 2, [1], outs=[torch.zeros(())])
    kernels.refuse(name, torch.zeros(3), 2, [0, 0], outs=[torch.zeros(())])
    kernels.refuse(name, torch.zeros(0), float("inf"), outs=[torch.zeros(())])
    kernels.refuse(name, torch.zeros(3), dtype=torch.float64, outs=[torch.zeros(())])


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_slices_of_smaller_norm(kernels: Kernels, dtype: torch.dtype) -> None:
    self = random_tensor((4, 3, 2), dtype)
    rough = {"rtol": 2e-3, "atol": 1e-3} if dtype == torch.float16 else {}
    for order in (0.5, 1, 2, 3, float("inf")):
        for dim in (0, 1, -1):
            kernels.check("aten::renorm.out", self, order, dim, 4.0, **rough)
    kernels.check("aten::renorm.out", self[:0], 2, 0, 1.0)
    kernels.check("aten::renorm.out", self, 2, 0, 0)


def test_slices_of_smaller_norm_are_refused(kernels: Kernels) -> None:
    self, out = torch.zeros(3, 2), torch.zeros(3, 2)
    for bad in ((0, 0, 1.0), (2, 2, 1.0), (2, 0, -1.0)):
        kernels.refuse("aten::renorm.out", self, *bad, outs=[out])
    kernels.refuse("aten::renorm.out", torch.zeros(3), 2, 0, 1.0, outs=[torch.zeros(3)])
