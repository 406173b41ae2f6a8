# SPDX-License-Identifier: BSD-3-Clause
"""bincount, histc and nonzero_static against torch."""

from __future__ import annotations

import pytest
import torch
from harness import ALL, FLOATING, INTEGRAL, REAL, Kernels, random_tensor


@pytest.mark.parametrize("dtype", INTEGRAL, ids=str)
def test_numbers_are_counted(kernels: Kernels, dtype: torch.dtype) -> None:
    self = random_tensor((30,), dtype, low=0, high=9)
    for least in (0, 4, 15):
        kernels.check("aten::bincount.out", self, None, least)
    kernels.check("aten::bincount.out", self[:0])
    kernels.check("aten::bincount.out", self[:0], None, 3)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_numbers_are_counted_with_weights(kernels: Kernels, dtype: torch.dtype) -> None:
    self = random_tensor((30,), torch.int64, low=0, high=9)
    kernels.check("aten::bincount.out", self, random_tensor((30,), dtype, seed=1))


def test_counting_is_refused(kernels: Kernels) -> None:
    name, out = "aten::bincount.out", torch.zeros(3, dtype=torch.int64)
    assert "-1" in kernels.refuse(name, torch.tensor([1, -1]), outs=[out]).log[0]
    kernels.refuse(name, torch.tensor([1, 2**40]), outs=[out])
    kernels.refuse(name, torch.tensor([[1, 2]]), outs=[out])
    kernels.refuse(name, torch.tensor([1.0]), outs=[out])
    kernels.refuse(name, torch.tensor([2]), torch.tensor([1.0, 2.0]), outs=[out.float()])
    kernels.refuse(name, torch.tensor([2]), None, -1, outs=[out])
    kernels.refuse(name, torch.tensor([2]), outs=[out.int()])


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_histograms_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    self = random_tensor((50,), dtype)
    kernels.check("aten::histc.out", self.to(torch.int64).to(dtype), 8, -4, 4)
    kernels.check("aten::histc.out", self[:1], 3)
    kernels.check("aten::histc.out", torch.tensor([1.0, 3.0, 2.0], dtype=dtype), 2)


def test_histograms_at_the_edges(kernels: Kernels) -> None:
    nan, inf = float("nan"), float("inf")
    kernels.check("aten::histc.out", torch.tensor([nan, 1.0, inf, -inf]), 3, 0, 3)
    kernels.check("aten::histc.out", torch.zeros(0), 3)
    out = torch.zeros(3)
    kernels.refuse("aten::histc.out", torch.tensor([nan, 1.0]), 3, outs=[out])
    kernels.refuse("aten::histc.out", torch.tensor([1.0]), 3, 5, 2, outs=[out])
    kernels.refuse("aten::histc.out", torch.tensor([1.0]), 0, outs=[out])
    kernels.refuse("aten::histc.out", torch.tensor([1]), 3, outs=[out])


@pytest.mark.parametrize("dtype", [torch.bool, *REAL], ids=str)
def test_a_given_number_of_places(kernels: Kernels, dtype: torch.dtype) -> None:
    self = random_tensor((3, 4), torch.int64, low=0, high=2).to(dtype)
    for size in (0, 1, 5, 20):
        kernels.check("aten::nonzero_static.out", self, size=size)
    kernels.check("aten::nonzero_static.out", self, size=20, fill_value=7)
    kernels.refuse("aten::nonzero_static.out", self, size=-1, outs=[torch.zeros(0, 2).long()])
