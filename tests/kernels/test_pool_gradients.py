# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of pools, and max_unpool, against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import FLOATING, Kernels, random_tensor, with_dim_order

AVERAGE = "aten::avg_pool2d_backward.grad_input"
ADAPTIVE_AVERAGE = "aten::_adaptive_avg_pool2d_backward.out"
MAX = {d: f"aten::max_pool{d}d_with_indices_backward.grad_input" for d in (2, 3)}
UNPOOL = {d: f"aten::max_unpool{d}d.out" for d in (2, 3)}


def close(dtype: torch.dtype) -> float:
    """Absolute tolerance of a few sums of values below 5."""
    return 16 * torch.finfo(dtype).eps if dtype.is_floating_point else 0.0


@pytest.mark.parametrize("dtype", [*FLOATING, torch.int64])
@pytest.mark.parametrize(
    "arguments",
    [
        [[2, 2], [2, 2], [0, 0], False, True, None],
        [[3, 2], [1, 2], [1, 0], False, True, None],
        [[3, 3], [2, 2], [1, 1], True, False, None],
        [[3, 3], [2, 2], [1, 1], True, True, -3],
        [[2, 3], [], [0, 1], False, True, -1],
    ],
)
def test_averages(kernels: Kernels, arguments: list[Any], dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 7, 6), dtype)
    for self in (x, x[0].clone()):
        pooled = torch.ops.aten.avg_pool2d(self, *arguments)
        kernels.check(
            AVERAGE, random_tensor(pooled.shape, dtype, high=50), self, *arguments, atol=8 * close(dtype)
        )


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("size", [(3, 2), (1, 1), (9, 7), (7, 6)])
def test_adaptive_averages(kernels: Kernels, size: tuple[int, int], dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 7, 6), dtype)
    gradient = random_tensor((2, 3, *size), dtype)
    kernels.check(ADAPTIVE_AVERAGE, gradient, x, atol=close(dtype))
    kernels.check(ADAPTIVE_AVERAGE, gradient[0].clone(), x[0].clone(), atol=close(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("dims", [2, 3])
def test_maxima(kernels: Kernels, dims: int, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 5, 6, 7)[: dims + 2], dtype)
    pool = getattr(torch.ops.aten, f"max_pool{dims}d_with_indices")
    for window, stride, padding, dilation, ceil_mode in (
        [2, 2, 0, 1, False],
        [3, 1, 1, 1, False],
        [3, 2, 1, 2, True],
    ):
        arguments = [[window] * dims, [stride] * dims, [padding] * dims, [dilation] * dims, ceil_mode]
        for self in (x, x[0].clone()):
            pooled, indices = pool(self, *arguments)
            gradient = random_tensor(pooled.shape, dtype)
            kernels.check(MAX[dims], gradient, self, *arguments, indices, atol=close(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("dims", [2, 3])
def test_unpooling(kernels: Kernels, dims: int, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 4, 6, 8)[: dims + 2], dtype)
    pool = getattr(torch.ops.aten, f"max_pool{dims}d_with_indices")
    extra = [] if dims == 2 else [[2, 2, 2], [0, 0, 0]]
    for self in (x, x[0].clone()):
        pooled, indices = pool(self, [2] * dims, [2] * dims)
        kernels.check(UNPOOL[dims], pooled, indices, [4, 6, 8][:dims], *extra)


def test_layouts(kernels: Kernels) -> None:
    order = [0, 2, 3, 1]
    x = with_dim_order(random_tensor((2, 3, 4, 6), torch.float32), order)
    pooled, indices = (
        with_dim_order(tensor, order) for tensor in torch.ops.aten.max_pool2d_with_indices(x, [2, 2])
    )
    window = [[2, 2], [2, 2], [0, 0]]
    kernels.check(AVERAGE, pooled, x, *window, False, True, None, out_dim_order=order, atol=close(x.dtype))
    kernels.check(MAX[2], pooled, x, *window, [1, 1], False, indices, out_dim_order=order)
    kernels.check(UNPOOL[2], pooled, indices, [4, 6], out_dim_order=order)


X = torch.ones(1, 1, 4, 4)
G = torch.ones(1, 1, 2, 2)
PLACES = torch.zeros(1, 1, 2, 2, dtype=torch.int64)
WINDOW = [[2, 2], [2, 2], [0, 0]]


@pytest.mark.parametrize("index", [16, -2, 2**62, -(2**63)])
def test_indices_outside_are_refused(kernels: Kernels, index: int) -> None:
    refused = kernels.refuse(MAX[2], G, X, *WINDOW, [1, 1], False, PLACES + index, outs=[X.clone()])
    assert refused.error == "InvalidArgument"
    assert kernels.refuse(UNPOOL[2], G, PLACES + index, [4, 4], outs=[X.clone()]).error == "InvalidArgument"


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        (AVERAGE, [G[:, :, :1].clone(), X, *WINDOW, False, True, None], "InvalidArgument"),
        (AVERAGE, [G, X, *WINDOW, False, True, 0], "InvalidArgument"),
        (AVERAGE, [G, X, [0, 2], [2, 2], [0, 0], False, True, None], "InvalidArgument"),
        (AVERAGE, [G.int(), X.int(), *WINDOW, False, True, None], "InvalidType"),
        (AVERAGE, [G.double(), X, *WINDOW, False, True, None], "InvalidType"),
        (ADAPTIVE_AVERAGE, [G[0, 0], X], "InvalidArgument"),
        (ADAPTIVE_AVERAGE, [torch.ones(2, 1, 2, 2), X], "InvalidArgument"),
        (MAX[2], [G, X, *WINDOW, [1, 1], False, PLACES[:, :, :1].clone()], "InvalidArgument"),
        (
            MAX[2],
            [G[:, :, :1].clone(), X, *WINDOW, [1, 1], False, PLACES[:, :, :1].clone()],
            "InvalidArgument",
        ),
        (MAX[2], [G, X, *WINDOW, [1, 1], False, PLACES.int()], "InvalidType"),
        (UNPOOL[2], [G, PLACES, [4]], "InvalidArgument"),
        (UNPOOL[2], [G, PLACES, [4, -1]], "InvalidArgument"),
        (UNPOOL[2], [G, PLACES[0].clone(), [4, 4]], "InvalidArgument"),
        (UNPOOL[2], [G, PLACES.int(), [4, 4]], "InvalidType"),
        (UNPOOL[2], [G.long(), PLACES, [4, 4]], "InvalidType"),
    ],
)
def test_calls_that_are_refused(kernels: Kernels, name: str, arguments: list[Any], error: str) -> None:
    out = X.to(arguments[0].dtype if name in UNPOOL.values() else X.dtype)
    if error == "InvalidType" and name == AVERAGE:
        out = X.to(arguments[1].dtype)
    assert kernels.refuse(name, *arguments, outs=[out.clone()]).error == error
