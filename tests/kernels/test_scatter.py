# SPDX-License-Identifier: BSD-3-Clause
"""scatter, scatter_add, select_scatter and slice_scatter against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import ALL, REAL, KernelRefused, Kernels, random_tensor, with_dim_order

REAL_BOOL = [torch.bool, *REAL]
i64 = torch.tensor


def distinct_indices(shape: tuple[int, ...], dim: int, size: int, seed: int = 0) -> torch.Tensor:
    """Indices below `size` of which no two along `dim` are equal."""
    generator = torch.Generator().manual_seed(seed)
    others = [n for d, n in enumerate(shape) if d != dim % len(shape)]
    picks = torch.rand([*others, size], generator=generator).argsort(-1)[..., : shape[dim]]
    return picks.movedim(-1, dim % len(shape)).contiguous()


@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_scatter_along_any_dimension(kernels: Kernels, dim: int, index_dtype: torch.dtype) -> None:
    target = random_tensor((4, 3, 5), torch.float32)
    for shape in ((3, 2, 3), (1, 1, 1), (3, 3, 1)):
        index = distinct_indices(shape, dim, target.shape[dim]).to(index_dtype)
        for source in (shape, (4, 4, 4)):
            values = random_tensor(source, torch.float32, seed=1)
            kernels.check("aten::scatter.src_out", target, dim, index, values)
            kernels.check("aten::scatter_add.out", target, dim, index, values)
        kernels.check("aten::scatter.value_out", target, dim, index, 2.5)
    repeated = torch.zeros(3, 2, 3, dtype=index_dtype)
    kernels.check("aten::scatter_add.out", target, dim, repeated, torch.ones(3, 2, 3))
    kernels.check("aten::scatter.value_out", target, dim, repeated, 7)


@pytest.mark.parametrize("dtype", REAL_BOOL)
def test_scatter_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    target, values = random_tensor((4, 3), dtype), random_tensor((2, 3), dtype, seed=1)
    index = distinct_indices((2, 3), 0, 4)
    kernels.check("aten::scatter.src_out", target, 0, index, values)
    kernels.check("aten::scatter_add.out", target, 0, index, values)
    kernels.check("aten::scatter_add.out", target, 0, i64([[1, 2, 0], [1, 1, 0]]), values)
    for number in (1, 2.75, True, 0):
        kernels.check("aten::scatter.value_out", target, 0, index, number)


def test_scatter_of_complex_numbers(kernels: Kernels) -> None:
    target = torch.randn(4, 3, dtype=torch.complex64)
    kernels.check("aten::scatter.src_out", target, 0, distinct_indices((2, 3), 0, 4), target[:2] + 1)


def test_added_integers_wrap(kernels: Kernels) -> None:
    values = torch.tensor([100, 100, 100], dtype=torch.int8)
    kernels.check("aten::scatter_add.out", values, 0, i64([1, 1, 1]), values)


def test_scatter_without_dimensions_or_elements(kernels: Kernels) -> None:
    number = torch.tensor(1.5)
    for index in (i64([0]), i64(0)):
        kernels.check("aten::scatter.src_out", number, 0, index, torch.tensor([3.0]))
        kernels.check("aten::scatter.src_out", number, -1, index, torch.tensor(3.0))
        kernels.check("aten::scatter_add.out", number, 0, index, torch.tensor([3.0]))
        kernels.check("aten::scatter.value_out", number, 0, index, 4)
    for shape, dtype in (((0,), torch.int64), ((0, 3), torch.int32), ((2, 0), torch.uint8)):
        empty = torch.zeros(shape, dtype=dtype)
        kernels.check("aten::gather.out", torch.ones(2, 3), 0, empty)
        kernels.check("aten::scatter.src_out", torch.ones(2, 3), 0, empty, torch.ones(2, 3))
        kernels.check("aten::scatter.value_out", torch.ones(2, 3), 0, empty, 3)
        kernels.check("aten::scatter_add.out", torch.ones(2, 3), 0, empty, torch.ones(2, 3))


def test_scatter_in_other_dim_orders(kernels: Kernels) -> None:
    order = (0, 2, 3, 1)
    target = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), order)
    index = with_dim_order(distinct_indices((2, 2, 4, 3), 1, 3), order)
    for values in (random_tensor((2, 2, 4, 3), torch.float32), with_dim_order(torch.rand(2, 2, 4, 3), order)):
        kernels.check("aten::scatter.src_out", target, 1, index, values, out_dim_order=order)
        kernels.check("aten::scatter_add.out", target, 1, index, values)
    kernels.check("aten::select_scatter.out", target, torch.rand(2, 3, 5), 2, 1, out_dim_order=order)
    kernels.check("aten::slice_scatter.out", target, torch.rand(2, 3, 2, 5), 2, 1, 3)


@pytest.mark.parametrize("index", [4, -1, 2**33, -(2**63)])
def test_writing_out_of_range_is_refused(kernels: Kernels, index: int) -> None:
    target, indices, out = torch.zeros(4, 2), torch.tensor([[0, index]]), torch.zeros(4, 2)
    for refused in (
        kernels.refuse("aten::scatter.src_out", target, 0, indices, torch.ones(1, 2), outs=[out]),
        kernels.refuse("aten::scatter_add.out", target, 0, indices, torch.ones(1, 2), outs=[out]),
        kernels.refuse("aten::scatter.value_out", target, 0, indices, 1, outs=[out]),
    ):
        assert refused.error == "InvalidArgument"
        assert refused.log[0].endswith(f"index: expected one in [0, 4), got {index}")


def test_an_index_that_is_overwritten_while_it_is_used_stays_inside(kernels: Kernels) -> None:
    memory = torch.tensor([0, 1, 2, 3])
    with pytest.raises(KernelRefused) as caught:
        # The output overlaps the index, one element later: each written element is the next index.
        kernels.run("aten::scatter.value_out", [torch.zeros(3).long(), 0, memory[:3], 2**40, memory[1:]])
    assert caught.value.error == "InvalidArgument" and f"got {2**40}" in caught.value.log[0]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((torch.ones(3, 4), 2, torch.zeros(1, 4).long(), torch.ones(1, 4)), "InvalidArgument"),
        ((torch.ones(3, 4), 0, torch.zeros(4).long(), torch.ones(1, 4)), "InvalidArgument"),
        ((torch.ones(3, 4), 0, torch.zeros(1, 5).long(), torch.ones(1, 5)), "InvalidArgument"),
        ((torch.ones(3, 4), 0, torch.zeros(2, 4).long(), torch.ones(1, 4)), "InvalidArgument"),
        ((torch.ones(3, 4), 0, torch.zeros(1, 4).long(), torch.ones(())), "InvalidArgument"),
        ((torch.ones(3, 4), 0, torch.zeros(1, 4).long(), torch.ones(1, 4).double()), "InvalidType"),
        ((torch.ones(3, 4), 0, torch.zeros(1, 4), torch.ones(1, 4)), "InvalidType"),
    ],
)
def test_scatter_arguments_that_do_not_fit_are_refused(
    kernels: Kernels, arguments: tuple[Any, ...], error: str
) -> None:
    for name in ("aten::scatter.src_out", "aten::scatter_add.out"):
        assert kernels.refuse(name, *arguments, outs=[torch.ones(3, 4)]).error == error
        assert kernels.refuse(name, *arguments, outs=[torch.ones(3, 4).half()]).error != "Ok"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (300, torch.int8),
        (255.9, torch.uint8),
        (-128.5, torch.int8),
        (-300, torch.uint8),
        (1e39, torch.float32),
        (7e4, torch.float16),
    ],
)
def test_numbers_that_the_dtype_cannot_hold_are_refused(
    kernels: Kernels, value: float, dtype: torch.dtype
) -> None:
    target = torch.ones(3, dtype=dtype)
    with pytest.raises(RuntimeError, match="overflow"):
        torch.scatter(target, 0, i64([1]), value)
    for refused in (
        kernels.refuse("aten::scatter.value_out", target, 0, i64([1]), value, outs=[target.clone()]),
        kernels.refuse("aten::masked_fill.Scalar_out", target, target > 0, value, outs=[target.clone()]),
        kernels.refuse("aten::constant_pad_nd.out", target, [0, 0], value, outs=[target.clone()]),
    ):
        assert refused.error == "InvalidArgument" and "value" in refused.log[0]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(-128, torch.int8), (-255, torch.uint8), (255, torch.uint8), (float("inf"), torch.float16)],
)
def test_numbers_at_the_edge_of_a_dtype(kernels: Kernels, value: float, dtype: torch.dtype) -> None:
    kernels.check("aten::scatter.value_out", torch.ones(3, dtype=dtype), 0, i64([1]), value)


@pytest.mark.parametrize("dtype", ALL)
def test_parts_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((4, 3, 5), dtype)
    kernels.check("aten::select_scatter.out", values, random_tensor((4, 5), dtype, seed=1), 1, -2)
    kernels.check("aten::slice_scatter.out", values, random_tensor((2, 3, 5), dtype, seed=1), 0, 1, 4, 2)
    kernels.check("aten::select_scatter.out", values, random_tensor((4, 5), torch.float32, low=0), 1, 2)


@pytest.mark.parametrize(
    "bounds", [(None, None, 1), (1, None, 1), (-2, 100, 1), (0, 5, 2), (3, 1, 1), (1, 5, 9)]
)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_slice_scatter_of_any_slice(kernels: Kernels, dim: int, bounds: tuple[Any, ...]) -> None:
    values = random_tensor((5, 4, 6), torch.float32)
    part = values.select(dim, 0).unsqueeze(dim)
    length = len(range(*slice(*bounds).indices(values.shape[dim])))
    source = torch.cat([part] * length, dim) if length else values.narrow(dim, 0, 0).contiguous()
    kernels.check("aten::slice_scatter.out", values, source + 1, dim, *bounds)


def test_parts_that_do_not_fit_are_refused(kernels: Kernels) -> None:
    values, out = torch.ones(3, 4), torch.ones(3, 4)
    name = "aten::select_scatter.out"
    for arguments in ((torch.ones(1), 0, 1), (torch.ones(4), 0, 3), (torch.ones(4), 2, 0), (values, 0, 0)):
        assert kernels.refuse(name, values, *arguments, outs=[out]).error == "InvalidArgument"
    number = torch.tensor(1.0)
    assert kernels.refuse(name, number, number, 0, 0, outs=[number.clone()]).error == "InvalidArgument"
    assert kernels.refuse(name, values, torch.ones(4), 0, 1, outs=[out.double()]).error == "InvalidType"
    name = "aten::slice_scatter.out"
    for arguments in ((torch.ones(1, 4), 0, 1, 3), (torch.ones(2, 4), 0, 1, 3, 0), (torch.ones(2), 0, 1, 3)):
        assert kernels.refuse(name, values, *arguments, outs=[out]).error == "InvalidArgument"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_scatter_of_any_shape(kernels: Kernels, sizes: list[int], data: st.DataObject) -> None:
    dim = data.draw(st.integers(-len(sizes), len(sizes) - 1))
    index_shape = tuple(data.draw(st.integers(1, size)) for size in sizes)
    target = random_tensor(sizes, torch.float32)
    values = random_tensor(sizes, torch.float32, seed=1)
    index = distinct_indices(index_shape, dim, target.shape[dim], seed=data.draw(st.integers(0, 9)))
    order = data.draw(st.permutations(range(len(sizes))))
    kernels.check("aten::scatter.src_out", with_dim_order(target, order), dim, index, values)
    kernels.check("aten::scatter_add.out", target, dim, with_dim_order(index, order), values)
    kernels.check("aten::gather.out", target, dim, index)
