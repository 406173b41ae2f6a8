# SPDX-License-Identifier: BSD-3-Clause
"""Softmax, normalizations, reductions and pools with sizes that end within vectors, tiles of columns, blocks
of sums and threads' parts, in the dim orders that select between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from support.harness import Kernels, random_tensor, schema_of, with_dim_order

CLOSE = {"rtol": 4e-6, "atol": 4e-6}
ORDERS = [[0, 1, 2, 3], [0, 2, 3, 1], [2, 0, 1, 3], [3, 2, 1, 0]]


def image(order: Sequence[int], shape: Sequence[int] = (2, 70, 9, 13)) -> torch.Tensor:
    return with_dim_order(random_tensor(shape, torch.float32), order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dim", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["aten::_softmax.out", "aten::_log_softmax.out"])
def test_softmax_of_fibers_beside_each_other(
    kernels: Kernels, name: str, dim: int, order: Sequence[int]
) -> None:
    kernels.check(name, image(order), dim, False, out_dim_order=order, **CLOSE)
    kernels.check(name, image(order), dim, False, **CLOSE)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dims", [[3], [1], [2, 3], [0, 2], [0, 1, 3], [1, 3], []])
def test_sums_in_tiles(kernels: Kernels, dims: list[int], order: Sequence[int]) -> None:
    values = image(order)
    kernels.check("aten::mean.out", values, dims, False, **CLOSE)
    kernels.check("aten::sum.IntList_out", values, dims, True, rtol=4e-6, atol=2e-4)
    kernels.check("aten::var.correction_out", values, dims, correction=1, keepdim=False, **CLOSE)
    kernels.check("aten::amax.out", values, dims, True)
    kernels.check("aten::amin.out", values, dims, False)


@pytest.mark.parametrize("size", [2047, 2049, 200_003])
def test_a_long_sum_is_as_exact_as_a_short_one(kernels: Kernels, size: int) -> None:
    values = random_tensor((size,), torch.float32, low=0, high=1)
    for shape, dims in [((size,), [0]), ((size, 1), [0]), ((1, size), [1])]:
        out = torch.empty([1 if d in dims else n for d, n in enumerate(shape)])
        kernels.run("aten::sum.IntList_out", [values.reshape(shape), dims, True, None, out])
        torch.testing.assert_close(out.reshape(()).double(), values.double().sum(), rtol=3e-7, atol=0)


def test_columns_of_many_rows_are_summed_in_blocks(kernels: Kernels) -> None:
    values = random_tensor((9001, 3), torch.float32, low=0, high=1)
    out = torch.empty(3)
    kernels.run("aten::sum.IntList_out", [values, [0], False, None, out])
    torch.testing.assert_close(out.double(), values.double().sum(0), rtol=3e-7, atol=0)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dim", [0, 1, 2, 3])
def test_winners_side_by_side(kernels: Kernels, dim: int, order: Sequence[int]) -> None:
    values = with_dim_order(random_tensor((2, 70, 9, 13), torch.float32).round(), order)
    values[1, 3, 2, 5] = torch.nan
    first = lambda x, dim, keepdim: first_of(x.max(dim, keepdim).values, x, dim, keepdim)  # noqa: E731
    kernels.check("aten::max.dim_max", values, dim, True, eager=first)
    kernels.check("aten::argmin.out", -values, dim, False, eager=lambda x, *rest: first(-x, *rest)[1])


def first_of(best: torch.Tensor, values: torch.Tensor, dim: int, keepdim: bool) -> list[torch.Tensor]:
    """`best` and its first index; NaN counts as the best."""
    kept = best if keepdim else best.unsqueeze(dim)
    equal = torch.where(kept.isnan(), values.isnan(), values == kept)
    return [best, equal.int().argmax(dim, keepdim)]


def test_the_first_winner_of_all_in_row_major_order(kernels: Kernels) -> None:
    values = with_dim_order(torch.randn(4, 70, 5).round(), [2, 0, 1])
    for name in ("aten::argmax.out", "aten::argmin.out"):
        sign = 1 if name == "aten::argmax.out" else -1
        eager = lambda x, sign=sign: (x * sign).contiguous().flatten().argmax()  # noqa: E731
        kernels.check(name, values, eager=eager)


@pytest.mark.parametrize("size", [1, 15, 16, 33, 384])
@pytest.mark.parametrize("given", ["both", "weight", "none"])
def test_layer_norm_of_any_width(kernels: Kernels, given: str, size: int) -> None:
    weight, bias = random_tensor((2, size), torch.float32, seed=1)
    arguments = [weight if given != "none" else None, bias if given == "both" else None]
    values = random_tensor((3, 5, size), torch.float32)
    kernels.check("aten::native_layer_norm.out", values, [size], *arguments, 1e-5, **CLOSE)


@pytest.mark.parametrize("order", ORDERS)
def test_normalizations_of_channels(kernels: Kernels, order: Sequence[int]) -> None:
    weight, bias, mean = random_tensor((3, 70), torch.float32, seed=1)
    values = image(order)
    group = [weight, bias, 2, 70, 9 * 13, 7, 1e-5]
    kernels.check("aten::native_group_norm.out", values.contiguous(), *group, **CLOSE)
    kernels.check(
        "aten::native_group_norm.out",
        values,
        *group,
        eager=lambda x, *rest: torch.ops.aten.native_group_norm(x.contiguous(), *rest),
        out_dim_order=None,
        **CLOSE,
    )
    outs = [with_dim_order(torch.empty(values.shape), order), torch.empty(0), torch.empty(0)]
    statistics = [weight, bias, mean, weight.abs() + 0.1]
    name = "aten::_native_batch_norm_legit_no_training.out"
    kernels.run(name, [values, *statistics, 0.1, 1e-3, *outs])
    expected = torch.ops.aten._native_batch_norm_legit_no_training(values, *statistics, 0.1, 1e-3)[0]
    torch.testing.assert_close(outs[0], expected, rtol=1e-5, atol=1e-5)


POOLS = [
    ([3, 3], [2, 2], [1, 1]),
    ([2, 2], [2, 2], [0, 0]),
    ([3, 3], [1, 1], [1, 1]),
    ([5, 3], [3, 4], [2, 0]),
    ([9, 90], [1, 1], [0, 0]),
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("window", POOLS)
def test_pools_of_rows_and_of_channels(
    kernels: Kernels, window: Sequence[list[int]], order: Sequence[int]
) -> None:
    values = image(order, (2, 35, 9, 90))
    for out_order in (order, None):
        kernels.check("aten::avg_pool2d.out", values, *window, out_dim_order=out_order, **CLOSE)
        kernels.check("aten::max_pool2d_with_indices.out", values, *window, out_dim_order=out_order)
    kernels.check("aten::_adaptive_avg_pool2d.out", values, [2, 7], **CLOSE)
    kernels.check("aten::_adaptive_avg_pool2d.out", values, [1, 1], out_dim_order=order, **CLOSE)


THREADED: list[tuple[str, list[Any], list[tuple[int, ...]]]] = [
    ("aten::_softmax.out", [3, False], [(2, 70, 30, 40)]),
    ("aten::_softmax.out", [1, False], [(2, 70, 30, 40)]),
    ("aten::mean.out", [[2, 3], False, None], [(2, 70)]),
    ("aten::sum.IntList_out", [[0, 1], False, None], [(30, 40)]),
    ("aten::var.correction_out", [[1], 1, False], [(2, 30, 40)]),
    ("aten::native_layer_norm.out", [[40], None, None, 1e-5], [(2, 70, 30, 40)] + 2 * [(2, 70, 30, 1)]),
    ("aten::native_group_norm.out", [None, None, 2, 70, 1200, 7, 1e-5], [(2, 70, 30, 40), (2, 7), (2, 7)]),
    ("aten::avg_pool2d.out", [[3, 3], [2, 2], [1, 1], False, True, None], [(2, 70, 15, 20)]),
]


@pytest.mark.parametrize(("name", "arguments", "shapes"), THREADED)
def test_results_do_not_depend_on_threads(
    kernels: Kernels, name: str, arguments: list[Any], shapes: list[tuple[int, ...]]
) -> None:
    values = image([0, 1, 2, 3], (2, 70, 30, 40))
    results = []
    for threads in (1, 3):
        outs = [torch.empty(shape) for shape in shapes]
        kernels.run(name, [values, *arguments, *outs], threads=threads)
        results.append(outs)
    assert len(schema_of(name).arguments) == 1 + len(arguments) + len(shapes)
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)
