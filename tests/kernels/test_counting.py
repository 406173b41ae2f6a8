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


@pytest.mark.parametrize("last", [254, 255, 256, 1000])
@pytest.mark.parametrize("least", [0, 255, 256, 257, 600])
def test_few_and_many_bins(kernels: Kernels, last: int, least: int) -> None:
    self = random_tensor((1000,), torch.int32, low=0, high=200)
    for position in (0, 500, 999):  # in the first or a later block
        self[position] = last
        kernels.check("aten::bincount.out", self, None, least)
    self[700] = -1
    kernels.refuse("aten::bincount.out", self, None, least, outs=[torch.zeros(3, dtype=torch.int64)])


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


def test_histograms_of_one_value_count_it_in_the_middle(kernels: Kernels) -> None:
    for value, dtype in [
        (3e7, torch.float32),
        (1e20, torch.float32),
        (-1e20, torch.float32),
        (1e300, torch.float64),
    ]:
        for bins in (4, 5):
            kernels.check("aten::histc.out", torch.full((2,), value, dtype=dtype), bins)


def test_histograms_round_their_bounds_to_the_dtype(kernels: Kernels) -> None:
    kernels.check("aten::histc.out", torch.tensor([0.1, 0.05]), 4, 0, 0.1)
    kernels.check("aten::histc.out", torch.tensor([0.1, 0.3], dtype=torch.float16), 4, 0.1, 0.3)
    kernels.check("aten::histc.out", torch.tensor([1.0, 2.0]), 4, 1 + 1e-10, 1 + 2e-10)
    kernels.check("aten::histc.out", torch.tensor([0.0, 1e-45]), 4, 0, 1e-46)


def test_histograms_of_the_narrowest_and_the_widest_ranges(kernels: Kernels) -> None:
    smallest = torch.tensor([0.0, 5e-324, 1e-323, 2e-323], dtype=torch.float64)
    for high in (0.0, 2e-323):
        kernels.check("aten::histc.out", smallest, 10, 0, high)
    kernels.check("aten::histc.out", torch.tensor([0.0, 1e-45, 1e-44]), 10)
    # In torch, (x - low) * bins is infinite here and each element counts in bin 0, or in none.
    for dtype, low, high in [(torch.float64, -8e307, 8e307), (torch.float32, -3e38, 3e38)]:
        self = torch.tensor([low, 0.0, high * (7 / 8), high], dtype=dtype)
        for bounds in ([], [low, high]):
            out = torch.empty(100, dtype=dtype)
            kernels.run("aten::histc.out", [self, 100, *(bounds or [0, 0]), out])
            assert out.nonzero().flatten().tolist() == [0, 50, 93, 99] and out.sum() == 4


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
