# SPDX-License-Identifier: BSD-3-Clause
"""kthvalue, median, nanmedian, mode, cummax, cummin and logcumsumexp against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import FLOATING, REAL, Kernels, random_tensor, with_dim_order

REAL_BOOL = [torch.bool, *REAL]
NAN = float("nan")


def _different(shape: tuple[int, ...], dtype: torch.dtype, dim: int) -> torch.Tensor:
    """Elements that differ along `dim`, so that indices are unique."""
    others = [n for d, n in enumerate(shape) if d != dim % len(shape)]
    order = torch.rand([*others, shape[dim]], generator=torch.Generator().manual_seed(1)).argsort(-1)
    return order.movedim(-1, dim % len(shape)).to(dtype).contiguous()


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_rank_of_every_dtype(kernels: Kernels, dtype: torch.dtype, dim: int) -> None:
    self = _different((7, 4, 9), dtype, dim)
    for keepdim in (False, True):
        for k in range(1, self.shape[dim] + 1):
            kernels.check("aten::kthvalue.values", self, k, dim, keepdim)
        kernels.check("aten::median.dim_values", self, dim, keepdim)
        kernels.check("aten::nanmedian.dim_values", self, dim, keepdim)
    kernels.check("aten::median.out", random_tensor((5, 6), dtype))
    kernels.check("aten::nanmedian.out", random_tensor((5, 5), dtype))


@given(st.lists(st.integers(-3, 3) | st.just(None), min_size=1, max_size=40), st.data())
@settings(max_examples=100, deadline=None)
def test_values_of_any_rank(kernels: Kernels, numbers: list[int | None], data: st.DataObject) -> None:
    self = torch.tensor([NAN if n is None else float(n) for n in numbers])
    k = data.draw(st.integers(1, len(numbers)))
    value, position = torch.zeros(()), torch.zeros((), dtype=torch.int64)
    kernels.run("aten::kthvalue.values", [self, k, 0, False, value, position])
    torch.testing.assert_close(value, self.sort().values[k - 1], equal_nan=True)
    torch.testing.assert_close(self[position], value, equal_nan=True)
    kernels.check("aten::median.out", self)
    kernels.check("aten::nanmedian.out", self)
    kernels.check("aten::cummax.out", self, 0)
    kernels.check("aten::cummin.out", self, 0)


@pytest.mark.parametrize(
    "name", ["drawn", "few", "two", "equal", "sorted", "alike_where_sampled", "extremes"]
)
@pytest.mark.parametrize("rank", [1, 2000, 7000, 10001, 12000, 19999])
def test_ranks_of_fibers_that_are_sampled(kernels: Kernels, name: str, rank: int) -> None:
    size, least, most = 20003, -(2**63), 2**63 - 1
    drawn = torch.randint(least, most, (size,), generator=torch.Generator().manual_seed(rank))
    alike = drawn.clone()
    alike[:: size // 512] = 3  # the sample has one value, and most others are far from it
    self = {
        "drawn": drawn,
        "few": drawn % 7,
        "two": torch.arange(size) % 2,
        "equal": torch.full((size,), most),
        "sorted": torch.arange(size, 0, -1),
        "alike_where_sampled": alike,
        "extremes": torch.where(drawn % 3 == 0, least, most),
    }[name]
    value, position = torch.empty((), dtype=self.dtype), torch.empty((), dtype=torch.int64)
    kernels.run("aten::kthvalue.values", [self, rank, 0, False, value, position])
    order = torch.sort(self, stable=True)
    assert value == order.values[rank - 1]
    assert position == order.indices[rank - 1]
    floats = torch.where(drawn % 5 == 0, NAN, self.double())
    for median in ("aten::median.out", "aten::nanmedian.out"):
        kernels.check(median, self if median == "aten::median.out" else floats)
        kernels.check(median, floats[:10000].bfloat16())


def test_medians_with_nan(kernels: Kernels) -> None:
    self = torch.tensor([[1.0, NAN, 3.0], [NAN, NAN, NAN], [4.0, 2.0, 9.0]])
    kernels.check("aten::median.dim_values", self, 1)
    kernels.check("aten::nanmedian.dim_values", self, 1)
    kernels.check("aten::nanmedian.out", torch.full((3,), NAN))


def test_medians_without_dimensions_and_elements(kernels: Kernels) -> None:
    number = torch.tensor(3.0)
    kernels.check("aten::median.out", number)
    kernels.check("aten::median.dim_values", number, 0)
    kernels.check("aten::kthvalue.values", number, 1)
    kernels.check("aten::mode.values", number)
    kernels.check("aten::cummax.out", number, 0)
    kernels.check("aten::median.dim_values", torch.zeros(0, 3), 1)
    kernels.check("aten::cummin.out", torch.zeros(0, 3), 0)


@pytest.mark.parametrize("name", ["aten::median.out", "aten::nanmedian.out"])
@pytest.mark.parametrize("dtype", REAL)
def test_medians_of_no_elements(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    """PyTorch's NaN, and what it becomes as an integer."""
    kernels.check(name, torch.zeros(0, 3, dtype=dtype))


def test_ranks_are_refused(kernels: Kernels) -> None:
    self = torch.zeros(3, 4)
    outs = [torch.zeros(3), torch.zeros(3, dtype=torch.int64)]
    for k in (0, 5, -1):
        assert str(k) in kernels.refuse("aten::kthvalue.values", self, k, outs=outs).log[0]
    kernels.refuse("aten::kthvalue.values", self, 1, 2, outs=outs)
    kernels.refuse("aten::median.dim_values", torch.zeros(3, 0), 1, outs=outs)
    kernels.refuse("aten::mode.values", torch.zeros(3, 0), outs=outs)
    for name in ("median.dim_values", "mode.values", "cummax.out"):
        kernels.refuse(f"aten::{name}", self, 1, outs=[outs[0].double(), outs[1]])
        kernels.refuse(f"aten::{name}", self, 1, outs=[outs[0], outs[1].int()])


@pytest.mark.parametrize("dtype", REAL_BOOL, ids=str)
def test_mode_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    self = random_tensor((12, 5), dtype, low=0, high=4).to(torch.int64).to(dtype)
    for dim in (0, 1):
        values, positions = torch.zeros_like(self.sum(dim)).to(dtype), torch.zeros_like(self.sum(dim)).long()
        kernels.run("aten::mode.values", [self, dim, False, values, positions])
        torch.testing.assert_close(values, torch.mode(self, dim).values)
        torch.testing.assert_close(self.gather(dim, positions.unsqueeze(dim)).squeeze(dim), values)


@pytest.mark.parametrize("dtype", REAL_BOOL, ids=str)
@pytest.mark.parametrize("name", ["aten::cummax.out", "aten::cummin.out"])
def test_extremes_so_far_of_every_dtype(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    self = random_tensor((5, 6, 4), dtype)
    for dim in (0, 1, -1):
        kernels.check(name, self, dim)
    kernels.check(name, with_dim_order(self, [2, 0, 1]), 1, out_dim_order=[1, 2, 0])


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_logarithms_of_sums_of_exponentials_so_far(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check("aten::logcumsumexp.out", random_tensor((4, 9), dtype), 1)
    inf = float("inf")
    for row in ([-inf, -inf, 1.0], [1.0, inf, -inf], [inf, inf, NAN], [1e4, -1e4, 1e4], [0.0, NAN, 1.0]):
        kernels.check("aten::logcumsumexp.out", torch.tensor(row, dtype=dtype), 0)
    kernels.refuse("aten::logcumsumexp.out", torch.zeros(3), 1, outs=[torch.zeros(3)])
