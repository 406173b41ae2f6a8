# SPDX-License-Identifier: BSD-3-Clause
"""Operators of 16-bit floats and float64 in shapes that fill several blocks of hosts' backs, against torch in
float64, rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from support.harness import Kernels, random_tensor, with_dim_order

REDUCED = [torch.float16, torch.bfloat16]
DTYPES = [*REDUCED, torch.float64]
CLOSE = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float64: 1e-12}


def in_double(function: Callable[..., Any], dtype: torch.dtype) -> Callable[..., Any]:
    """The function in float64, with results of `dtype`."""

    def call(*arguments: Any) -> Any:
        wide = [a.double() if isinstance(a, torch.Tensor) else a for a in arguments]
        result = function(*wide)
        if isinstance(result, tuple):
            return tuple(each.to(dtype) if each.is_floating_point() else each for each in result)
        return result.to(dtype)

    return call


def check(kernels: Kernels, name: str, *arguments: Any, eager: Callable[..., Any]) -> None:
    dtype = next(a.dtype for a in arguments if isinstance(a, torch.Tensor))
    close = CLOSE[dtype]
    kernels.check(name, *arguments, eager=in_double(eager, dtype), rtol=close, atol=close)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "dim"), [((3, 9001), 1), ((1500, 37), 0), ((2, 700, 5), 1)])
def test_softmax_of_long_fibers(
    kernels: Kernels, shape: tuple[int, ...], dim: int, dtype: torch.dtype
) -> None:
    values = random_tensor(shape, dtype, low=-9, high=9)
    for name, function in (("_softmax", torch.softmax), ("_log_softmax", torch.log_softmax)):
        check(
            kernels,
            f"aten::{name}.out",
            values,
            dim,
            False,
            eager=lambda x, d, _, function=function: function(x, d),
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "dims"), [((2, 20000), [1]), ((300, 260), [0]), ((5, 70, 300), [1]), ((40, 3, 700), [0, 2])]
)
def test_reductions_of_several_pieces(
    kernels: Kernels, shape: tuple[int, ...], dims: list[int], dtype: torch.dtype
) -> None:
    values = random_tensor(shape, dtype, low=-1, high=1)
    check(kernels, "aten::mean.out", values, dims, True, eager=lambda x, d, k: x.mean(d, k))
    check(kernels, "aten::amax.out", values, dims, False, eager=lambda x, d, k: x.amax(d, k))
    check(kernels, "aten::amin.out", values, dims, False, eager=lambda x, d, k: x.amin(d, k))


@pytest.mark.parametrize("dtype", REDUCED)
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]])
def test_pools_whose_windows_exceed_a_buffer(kernels: Kernels, order: list[int], dtype: torch.dtype) -> None:
    values = with_dim_order(random_tensor((1, 3, 71, 90), dtype), order)
    mean, largest = torch.ops.aten.avg_pool2d, torch.ops.aten.max_pool2d_with_indices
    for window in ([71, 90], [70, 60], [3, 2]):
        check(kernels, "aten::avg_pool2d.out", values, window, [1], eager=mean)
        kernels.check("aten::max_pool2d_with_indices.out", values, window, [2], eager=largest)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [7, 2048, 5000])
def test_layer_norm_of_long_rows(kernels: Kernels, count: int, dtype: torch.dtype) -> None:
    values, weight, bias = (
        random_tensor(shape, dtype, low=-2, high=2, seed=i)
        for i, shape in enumerate([(3, count), (count,), (count,)])
    )
    check(
        kernels,
        "aten::native_layer_norm.out",
        values,
        [count],
        weight,
        bias,
        1e-5,
        eager=torch.ops.aten.native_layer_norm,
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "k", "n"), [(1, 700, 40), (7, 301, 20), (9, 33, 130), (64, 129, 65)])
@pytest.mark.parametrize("transposed", [False, True])
def test_products_of_any_rows(
    kernels: Kernels, m: int, k: int, n: int, transposed: bool, dtype: torch.dtype
) -> None:
    left = random_tensor((m, k), dtype, low=-1, high=1)
    right = random_tensor((k, n), dtype, low=-1, high=1, seed=1)
    right = with_dim_order(right, [1, 0]) if transposed else right
    scale = k**0.5  # keeps sums near 1
    check(kernels, "aten::mm.out", (left / scale).to(dtype), right, eager=torch.mm)
    check(kernels, "aten::mv.out", (left / scale).to(dtype), right[:, 0].clone(), eager=torch.mv)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 2, 3, 1]])
def test_pointwise_and_wide_convolutions(
    kernels: Kernels, order: list[int], groups: int, dtype: torch.dtype
) -> None:
    values = with_dim_order(random_tensor((2, 9 * groups, 13, 21), dtype, low=-1, high=1), order)
    for taps, padding in ((1, 0), (3, 1)):
        shape = (5 * groups, 9, taps, taps)
        weight = random_tensor(shape, dtype, low=-0.1, high=0.1, seed=1)
        bias = random_tensor((5 * groups,), dtype, low=-1, high=1, seed=2)
        arguments = [[1, 1], [padding] * 2, [1, 1], False, [0, 0], groups]
        check(
            kernels,
            "aten::convolution.out",
            values,
            weight,
            bias,
            *arguments,
            eager=torch.ops.aten.convolution,
        )
