# SPDX-License-Identifier: BSD-3-Clause
"""avg_pool2d against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import FLOATING, Kernels, random_tensor, with_dim_order

NAME = "aten::avg_pool2d.out"
DTYPES = [torch.int64, *FLOATING]


def check(kernels: Kernels, x: torch.Tensor, *args: Any, **kwargs: Any) -> None:
    """Compares with torch: averages of values below 5, or, with a divisor, sums of up to 25 of them."""
    units = 100 if len(args) > 5 and args[5] is not None else 4
    atol = units * torch.finfo(x.dtype).eps if x.dtype.is_floating_point else 0.0
    kernels.check(NAME, x, *args, atol=atol, **kwargs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 9, 8), dtype)
    check(kernels, x, [3, 2])
    check(kernels, x, [3, 2], [2, 1], [1, 0])
    check(kernels, x[0].clone(), [2], [2], [1], True, False)
    check(kernels, x, [3, 3], [2, 2], [1, 1], True, True, -3)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_geometry(kernels: Kernels, data: st.DataObject) -> None:
    def numbers(low: int, high: int) -> list[int]:
        return data.draw(st.lists(st.integers(low, high), min_size=1, max_size=2))

    size = (data.draw(st.integers(1, 8)), data.draw(st.integers(1, 8)))
    x = random_tensor((2, 2, *size)[data.draw(st.integers(0, 1)) :], torch.float32)
    stride = data.draw(st.one_of(st.just([]), st.lists(st.integers(1, 4), min_size=1, max_size=2)))
    divisor = data.draw(st.one_of(st.none(), st.integers(1, 5)))
    arguments = [
        numbers(1, 5),
        stride,
        numbers(0, 2),
        data.draw(st.booleans()),
        data.draw(st.booleans()),
        divisor,
    ]
    try:
        torch.ops.aten.avg_pool2d(x, *arguments)
    except RuntimeError:
        out = torch.empty((*x.shape[:-2], 1, 1))
        assert kernels.refuse(NAME, x, *arguments, outs=[out]).error == "InvalidArgument"
    else:
        check(kernels, x, *arguments)


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (2, 0, 3, 1)])
def test_layouts(kernels: Kernels, order: tuple[int, ...]) -> None:
    x = random_tensor((2, 3, 7, 6), torch.float32)
    check(kernels, with_dim_order(x, order), [3, 2], out_dim_order=[0, 1, 2, 3])
    check(kernels, with_dim_order(x, order), [3, 2], out_dim_order=order)


def test_only_the_batch_may_be_empty(kernels: Kernels) -> None:
    check(kernels, torch.empty(0, 3, 4, 4), [2, 2])
    for shape in [(2, 0, 4, 4), (2, 3, 0, 4)]:
        assert kernels.refuse(NAME, torch.empty(shape), [1, 1], outs=[torch.empty(shape)])


F = torch.empty


@pytest.mark.parametrize(
    "arguments",
    [
        [[]],
        [[0, 1]],
        [[2, 2, 2]],
        [[2, 2], [0, 1]],
        [[2, 2], [1, 1], [2, 2]],
        [[2, 2], [1, 1], [-1, 0]],
        [[5, 5]],
        [[2**62, 1], [1], [2**61, 0]],
        [[2**31 - 1, 1], [1], [2**30 - 1, 0]],
        [[2, 2], [], [0], False, True, 0],
    ],
)
def test_bad_arguments_are_refused(kernels: Kernels, arguments: list[Any]) -> None:
    assert kernels.refuse(NAME, F(1, 1, 4, 4), *arguments, outs=[F(1, 1, 2, 2)]).error == "InvalidArgument"


@pytest.mark.parametrize("x", [F(4, 4), F(1, 1, 1, 4, 4), F(1, 1, 4, 4).int(), F(1, 1, 4, 4).bool()])
def test_other_ranks_and_types_are_refused(kernels: Kernels, x: torch.Tensor) -> None:
    assert kernels.refuse(NAME, x, [2, 2], outs=[F(1, 1, 2, 2).to(x.dtype)])
