# SPDX-License-Identifier: BSD-3-Clause
"""bincount, histograms and nonzero_static against torch."""

from __future__ import annotations

import pytest
import torch

from support.harness import ALL, FLOATING, INTEGRAL, REAL, Kernels, random_tensor, with_dim_order


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_histograms_with_their_edges(kernels: Kernels, dtype: torch.dtype) -> None:
    name = "aten::histogram.bin_ct_out"
    self, weight = random_tensor((6, 5), dtype), random_tensor((6, 5), dtype, seed=1)
    kernels.check(name, self, 7)
    kernels.check(name, self, 4, range=[-2.0, 3.0])
    kernels.check(name, with_dim_order(self, [1, 0]), 4, weight=weight, density=True)
    kernels.check(name, torch.ones(3, dtype=dtype), 2)
    kernels.check(name, torch.ones(0, 3, dtype=dtype), 2)
    kernels.check(name, torch.tensor(2.5, dtype=dtype), 3, range=[2.5, 2.5])
    edges = torch.tensor([-3.0, -1.0, 0.0, 2.0], dtype=dtype)
    kernels.check("aten::histogram.bins_tensor_out", self, edges, weight=weight)
    holes = torch.tensor([-3, 0, torch.nan, 2, torch.inf, -1, -3.5, -torch.inf], dtype=dtype)
    kernels.check("aten::histogram.bins_tensor_out", holes, edges, density=True)


def test_histograms_are_refused(kernels: Kernels) -> None:
    ones, outs = torch.ones(3), [torch.zeros(2), torch.zeros(3)]
    name = "aten::histogram.bin_ct_out"
    assert "bins" in kernels.refuse(name, ones, 0, outs=outs).log[0]
    assert "range" in kernels.refuse(name, ones, 2, range=[1.0], outs=outs).log[0]
    kernels.refuse(name, ones, 2, range=[1.0, 0.0], outs=outs)
    kernels.refuse(name, ones, 2, range=[0.0, torch.inf], outs=outs)
    kernels.refuse(name, ones * torch.nan, 2, outs=outs)
    assert "weight" in kernels.refuse(name, ones, 2, weight=torch.ones(4), outs=outs).log[0]
    kernels.refuse(name, ones, 2, weight=torch.ones(3, 1), outs=outs)
    kernels.refuse(name, ones, 2, weight=ones.double(), outs=outs)
    kernels.refuse(name, ones.int(), 2, outs=[out.int() for out in outs])
    name = "aten::histogram.bins_tensor_out"
    for edges in (torch.ones(1), torch.ones(0), torch.ones(2, 2), torch.ones(3).double()):
        outs = [torch.zeros(2), torch.zeros(edges.shape)]
        assert "bins" in kernels.refuse(name, ones, edges, outs=outs).log[0]
