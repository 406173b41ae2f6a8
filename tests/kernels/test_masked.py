# SPDX-License-Identifier: BSD-3-Clause
"""masked_fill, masked_select, masked_scatter and nonzero against torch."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import REAL, Kernels, random_tensor, with_dim_order

REAL_BOOL = [torch.bool, *REAL]
SHAPES = [
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((3, 4), (3, 1)),
    ((3, 4), ()),
    ((2, 3, 4), (3, 1)),
    ((), ()),
    ((0, 3), (3,)),
]
WIDER = [((4,), (3, 1)), ((), (2, 3)), ((1, 4), (3, 1))]


@pytest.mark.parametrize("dtype", REAL_BOOL)
@pytest.mark.parametrize(("shape", "mask"), [*SHAPES, *WIDER])
def test_masked_operators_broadcast_in_every_dtype(
    kernels: Kernels, shape: tuple[int, ...], mask: tuple[int, ...], dtype: torch.dtype
) -> None:
    values, chosen = random_tensor(shape, dtype), random_tensor(mask, torch.bool, seed=3)
    for number in (1, 2.75, True, 0):
        kernels.check("aten::masked_fill.Scalar_out", values, chosen, number)
    kernels.check("aten::masked_fill.Tensor_out", values, chosen, torch.tensor(1.5))
    kernels.check("aten::masked_fill.Tensor_out", values, chosen, torch.tensor(1, dtype=torch.int32))
    kernels.check("aten::masked_select.out", values, chosen)
    kernels.check("aten::masked_scatter.out", values, chosen, random_tensor((5, 6), dtype, seed=1))


def test_masked_fill_of_special_values(kernels: Kernels) -> None:
    values, mask = torch.tensor([1, math.nan, math.inf]), torch.tensor([True, False, True])
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        for number in (-math.inf, math.nan):
            kernels.check("aten::masked_fill.Scalar_out", values.to(dtype), mask, number)


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (3, 2, 1, 0)])
def test_masked_operators_in_other_dim_orders(kernels: Kernels, order: tuple[int, ...]) -> None:
    values = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), order)
    mask = random_tensor((2, 3, 4, 5), torch.bool)
    for chosen in (mask, with_dim_order(mask, (0, 2, 3, 1)), mask[:, :1].contiguous()):
        kernels.check("aten::masked_fill.Scalar_out", values, chosen, 2, out_dim_order=order)
        kernels.check("aten::masked_select.out", values, chosen)
        kernels.check(
            "aten::masked_scatter.out", torch.zeros(2, 3, 4, 5), chosen, values, out_dim_order=order
        )
    kernels.check("aten::nonzero.out", with_dim_order(mask, order))
    kernels.check("aten::nonzero.out", mask, out_dim_order=(1, 0))


def test_masked_arguments_that_do_not_fit_are_refused(kernels: Kernels) -> None:
    values, mask, out = torch.ones(3, 4), torch.ones(4, dtype=torch.bool), torch.ones(3, 4)
    for wrong, error in ((mask.to(torch.uint8), "InvalidType"), (mask[:3], "InvalidArgument")):
        for refused in (
            kernels.refuse("aten::masked_fill.Scalar_out", values, wrong, 1, outs=[out]),
            kernels.refuse("aten::masked_fill.Tensor_out", values, wrong, torch.tensor(1), outs=[out]),
            kernels.refuse("aten::masked_select.out", values, wrong, outs=[torch.ones(12)]),
            kernels.refuse("aten::masked_scatter.out", values, wrong, values, outs=[out]),
        ):
            assert refused.error == error
    refused = kernels.refuse("aten::masked_fill.Tensor_out", values, mask, torch.ones(1), outs=[out])
    assert "expected rank 0, got 1" in refused.log[0]
    refused = kernels.refuse("aten::masked_scatter.out", values, mask, torch.ones(11), outs=[out])
    assert "as many elements as mask selects, got 11" in refused.log[0]
    refused = kernels.refuse("aten::masked_select.out", values, mask, outs=[torch.ones(12).double()])
    assert refused.error == "InvalidType"
    refused = kernels.refuse("aten::masked_select.out", values, mask, outs=[torch.ones(11)])
    assert refused.error == "InvalidArgument"
    refused = kernels.refuse("aten::masked_fill.Scalar_out", values, mask, 1, outs=[out.double()])
    assert refused.error == "InvalidType"


@pytest.mark.parametrize("dtype", REAL_BOOL)
def test_nonzero_of_every_dtype_and_rank(kernels: Kernels, dtype: torch.dtype) -> None:
    for shape in ((7,), (3, 4), (2, 3, 4, 2), (), (0,), (2, 0, 3)):
        values = random_tensor(shape, dtype, low=-1, high=2)
        kernels.check("aten::nonzero.out", values)
        kernels.check("aten::nonzero.out", torch.zeros_like(values))
        kernels.check("aten::nonzero.out", torch.ones_like(values))


def test_nonzero_knows_negative_zeros_and_small_numbers(kernels: Kernels) -> None:
    values = torch.tensor([0.0, -0.0, math.nan, -math.inf, 1e-40, -1e-44])
    kernels.check("aten::nonzero.out", values)
    kernels.check("aten::nonzero.out", values.double())
    kernels.check("aten::nonzero.out", torch.tensor([0.0, -0.0, 6e-8, math.nan], dtype=torch.float16))
    kernels.check("aten::nonzero.out", torch.tensor([-(2**63), 0, 2**32, -(2**31)]))


def test_nonzero_arguments_that_do_not_fit_are_refused(kernels: Kernels) -> None:
    out = torch.zeros(2, 1, dtype=torch.int64)
    assert kernels.refuse("aten::nonzero.out", torch.ones(2), outs=[out.int()]).error == "InvalidType"
    assert kernels.refuse("aten::nonzero.out", torch.ones(3), outs=[out]).error == "InvalidArgument"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.booleans()), max_size=4), st.integers(0, 99))
def test_any_pair_of_shapes_broadcasts(
    kernels: Kernels, dims: list[tuple[int, bool, bool]], seed: int
) -> None:
    values = random_tensor([n if keeps else 1 for n, keeps, _ in dims], torch.float32)
    mask = random_tensor([n if keeps else 1 for n, _, keeps in dims][seed % 3 :], torch.bool, seed=seed)
    kernels.check("aten::masked_fill.Scalar_out", values, mask, 9)
    kernels.check("aten::masked_select.out", values, mask)
