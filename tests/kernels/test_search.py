# SPDX-License-Identifier: BSD-3-Clause
"""searchsorted, bucketize and isin against torch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import REAL, Kernels, random_tensor

NAN = float("nan")
NUMBERS = st.floats(-3, 3, width=16) | st.just(NAN) | st.just(float("inf"))


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_places_of_every_dtype(kernels: Kernels, dtype: torch.dtype, right: bool) -> None:
    boundaries = random_tensor((7,), dtype).sort().values
    values = random_tensor((3, 5), dtype, seed=1)
    values[0] = boundaries[:5]
    for int32 in (False, True):
        kernels.check("aten::bucketize.Tensor_out", values, boundaries, out_int32=int32, right=right)
        kernels.check("aten::searchsorted.Tensor_out", boundaries, values, out_int32=int32, right=right)
    rows = random_tensor((3, 6), dtype).sort(dim=1).values
    kernels.check("aten::searchsorted.Tensor_out", rows, values, right=right)
    for number in (1, -2, 2.5):
        kernels.check("aten::bucketize.Scalar_out", number, boundaries, right=right)
        kernels.check("aten::searchsorted.Scalar_out", boundaries, number, right=right)


@given(st.lists(NUMBERS, max_size=12), st.lists(NUMBERS, min_size=1, max_size=6), st.booleans())
@settings(max_examples=80, deadline=None)
def test_places_of_any_numbers(
    kernels: Kernels, sequence: list[float], values: list[float], right: bool
) -> None:
    boundaries = torch.tensor(sequence, dtype=torch.float64).sort().values
    kernels.check("aten::bucketize.Tensor_out", torch.tensor(values).double(), boundaries, right=right)


def test_searching_with_a_sorter(kernels: Kernels) -> None:
    sequence = torch.tensor([[5.0, 1.0, 3.0], [2.0, 9.0, 4.0]])
    sorter = sequence.argsort(dim=1)
    values = torch.tensor([[3.0, 0.0], [9.0, 4.5]])
    name = "aten::searchsorted.Tensor_out"
    kernels.check(name, sequence, values, sorter=sorter)
    kernels.check(name, sequence, values, side="right", sorter=sorter)
    out = torch.zeros(2, 2, dtype=torch.int64)
    for bad in (3, -1):
        refused = kernels.refuse(name, sequence, values, sorter=torch.full_like(sorter, bad), outs=[out])
        assert str(bad) in refused.log[0]


def test_searching_nothing_and_numbers(kernels: Kernels) -> None:
    boundaries = torch.tensor([1.0, 2.0])
    kernels.check("aten::bucketize.Tensor_out", torch.tensor(1.5), boundaries)
    kernels.check("aten::bucketize.Tensor_out", torch.zeros(0, 2), boundaries)
    kernels.check("aten::bucketize.Tensor_out", torch.zeros(3), torch.zeros(0))


def test_searching_is_refused(kernels: Kernels) -> None:
    name, out = "aten::searchsorted.Tensor_out", torch.zeros(2, dtype=torch.int64)
    values, sequence = torch.zeros(2), torch.zeros(3)
    kernels.refuse(name, sequence, values.double(), outs=[out])
    kernels.refuse(name, sequence, values, side="middle", outs=[out])
    kernels.refuse(name, sequence, values, side="left", right=True, outs=[out])
    kernels.refuse(name, sequence, values, out_int32=True, outs=[out])
    kernels.refuse(name, torch.zeros(3, 3), values, outs=[out])
    kernels.refuse(name, torch.tensor(1.0), values, outs=[out])
    kernels.refuse(name, sequence, values, sorter=torch.zeros(3), outs=[out])
    kernels.refuse(name, sequence, values, sorter=torch.zeros(2).long(), outs=[out])
    kernels.refuse("aten::bucketize.Tensor_out", values, torch.zeros(1, 3), outs=[out])


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_isin_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    elements = random_tensor((4, 6), dtype).to(torch.int64).to(dtype)
    tests = random_tensor((5,), dtype, seed=1).to(torch.int64).to(dtype)
    for invert in (False, True):
        kernels.check("aten::isin.Tensor_Tensor_out", elements, tests, invert=invert)
        kernels.check("aten::isin.Tensor_Scalar_out", elements, 2, invert=invert)
        kernels.check("aten::isin.Scalar_Tensor_out", 2, tests, invert=invert)
    kernels.check("aten::isin.Tensor_Tensor_out", elements, tests[:0])
    kernels.check("aten::isin.Tensor_Tensor_out", elements, torch.tensor([1.0, 2.5]))


def test_isin_tells_integers_apart_that_doubles_do_not(kernels: Kernels) -> None:
    large = torch.tensor([2**53, 2**53 + 1, -(2**63), 2**63 - 1])
    for test in large:
        kernels.check("aten::isin.Tensor_Tensor_out", large, test.reshape(1))
        kernels.check("aten::isin.Tensor_Scalar_out", large, int(test))


def test_nan_is_in_nothing(kernels: Kernels) -> None:
    kernels.check("aten::isin.Tensor_Tensor_out", torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0]))
    kernels.check("aten::isin.Tensor_Scalar_out", torch.tensor([0.1, 1.0]), 0.1)
    refused = kernels.refuse("aten::isin.Tensor_Scalar_out", torch.zeros(2), 1, outs=[torch.zeros(2)])
    assert "bool" in refused.log[0]
