# SPDX-License-Identifier: BSD-3-Clause
"""Operators that write the elements that an index selects: index_add, index_copy, index_fill, index_reduce,
put, take, scatter_reduce and the reducing scatter."""

from __future__ import annotations

import pytest
import torch

from support.harness import INTEGRAL, REAL, Kernels, random_tensor

REAL_BOOL = [torch.bool, *REAL]
INDEX = torch.tensor([3, 0, 3, 1])
REDUCTIONS = ["sum", "prod", "mean", "amax", "amin"]


def _check_scatter_reduce(
    kernels: Kernels, dtype: torch.dtype, reduce: str, include_self: bool, shape: tuple[int, ...] = (5, 6)
) -> None:
    self = random_tensor(shape, dtype, seed=1)
    src = random_tensor((7, 4), dtype, low=-3, high=3, seed=2)
    index = random_tensor((6, 4), torch.int64, low=0, high=5, seed=3)
    rough = {"rtol": 4e-3, "atol": 4e-3} if dtype == torch.float16 else {}
    kernels.check(
        "aten::scatter_reduce.two_out", self, 0, index, src, reduce, include_self=include_self, **rough
    )


# PyTorch has no mean for bool.
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize(
    ("reduce", "dtype"), [(r, d) for r in REDUCTIONS for d in REAL_BOOL if (r, d) != ("mean", torch.bool)]
)
def test_scatter_reduce_of_every_dtype(
    kernels: Kernels, dtype: torch.dtype, reduce: str, include_self: bool
) -> None:
    _check_scatter_reduce(kernels, dtype, reduce, include_self)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_scatter_reduce_without_dimensions_and_elements(kernels: Kernels, reduce: str) -> None:
    name = "aten::scatter_reduce.two_out"
    number = torch.tensor(2.5)
    kernels.check(name, number, 0, torch.tensor(0), torch.tensor(4.0), reduce)
    kernels.check(name, number, -1, torch.tensor([0]), torch.tensor([4.0]), reduce, include_self=False)
    empty = torch.zeros(0, dtype=torch.int64)
    kernels.check(name, torch.ones(3), 0, empty, torch.ones(2), reduce)


@pytest.mark.parametrize("reduce", ["amax", "amin", "sum"])
def test_scatter_reduce_keeps_nan(kernels: Kernels, reduce: str) -> None:
    self = torch.tensor([1.0, float("nan"), 3.0, 4.0])
    src = torch.tensor([float("nan"), 5.0, float("inf"), float("-inf")])
    kernels.check(
        "aten::scatter_reduce.two_out", self, 0, torch.tensor([0, 1, 2, 3]), src, reduce, include_self=True
    )


def test_integers_wrap_and_means_round_down(kernels: Kernels) -> None:
    self = torch.tensor([120, -7], dtype=torch.int8)
    index = torch.tensor([0, 0, 1])
    src = torch.tensor([100, 100, -2], dtype=torch.int8)
    for reduce in ("sum", "prod"):
        kernels.check("aten::scatter_reduce.two_out", self, 0, index, src, reduce)
    mean = torch.tensor([-4, -7], dtype=torch.int32)
    kernels.check(
        "aten::scatter_reduce.two_out", mean, 0, index, torch.tensor([-3, 1, -2], dtype=torch.int32), "mean"
    )


def test_scatter_reduce_refuses(kernels: Kernels) -> None:
    self = torch.zeros(4)
    out = torch.zeros(4)
    index = torch.tensor([0])
    name = "aten::scatter_reduce.two_out"
    assert "median" in kernels.refuse(name, self, 0, index, torch.ones(1), "median", outs=[out]).log[0]
    for bad in (4, -1):
        refused = kernels.refuse(name, self, 0, torch.tensor([bad]), torch.ones(1), "sum", outs=[out])
        assert refused.error == "InvalidArgument"
    assert kernels.refuse(name, self, 1, index, torch.ones(1), "sum", outs=[out]).error == "InvalidArgument"
    assert (
        kernels.refuse(name, self, 0, index, torch.ones(1).double(), "sum", outs=[out]).error == "InvalidType"
    )


@pytest.mark.parametrize("dtype", REAL_BOOL, ids=str)
def test_scatter_that_adds_or_multiplies(kernels: Kernels, dtype: torch.dtype) -> None:
    self = random_tensor((4, 3), dtype, seed=1)
    src = random_tensor((5, 3), dtype, seed=2)
    index = random_tensor((5, 3), torch.int64, low=0, high=4, seed=3)
    for reduce in ("add", "multiply"):
        rough = {"rtol": 4e-3, "atol": 4e-3} if dtype == torch.float16 else {}
        kernels.check("aten::scatter.reduce_out", self, 0, index, src, reduce=reduce, **rough)
        kernels.check("aten::scatter.value_reduce_out", self, 0, index, 2, reduce=reduce, **rough)
    out = torch.zeros_like(self)
    assert kernels.refuse("aten::scatter.reduce_out", self, 0, index, src, reduce="sum", outs=[out]).log


@pytest.mark.parametrize("dtype", REAL_BOOL, ids=str)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_index_add_copy_and_fill_of_every_dtype(kernels: Kernels, dtype: torch.dtype, dim: int) -> None:
    self = random_tensor((4, 5), dtype, seed=1)
    shape = [4, 5]
    shape[dim] = len(INDEX)
    source = random_tensor(shape, dtype, seed=2)
    kernels.check("aten::index_add.out", self, dim, INDEX, source)
    if dtype != torch.bool:
        rough = {"rtol": 2e-2, "atol": 2e-2} if dtype in (torch.float16, torch.bfloat16) else {}
        kernels.check("aten::index_add.out", self, dim, INDEX.int(), source, alpha=3, **rough)
    once = torch.tensor([3, 0, 2, 1])
    kernels.check("aten::index_copy.out", self, dim, once, source)
    kernels.check("aten::index_fill.int_Scalar_out", self, dim, once - 2, 7)
    kernels.check("aten::index_fill.int_Tensor_out", self, dim, INDEX, torch.tensor(1.5).to(dtype))


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", REDUCTIONS[1:])
@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_index_reduce_of_every_dtype(
    kernels: Kernels, dtype: torch.dtype, reduce: str, include_self: bool
) -> None:
    self = random_tensor((5, 3), dtype, seed=1)
    source = random_tensor((4, 3), dtype, low=-3, high=3, seed=2)
    rough = {"rtol": 1e-2, "atol": 1e-2} if dtype in (torch.float16, torch.bfloat16) else {}
    kernels.check(
        "aten::index_reduce.out", self, 0, INDEX, source, reduce, include_self=include_self, **rough
    )


def test_index_updates_without_dimensions(kernels: Kernels) -> None:
    number, index = torch.tensor(2.0), torch.tensor([0])
    kernels.check("aten::index_add.out", number, 0, index, torch.tensor(3.0))
    kernels.check("aten::index_copy.out", number, 0, index, torch.tensor(3.0))
    kernels.check("aten::index_fill.int_Scalar_out", number, 0, index, 3.0)


def test_index_updates_in_another_dim_order(kernels: Kernels) -> None:
    self = random_tensor((2, 3, 4, 5), torch.float32).to(memory_format=torch.channels_last)
    source = random_tensor((2, 4, 4, 5), torch.float32, seed=1)
    index = torch.tensor([2, 0, 2, 1])
    order = [0, 2, 3, 1]
    kernels.check("aten::index_add.out", self, 1, index, source, out_dim_order=order)
    kernels.check("aten::take.out", self, torch.tensor([[3, -1], [119, 0]]))
    kernels.check("aten::put.out", self, torch.tensor([3, -1]), torch.tensor([7.0, 8.0]), out_dim_order=order)


@pytest.mark.parametrize("name", ["aten::index_add.out", "aten::index_copy.out"])
def test_index_updates_refuse(kernels: Kernels, name: str) -> None:
    self, out = torch.zeros(4, 2), torch.zeros(4, 2)
    for index in ([4], [-1]):
        refused = kernels.refuse(name, self, 0, torch.tensor(index), torch.ones(1, 2), outs=[out])
        assert str(index[0]) in refused.log[0]
    for index, source in [
        (torch.tensor([0, 1]), torch.ones(1, 2)),
        (torch.tensor([[0]]), torch.ones(1, 2)),
        (torch.tensor([0]), torch.ones(1, 3)),
        (torch.tensor([0.0]), torch.ones(1, 2)),
        (torch.tensor([0]), torch.ones(1, 2).double()),
    ]:
        kernels.refuse(name, self, 0, index, source, outs=[out])


@pytest.mark.parametrize("dtype", REAL_BOOL, ids=str)
def test_put_and_take_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    self = random_tensor((3, 4), dtype, seed=1)
    index = torch.tensor([[0, -1], [5, -12]])
    source = random_tensor((4,), dtype, seed=2)
    kernels.check("aten::take.out", self, index)
    kernels.check("aten::put.out", self, index, source)
    doubled = torch.tensor([5, 5, -7, 0])
    kernels.check("aten::put.out", self, doubled, source, True)


def test_put_and_take_refuse(kernels: Kernels) -> None:
    self, out = torch.zeros(3, 4), torch.zeros(3, 4)
    for bad in (12, -13):
        assert kernels.refuse("aten::take.out", self, torch.tensor([bad]), outs=[torch.zeros(1)]).log
        assert kernels.refuse("aten::put.out", self, torch.tensor([bad]), torch.ones(1), outs=[out]).log
    assert kernels.refuse("aten::take.out", torch.zeros(0), torch.tensor([0]), outs=[torch.zeros(1)]).log
    assert kernels.refuse("aten::put.out", self, torch.tensor([1]), torch.ones(2), outs=[out]).log


@pytest.mark.parametrize("dtype", INTEGRAL, ids=str)
def test_index_add_wraps(kernels: Kernels, dtype: torch.dtype) -> None:
    self = torch.full((2,), torch.iinfo(dtype).max, dtype=dtype)
    source = torch.full((1,), torch.iinfo(dtype).max, dtype=dtype)
    kernels.check("aten::index_add.out", self, 0, torch.tensor([1]), source, alpha=2)
