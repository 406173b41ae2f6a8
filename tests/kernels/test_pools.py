# SPDX-License-Identifier: BSD-3-Clause
"""Pools of one to three dimensions, adaptive and fractional ones, against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import FLOATING, REAL, Kernels, random_tensor, with_dim_order

AVERAGE = [f"aten::avg_pool{d}d.out" for d in (1, 2, 3)]
ADAPTIVE_AVERAGE = [
    "aten::adaptive_avg_pool1d.out",
    "aten::_adaptive_avg_pool2d.out",
    "aten::_adaptive_avg_pool3d.out",
]
MAX = "aten::max_pool3d_with_indices.out"
ADAPTIVE_MAX = {d: f"aten::adaptive_max_pool{d}d.out" for d in (2, 3)}
FRACTIONAL_MAX = {d: f"aten::fractional_max_pool{d}d.output" for d in (2, 3)}
INF, NAN = float("inf"), float("nan")


def close(dtype: torch.dtype) -> float:
    """Absolute tolerance of an average of values below 5."""
    return 4 * torch.finfo(dtype).eps if dtype.is_floating_point else 0.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_averages_of_volumes(kernels: Kernels, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 5, 6, 7), dtype)
    for arguments in (
        [[2, 3, 2]],
        [[2, 3, 2], [1, 2, 3], [1, 1, 0]],
        [[3], [2], [1], True, False],
        [[3], [2], [1], True, True, -3],
    ):
        kernels.check(AVERAGE[2], x, *arguments, atol=close(dtype))
        kernels.check(AVERAGE[2], x[0].clone(), *arguments, atol=close(dtype))


@pytest.mark.parametrize("dtype", [*FLOATING, torch.int64])
def test_averages_of_lines(kernels: Kernels, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 9), dtype)
    for arguments in ([[2]], [[3], [2], [1], True, False], [[3], [2], [1], True, True]):
        kernels.check(AVERAGE[0], x, *arguments, atol=close(dtype))
        kernels.check(AVERAGE[0], x[0].clone(), *arguments, atol=close(dtype))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_adaptive_averages(kernels: Kernels, dims: int, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 7, 5, 4)[: dims + 2], dtype)
    for size in ([3, 5, 2], [1, 1, 1], [9, 4, 4], [7, 5, 4]):
        kernels.check(ADAPTIVE_AVERAGE[dims - 1], x, size[:dims], atol=close(dtype))
        kernels.check(ADAPTIVE_AVERAGE[dims - 1], x[0].clone(), size[:dims], atol=close(dtype))


def test_averages_of_many_elements_lose_little(kernels: Kernels) -> None:
    x = random_tensor((1, 1, 1000, 1000), torch.float32, low=0)
    kernels.check(
        ADAPTIVE_AVERAGE[1], x, [1, 1], eager=lambda x, _: x.double().mean((2, 3), True).float(), rtol=1e-5
    )


def test_adaptive_pools_of_empty_tensors(kernels: Kernels) -> None:
    kernels.check(ADAPTIVE_AVERAGE[1], torch.empty(0, 2, 4, 4), [2, 2])
    kernels.check(ADAPTIVE_AVERAGE[1], torch.empty(2, 2, 4, 4), [0, 2])
    kernels.check(ADAPTIVE_MAX[2], torch.empty(0, 2, 4, 4), [2, 2])


@pytest.mark.parametrize("dtype", REAL)
def test_maxima_of_volumes(kernels: Kernels, dtype: torch.dtype) -> None:
    x = random_tensor((2, 2, 5, 6, 7), dtype)
    for arguments in (
        [[2, 3, 2]],
        [[2, 3, 2], [1, 2, 3], [1, 1, 0], [2, 1, 2]],
        [[3], [2], [1], [1], True],
        [[2], [1], [1], [4]],
    ):
        kernels.check(MAX, x, *arguments)
        kernels.check(MAX, x[0].clone(), *arguments)


def test_a_volume_is_not_smaller_than_the_window_that_averages(kernels: Kernels) -> None:
    """Averages refuse such a window with any padding; a window of maxima may be larger than the volume."""
    x = torch.ones(1, 1, 1, 1)
    refused = kernels.refuse(AVERAGE[2], x, [1, 2, 1], [1, 2, 1], [0, 1, 0], outs=[x.clone()])
    assert refused.error == "InvalidArgument" and "window" in refused.log[0]
    kernels.check(MAX, x, [1, 2, 1], [1, 2, 1], [0, 1, 0])


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_any_geometry_of_a_volume(kernels: Kernels, data: st.DataObject) -> None:
    def numbers(low: int, high: int) -> list[int]:
        return data.draw(st.lists(st.integers(low, high), min_size=3, max_size=3))

    x = random_tensor((1, *numbers(1, 6)), torch.float32)
    window, stride, padding = numbers(1, 4), numbers(1, 3), numbers(0, 2)
    ceil_mode = data.draw(st.booleans())
    maximum = [window, stride, padding, numbers(1, 3), ceil_mode]
    average = [window, stride, padding, ceil_mode, data.draw(st.booleans())]
    for name, operator, arguments, outs in (
        (MAX, torch.ops.aten.max_pool3d_with_indices, maximum, [x.clone(), x.long()]),
        (AVERAGE[2], torch.ops.aten.avg_pool3d, average, [x.clone()]),
    ):
        try:
            operator(x, *arguments)
        except RuntimeError:
            assert kernels.refuse(name, x, *arguments, outs=outs).error == "InvalidArgument"
        else:
            kernels.check(name, x, *arguments, atol=close(x.dtype))


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("dtype", FLOATING)
def test_adaptive_maxima(kernels: Kernels, dims: int, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 7, 5, 4)[: dims + 2], dtype)
    for size in ([3, 5, 2], [1, 1, 1], [9, 4, 4]):
        kernels.check(ADAPTIVE_MAX[dims], x, size[:dims])
        kernels.check(ADAPTIVE_MAX[dims], x[0].clone(), size[:dims])


def test_nan_is_the_largest(kernels: Kernels) -> None:
    x = torch.tensor([1.0, NAN, 3.0, NAN, 2.0, -INF, -INF, -INF, -INF]).reshape(1, 1, 3, 3)
    kernels.check(ADAPTIVE_MAX[2], x, [1, 1])
    kernels.check(ADAPTIVE_MAX[2], x, [2, 2])
    kernels.check(MAX, x, [1, 2, 2], [1, 1, 1])


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("dtype", FLOATING)
def test_fractional_maxima(kernels: Kernels, dims: int, dtype: torch.dtype) -> None:
    x = random_tensor((2, 3, 9, 8, 11)[: dims + 2], dtype)
    for seed in range(3):
        samples = random_tensor((2, 3, dims), dtype, low=0, high=1, seed=seed)
        for window, size in ([2, 3, 2], [4, 3, 5]), ([1, 1, 1], [8, 7, 10]), ([3, 3, 3], [1, 1, 1]):
            kernels.check(FRACTIONAL_MAX[dims], x, window[:dims], size[:dims], samples)
            kernels.check(FRACTIONAL_MAX[dims], x[0].clone(), window[:dims], size[:dims], samples[:1].clone())


@pytest.mark.parametrize("sample", [NAN, INF, -INF, 1e30, -7.0])
def test_samples_outside_stay_in_the_image(kernels: Kernels, sample: float) -> None:
    x, samples = random_tensor((1, 1, 6, 6), torch.float32), torch.full((1, 1, 2), sample)
    outs = [torch.empty(1, 1, 3, 3), torch.empty(1, 1, 3, 3, dtype=torch.int64)]
    kernels.run(FRACTIONAL_MAX[2], [x, [2, 2], [3, 3], samples, *outs])
    assert (outs[1] >= 0).all() and (outs[1] < 36).all()


def test_windows_of_samples_below_zero(kernels: Kernels) -> None:
    x, samples = random_tensor((1, 1, 16, 16), torch.float32), torch.tensor([[[-0.71, -1.5]]])
    kernels.check(FRACTIONAL_MAX[2], x, [1, 1], [8, 8], samples)


def test_layouts(kernels: Kernels) -> None:
    order = [0, 2, 3, 1]
    x = with_dim_order(random_tensor((2, 3, 5, 6), torch.float32), order)
    kernels.check(ADAPTIVE_AVERAGE[1], x, [2, 3], out_dim_order=order, atol=close(x.dtype))
    kernels.check(ADAPTIVE_MAX[2], x, [2, 3])
    kernels.check(ADAPTIVE_MAX[2], x, [2, 3], out_dim_order=order)
    order = [0, 2, 3, 4, 1]
    x = with_dim_order(random_tensor((2, 3, 5, 6, 4), torch.float32), order)
    kernels.check(AVERAGE[2], x, [2, 2, 2], out_dim_order=order, atol=close(x.dtype))
    kernels.check(MAX, x, [2, 2, 2], out_dim_order=order)


X = torch.ones(1, 2, 4, 4, 4)
PLACES = torch.ones(1, 2, 2, 2, 2, dtype=torch.int64)
Y = torch.ones(1, 2, 2, 2, 2)


@pytest.mark.parametrize(
    ("name", "arguments", "outs"),
    [
        (AVERAGE[2], [X, [2, 2]], [Y]),
        (AVERAGE[2], [X, [2], [0]], [Y]),
        (AVERAGE[2], [X, [2], [2], [2]], [Y]),
        (AVERAGE[2], [X, [2], [2], [0], False, True, 0], [Y]),
        (AVERAGE[2], [X[0, 0], [2]], [Y]),
        (AVERAGE[0], [X, [2]], [Y]),
        (ADAPTIVE_AVERAGE[2], [X, [2, 2]], [Y]),
        (ADAPTIVE_AVERAGE[2], [X, [2, 2, -1]], [Y]),
        (ADAPTIVE_AVERAGE[2], [X, [2, 2, 2**40]], [Y]),
        (ADAPTIVE_AVERAGE[2], [X[:, :, :0].clone(), [2, 2, 2]], [Y]),
        (ADAPTIVE_MAX[3], [X, [2, 2]], [Y, PLACES]),
        (ADAPTIVE_MAX[3], [X[0, 0], [2, 2, 2]], [Y, PLACES]),
        (MAX, [X, [2], [2], [0], [0]], [Y, PLACES]),
        (MAX, [X, [2], [2], [2]], [Y, PLACES]),
        (FRACTIONAL_MAX[3], [X, [2, 2, 2], [4, 2, 2], torch.ones(1, 2, 3)], [Y, PLACES]),
        (FRACTIONAL_MAX[3], [X, [2, 2, 2], [2, 2, 2], torch.ones(1, 2, 2)], [Y, PLACES]),
        (FRACTIONAL_MAX[3], [X, [2, 2, 0], [2, 2, 2], torch.ones(1, 2, 3)], [Y, PLACES]),
        (FRACTIONAL_MAX[3], [X, [2, 2], [2, 2, 2], torch.ones(1, 2, 3)], [Y, PLACES]),
    ],
)
def test_pools_that_are_refused(kernels: Kernels, name: str, arguments: list[Any], outs: list[Any]) -> None:
    assert kernels.refuse(name, *arguments, outs=outs).error == "InvalidArgument"


@pytest.mark.parametrize(
    ("name", "arguments", "outs"),
    [
        (AVERAGE[2], [X.int(), [2]], [Y.int()]),
        (AVERAGE[2], [X, [2]], [Y.double()]),
        (ADAPTIVE_AVERAGE[2], [X.long(), [2, 2, 2]], [Y.long()]),
        (ADAPTIVE_MAX[3], [X.long(), [2, 2, 2]], [Y.long(), PLACES]),
        (ADAPTIVE_MAX[3], [X, [2, 2, 2]], [Y, PLACES.int()]),
        (MAX, [X.bool(), [2]], [Y.bool(), PLACES]),
        (FRACTIONAL_MAX[3], [X, [2, 2, 2], [2, 2, 2], torch.ones(1, 2, 3).double()], [Y, PLACES]),
    ],
)
def test_dtypes_that_are_refused(kernels: Kernels, name: str, arguments: list[Any], outs: list[Any]) -> None:
    assert kernels.refuse(name, *arguments, outs=outs).error == "InvalidType"
