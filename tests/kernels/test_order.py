# SPDX-License-Identifier: BSD-3-Clause
"""sort and topk against torch."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import ALL, FLOATING, REAL, Kernels, assert_equal, poison, random_tensor, with_dim_order

NAN, INF = math.nan, math.inf
SPECIAL = torch.tensor([3, NAN, -INF, 3, INF, -0.0, 0.0, NAN, -2, INF, 0.0])


def check_sort(kernels: Kernels, values: torch.Tensor, dim: int = -1) -> None:
    """Both sort overloads in both directions against torch's stable sort."""

    def stable(x: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
        return tuple(torch.sort(x, dim=dim, descending=descending, stable=True))

    for descending in (False, True):
        kernels.check("aten::sort.values", values, dim, descending, eager=stable)
        kernels.check("aten::sort.values_stable", values, stable=True, dim=dim, descending=descending)


def check_topk(kernels: Kernels, values: torch.Tensor, k: int, dim: int, largest: bool) -> None:
    """Compares the values with torch's topk, and the indices with the first k of a stable sort."""

    def first(x: torch.Tensor, k: int, dim: int, largest: bool) -> tuple[torch.Tensor, torch.Tensor]:
        ranked, positions = torch.sort(x, dim=dim, descending=largest, stable=True)
        if x.dim() > 0:
            ranked, positions = ranked.narrow(dim, 0, k), positions.narrow(dim, 0, k)
        assert_equal(ranked, torch.topk(x, k, dim, largest)[0])
        return ranked.contiguous(), positions.contiguous()

    kernels.check("aten::topk.values", values, k, dim, largest, eager=first)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_sort_along_any_dimension(kernels: Kernels, dim: int, dtype: torch.dtype) -> None:
    check_sort(kernels, random_tensor((5, 9, 4), dtype), dim)


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_topk_along_any_dimension(kernels: Kernels, dim: int, dtype: torch.dtype, largest: bool) -> None:
    values = random_tensor((5, 9, 4), dtype)
    for k in (0, 1, 3, values.shape[dim]):
        check_topk(kernels, values, k, dim, largest)


@pytest.mark.parametrize("dtype", FLOATING)
def test_nan_is_the_largest_and_equals_stay_in_order(kernels: Kernels, dtype: torch.dtype) -> None:
    values = SPECIAL.to(dtype)
    check_sort(kernels, values)
    for k in range(len(values) + 1):
        check_topk(kernels, values, k, 0, True)
        check_topk(kernels, values, k, 0, False)


@pytest.mark.parametrize("n", [2, 31, 256, 2000])
def test_long_fibers_with_many_equals(kernels: Kernels, n: int) -> None:
    values = random_tensor((n,), torch.int64, low=0, high=n // 8 + 1)
    for fiber in (values, values.sort().values, values.sort(descending=True).values, torch.zeros(n)):
        check_sort(kernels, fiber)
        check_topk(kernels, fiber, n // 3, 0, True)
        check_topk(kernels, fiber, n // 3, 0, False)


def test_order_needs_no_temporary_memory(kernels: Kernels) -> None:
    values = random_tensor((3, 100), torch.float32)
    outs = [poison(torch.empty(3, 100)), poison(torch.empty(3, 100, dtype=torch.int64))]
    kernels.run("aten::sort.values", [values, 1, False, *outs], temporary_bytes=0)
    assert_equal(outs[0], values.sort().values)
    outs = [poison(torch.empty(3, 10)), poison(torch.empty(3, 10, dtype=torch.int64))]
    kernels.run("aten::topk.values", [values, 10, 1, True, False, *outs], temporary_bytes=0)
    assert_equal(outs[0], values.topk(10).values)


def test_order_in_other_dim_orders(kernels: Kernels) -> None:
    values = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), (0, 2, 3, 1))
    for dim in range(4):
        check_sort(kernels, values, dim)
        check_topk(kernels, values, 2, dim, True)
        kernels.check(
            "aten::sort.values", random_tensor((2, 3, 4, 5), torch.float32), dim, out_dim_order=(0, 2, 3, 1)
        )


def test_order_of_tensors_without_dimensions_or_elements(kernels: Kernels) -> None:
    check_sort(kernels, torch.tensor(2.5))
    check_sort(kernels, torch.tensor(2.5), 0)
    check_topk(kernels, torch.tensor(2.5), 1, 0, True)
    for shape in ((0,), (0, 3), (3, 0)):
        check_sort(kernels, torch.zeros(shape))
        check_sort(kernels, torch.zeros(shape), 0)
        check_topk(kernels, torch.zeros(shape), 0, 0, True)


def test_order_with_arguments_that_do_not_fit_is_refused(kernels: Kernels) -> None:
    values, out, index = torch.ones(3, 4), torch.ones(3, 2), torch.ones(3, 2, dtype=torch.int64)
    for k in (5, -1, 2**40):
        refused = kernels.refuse("aten::topk.values", values, k, outs=[out, index])
        assert refused.error == "InvalidArgument" and f"expected 0 to 4, got {k}" in refused.log[0]
    assert kernels.refuse("aten::topk.values", values, 2, 2, outs=[out, index]).error == "InvalidArgument"
    assert kernels.refuse("aten::topk.values", values, 3, outs=[out, index]).error == "InvalidArgument"
    assert kernels.refuse("aten::topk.values", values > 0, 2, outs=[out > 0, index]).error == "InvalidType"
    assert kernels.refuse("aten::topk.values", values, 2, outs=[out, index.int()]).error == "InvalidType"
    assert kernels.refuse("aten::topk.values", values, 2, outs=[out.double(), index]).error == "InvalidType"
    assert (
        kernels.refuse("aten::sort.values", values, -3, outs=[values, values.long()]).error
        == "InvalidArgument"
    )
    assert kernels.refuse("aten::sort.values", values, outs=[values, values.int()]).error == "InvalidType"
    assert kernels.refuse("aten::sort.values", values, outs=[out, index]).error == "InvalidArgument"


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([-INF, -1.0, 0.0, -0.0, 2.0, INF, NAN]), min_size=1, max_size=40),
    st.data(),
    st.booleans(),
)
def test_any_fiber_is_ranked_as_torch_does(
    kernels: Kernels, values: list[float], data: st.DataObject, largest: bool
) -> None:
    check_sort(kernels, torch.tensor(values))
    check_topk(kernels, torch.tensor(values), data.draw(st.integers(0, len(values))), 0, largest)
