# SPDX-License-Identifier: BSD-3-Clause
"""Reading and writing at tensor indices, against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import (
    ALL,
    REAL,
    KernelRefused,
    Kernels,
    assert_equal,
    poison,
    random_tensor,
    with_dim_order,
)

REAL_BOOL = [torch.bool, *REAL]
COMPLEX = [torch.complex64, torch.complex128]
INDEX_DTYPES = [torch.int32, torch.int64]

i64 = torch.tensor
MASK = torch.tensor([True, False, True, True])
# Indices into a tensor of shape (4, 3, 5).
INDICES: dict[str, list[torch.Tensor | None]] = {
    "first": [i64([2, 0, -1])],
    "middle": [None, i64([2, 0, -1, 1])],
    "last": [None, None, i64([4, -5])],
    "number": [i64(1)],
    "number in the middle": [None, i64(-1)],
    "neighbours": [i64([0, 3]), i64([2, -3])],
    "neighbours at the end": [None, i64([0, 1]), i64([2, -3])],
    "apart": [i64([0, 3]), None, i64([2, -3])],
    "broadcast": [i64([[0], [3]]), i64([2, 1, 0])],
    "broadcast apart": [i64([[0], [3]]), None, i64([2, 1, 0])],
    "number and list": [i64(2), None, i64([2, 1, 0])],
    "all": [i64([1, 2]), i64([0, 1]), i64([2, 4])],
    "three-dimensional": [None, i64([[[0, 1], [2, 0]]])],
    "repeated": [i64([1, 1, 1, 2])],
    "nothing": [i64([], dtype=torch.int64)],
    "none behind": [i64([3]), None, None],
    "mask": [MASK],
    "mask behind": [None, None, torch.tensor([False, True, True, False, True])],
    "mask of uint8": [MASK.to(torch.uint8)],
    "mask of two dimensions": [torch.eye(4, 3, dtype=torch.bool)],
    "mask of two dimensions behind": [None, torch.eye(3, 5, dtype=torch.bool)],
    "whole mask": [random_tensor((4, 3, 5), torch.bool)],
    "mask and list": [MASK, i64([0, 1, 2])],
    "mask and list apart": [MASK, None, i64([0, 1, 2])],
    "mask and number": [MASK, i64(1)],
    "mask and column": [MASK, i64([[0], [2]])],
    "two masks": [MASK, torch.tensor([True, True, True])],
    "mask of one, and list": [torch.tensor([False, False, True, False]), i64([0, 1, 2])],
    "mask of none": [torch.zeros(4, dtype=torch.bool)],
    "column of masked rows": [None, i64([[0], [2]]), torch.tensor([False, True, True, False, True])],
}


def as_int32(indices: list[torch.Tensor | None]) -> list[torch.Tensor | None]:
    """The same indices as int32 instead of int64."""
    return [index.int() if index is not None and index.dtype == torch.int64 else index for index in indices]


@pytest.mark.parametrize("name", INDICES)
def test_index_reads_what_a_list_of_tensors_selects(kernels: Kernels, name: str) -> None:
    values = random_tensor((4, 3, 5), torch.float32)
    kernels.check("aten::index.Tensor_out", values, INDICES[name])
    kernels.check("aten::index.Tensor_out", values, as_int32(INDICES[name]))


@pytest.mark.parametrize(
    ("name", "accumulate"),
    # PyTorch does not define which of several values for one position stays.
    [(name, flag) for name in INDICES for flag in (False, True) if flag or name != "repeated"],
)
def test_index_put_writes_what_a_list_of_tensors_selects(
    kernels: Kernels, name: str, accumulate: bool
) -> None:
    target = random_tensor((4, 3, 5), torch.float32)
    shape = target[tuple(slice(None) if i is None else i for i in INDICES[name])].shape
    for indices in (INDICES[name], as_int32(INDICES[name])):
        # With a uint8 mask torch takes no single value.
        singles = [] if "uint8" in name else [torch.tensor(7.0), torch.ones(1, 1)[:, 0]]
        for values in (random_tensor(shape, torch.float32), *singles):
            kernels.check("aten::index_put.out", target, indices, values, accumulate)
            written = target.clone()
            kernels.run("aten::index_put_", [written, indices, values, accumulate])
            assert_equal(written, torch.ops.aten.index_put(target, indices, values, accumulate))


@pytest.mark.parametrize("values", [(5,), (1, 5), (3, 1), (2, 3, 5), (2, 1, 1), (1,), ()])
def test_index_put_broadcasts_its_values(kernels: Kernels, values: tuple[int, ...]) -> None:
    target = torch.zeros(4, 3, 5)
    kernels.check("aten::index_put.out", target, [i64([3, 0])], random_tensor(values, torch.float32))


@pytest.mark.parametrize("dtype", [*ALL, *COMPLEX])
def test_index_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((4, 3, 5), torch.int64, low=0).to(dtype)
    kernels.check("aten::index.Tensor_out", values, [None, i64([2, 0])])
    kernels.check("aten::index.Tensor_out", values, [i64([2, 0]), None, i64([4, -1])])


@pytest.mark.parametrize("dtype", [*REAL_BOOL, *COMPLEX])
def test_index_put_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    target = random_tensor((4, 3), torch.int64, low=0).to(dtype)
    values = random_tensor((2, 3), torch.int64, low=0, seed=1).to(dtype)
    kernels.check("aten::index_put.out", target, [i64([2, 0])], values)
    if not dtype.is_complex:
        kernels.check("aten::index_put.out", target, [i64([2, 2])], values, True)


def test_accumulated_integers_wrap(kernels: Kernels) -> None:
    values = torch.tensor([100, 100, 100], dtype=torch.int8)
    kernels.check("aten::index_put.out", values, [i64([1, 1, 1])], values, True)


@pytest.mark.parametrize("orders", [((0, 2, 3, 1), None), (None, (0, 2, 3, 1)), ((0, 2, 3, 1), (0, 2, 3, 1))])
def test_indexing_in_other_dim_orders(kernels: Kernels, orders: tuple[Any, Any]) -> None:
    values = random_tensor((2, 3, 4, 5), torch.float32)
    values = values if orders[0] is None else with_dim_order(values, orders[0])
    out_order = orders[1]
    mask = with_dim_order(random_tensor((2, 3, 4, 5), torch.bool), (0, 2, 3, 1))
    rows, picks = i64([1, 0, 1]), random_tensor((2, 2, 4, 3), torch.int64, low=0, high=3)
    kernels.check("aten::index.Tensor_out", values, [mask])
    kernels.check("aten::index.Tensor_out", values, [None, rows], out_dim_order=out_order)
    kernels.check("aten::index_select.out", values, 2, rows, out_dim_order=out_order)
    kernels.check("aten::gather.out", values, 1, picks, out_dim_order=out_order)
    kernels.check(
        "aten::gather.out", values, -1, with_dim_order(picks, (0, 2, 3, 1)), out_dim_order=out_order
    )
    kernels.check("aten::index_put.out", values, [mask], torch.tensor(9.0), out_dim_order=out_order)
    kernels.check(
        "aten::index_put.out", values, [None, i64([2, 0])], torch.ones(4, 5), out_dim_order=out_order
    )


@pytest.mark.parametrize("name", ["aten::index.Tensor_out", "aten::index_put.out"])
@pytest.mark.parametrize(
    ("indices", "error", "words"),
    [
        ([i64([0, 4])], "InvalidArgument", "[-4, 4), got 4"),
        ([i64([0, -5])], "InvalidArgument", "[-4, 4), got -5"),
        ([None, i64([2**40, 0])], "InvalidArgument", f"[-3, 3), got {2**40}"),
        ([None, i64([-(2**63), 0])], "InvalidArgument", f"got {-(2**63)}"),
        ([i64([0, 7], dtype=torch.int32)], "InvalidArgument", "got 7"),
        ([i64([0]), i64([0]), i64([0])], "InvalidArgument", "for dimension 2"),
        ([None, None, None], "InvalidArgument", "at most 2"),
        ([i64([0, 1]), i64([0, 1, 2])], "InvalidArgument", "broadcast"),
        ([torch.ones(3, dtype=torch.bool)], "InvalidArgument", "mask of size 4 for dimension 0, got 3"),
        ([torch.ones(4, 2, dtype=torch.bool)], "InvalidArgument", "mask of size 3 for dimension 1, got 2"),
        ([torch.tensor(True)], "InvalidArgument", "got one of 0"),
        ([torch.tensor([0.0])], "InvalidType", "float32"),
        ([torch.tensor([0], dtype=torch.int16)], "InvalidType", "int16"),
    ],
)
def test_indices_that_do_not_fit_are_refused(
    kernels: Kernels, name: str, indices: list[torch.Tensor | None], error: str, words: str
) -> None:
    values = torch.zeros(4, 3)
    if name == "aten::index.Tensor_out":
        shape = (4, 2) if indices[0] is None else (len(indices[0].reshape(-1)), 3)
        refused = kernels.refuse(name, values, indices, outs=[torch.zeros(shape)])
    else:
        refused = kernels.refuse(name, values, indices, torch.tensor(1.0), outs=[torch.zeros(4, 3)])
    assert refused.error == error and words in refused.log[0]


def test_index_put_refuses_values_that_do_not_fit(kernels: Kernels) -> None:
    target, out = torch.zeros(4, 3), torch.zeros(4, 3)
    for shape in ((2,), (3, 3), (1, 2, 3)):
        refused = kernels.refuse("aten::index_put.out", target, [i64([0, 1])], torch.zeros(shape), outs=[out])
        assert refused.error == "InvalidArgument" and "values" in refused.log[0]
    wide = torch.zeros(2, 3, dtype=torch.float64)
    refused = kernels.refuse("aten::index_put.out", target, [i64([0, 1])], wide, outs=[out])
    assert refused.error == "InvalidType" and "float64" in refused.log[0]


def test_a_result_of_too_many_dimensions_is_refused(kernels: Kernels) -> None:
    values, index = torch.zeros([1] * 10), torch.zeros([1] * 8, dtype=torch.int64)
    refused = kernels.refuse("aten::index.Tensor_out", values, [index], outs=[torch.zeros([1] * 16)])
    assert "at most 16 dimensions, got 17" in refused.log[0]
    refused = kernels.refuse(
        "aten::embedding.out", torch.zeros(2, 2), torch.zeros([1] * 16, dtype=torch.int64), outs=[values]
    )
    assert "fewer than 16 dimensions" in refused.log[0]


def test_a_mask_that_is_overwritten_while_it_is_used_stays_inside(kernels: Kernels) -> None:
    # Every written element is the mask's next element, and clears it.
    memory = torch.ones(9, dtype=torch.uint8)
    mask, target = memory[:8].view(torch.bool), memory[1:]
    with pytest.raises(KernelRefused) as caught:
        kernels.run("aten::index_put_", [target, [mask], torch.zeros(1, dtype=torch.uint8), False])
    assert caught.value.error == "InvalidArgument" and "a mask changed" in caught.value.log[0]


def test_an_index_that_is_overwritten_while_it_is_used_stays_inside(kernels: Kernels) -> None:
    memory = torch.tensor([0, 1, 1, 1])
    with pytest.raises(KernelRefused) as caught:
        kernels.run("aten::index_put_", [memory[1:], [memory[:3]], torch.tensor(2**40), False])
    assert caught.value.log[0].endswith(f"[-3, 3), got {2**40}")


@pytest.mark.parametrize("index_dtype", INDEX_DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -3])
def test_index_select_along_any_dimension(kernels: Kernels, dim: int, index_dtype: torch.dtype) -> None:
    values = random_tensor((4, 3, 5), torch.float32)
    for index in ([2, 0, 2, 1], [1], []):
        kernels.check("aten::index_select.out", values, dim, torch.tensor(index, dtype=index_dtype))
    kernels.check("aten::index_select.out", values, dim, torch.tensor(2, dtype=index_dtype))


@pytest.mark.parametrize("dtype", [*REAL_BOOL, *COMPLEX])
def test_index_select_and_gather_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((4, 3), torch.int64, low=0).to(dtype)
    kernels.check("aten::index_select.out", values, 1, i64([2, 0]))
    kernels.check("aten::gather.out", values, 1, i64([[2, 0, 1, 1]]))


@pytest.mark.parametrize("index_dtype", INDEX_DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_gather_along_any_dimension(kernels: Kernels, dim: int, index_dtype: torch.dtype) -> None:
    values = random_tensor((4, 3, 5), torch.float32)
    for shape in ((4, 3, 5), (2, 1, 3), (1, 3, 1), (2, 0, 3)):
        index = random_tensor(shape, torch.int64, low=0, high=3).to(index_dtype)
        kernels.check("aten::gather.out", values, dim, index)
    longer = [2, 2, 2]
    longer[dim] = 9
    kernels.check("aten::gather.out", values, dim, random_tensor(longer, torch.int64, low=0, high=3))


def test_reading_from_a_tensor_without_dimensions(kernels: Kernels) -> None:
    number = torch.tensor(3.5)
    kernels.check("aten::index_select.out", number, 0, i64([0]))
    kernels.check("aten::index_select.out", number, -1, i64(0))
    kernels.check("aten::gather.out", number, 0, i64([0, 0]))
    kernels.check("aten::gather.out", number, 0, i64(0))
    kernels.check("aten::gather.out", torch.ones(3, 4), 0, torch.zeros(0, dtype=torch.int64))


@pytest.mark.parametrize("index", [3, -1, 2**31, -(2**62)])
def test_reading_out_of_range_is_refused(kernels: Kernels, index: int) -> None:
    values, one = torch.ones(3, 2), torch.tensor([0, index])
    for refused in (
        kernels.refuse("aten::index_select.out", values, 0, one, outs=[torch.ones(2, 2)]),
        kernels.refuse("aten::gather.out", values, 0, one[None], outs=[torch.ones(1, 2)]),
        kernels.refuse("aten::embedding.out", values, one, outs=[torch.ones(2, 2)]),
    ):
        assert refused.error == "InvalidArgument"
        assert refused.log[0].endswith(f"index: expected one in [0, 3), got {index}")


def test_reading_with_arguments_that_do_not_fit_is_refused(kernels: Kernels) -> None:
    values, index, out = torch.ones(3, 2), i64([[0, 1]]), torch.ones(1, 2)
    for arguments in ((values, 2, index), (values, 0, i64([0])), (values, 0, torch.zeros(1, 3).long())):
        refused = kernels.refuse("aten::gather.out", *arguments, outs=[out])
        assert refused.error == "InvalidArgument"
    refused = kernels.refuse("aten::index_select.out", values, 0, index, outs=[out])
    assert refused.error == "InvalidArgument" and "at most 1 dimension" in refused.log[0]
    for index_dtype in (torch.float32, torch.int16, torch.bool):
        bad = index.to(index_dtype)
        for name, arguments in (
            ("aten::gather.out", (values, 0, bad)),
            ("aten::index_select.out", (values, 0, bad[0])),
            ("aten::embedding.out", (values, bad)),
        ):
            assert kernels.refuse(name, *arguments, outs=[out]).error == "InvalidType"
    wide = torch.ones(1, 2, dtype=torch.float64)
    assert kernels.refuse("aten::gather.out", values, 0, index, outs=[wide]).error == "InvalidType"
    assert kernels.refuse("aten::embedding.out", values, index[0], outs=[wide]).error == "InvalidType"
    refused = kernels.refuse("aten::embedding.out", torch.ones(3), index, outs=[out])
    assert "expected 2 dimensions, got 1" in refused.log[0]


@pytest.mark.parametrize("dtype", [*ALL, *COMPLEX])
def test_embedding_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    weight = random_tensor((7, 3), torch.int64, low=0).to(dtype)
    kernels.check("aten::embedding.out", weight, i64([6, 0, 6]))


@pytest.mark.parametrize("index_dtype", INDEX_DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (4,), (2, 3), (2, 0, 3), (1, 2, 1, 3)])
def test_embedding_takes_indices_of_any_shape(
    kernels: Kernels, shape: tuple[int, ...], index_dtype: torch.dtype
) -> None:
    indices = random_tensor(shape, torch.int64, low=0, high=7).to(index_dtype)
    kernels.check("aten::embedding.out", random_tensor((7, 5), torch.float32), indices)
    kernels.check("aten::embedding.out", torch.zeros(7, 0), indices)
    kernels.check("aten::embedding.out", with_dim_order(torch.rand(7, 5), (1, 0)), indices, 3)


@st.composite
def indexed_tensors(draw: st.DrawFn) -> tuple[torch.Tensor, list[torch.Tensor | None]]:
    """A tensor and indices into it: lists that broadcast, masks, and unindexed dimensions."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    indices: list[torch.Tensor | None] = []
    for size in sizes[: draw(st.integers(1, len(sizes)))]:
        if draw(st.booleans()):
            indices.append(None)
            continue
        kept = [1 if draw(st.booleans()) else n for n in shape[draw(st.integers(0, len(shape))) :]]
        seed = draw(st.integers(0, 99))
        indices.append(random_tensor(kept, torch.int64, low=-size, high=size, seed=seed))
    if all(index is None for index in indices):
        indices[0] = torch.ones(sizes[0], dtype=torch.bool)
    return torch.arange(float(torch.Size(sizes).numel())).reshape(sizes), indices


@settings(max_examples=300, deadline=None)
@given(indexed_tensors())
def test_any_indices_select_what_torch_selects(
    kernels: Kernels, drawn: tuple[torch.Tensor, list[torch.Tensor | None]]
) -> None:
    values, indices = drawn
    kernels.check("aten::index.Tensor_out", values, indices)
    selected = torch.ops.aten.index.Tensor(values, indices)
    kernels.check("aten::index_put.out", values, indices, torch.ones_like(selected), True)
    out = poison(torch.empty_like(values))
    kernels.run("aten::index_put.out", [values, indices, selected, False, out])
    assert_equal(out, values)
