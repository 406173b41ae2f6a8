# SPDX-License-Identifier: BSD-3-Clause
"""grid_sampler_2d, grid_sampler_3d and affine_grid_generator against torch."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch

from support.harness import FLOATING, Kernels, random_tensor, with_dim_order

IMAGE = "aten::grid_sampler_2d.out"
VOLUME = "aten::grid_sampler_3d.out"
AFFINE = "aten::affine_grid_generator.out"

CLOSE = {torch.float32: {"rtol": 1e-5, "atol": 1e-5}}


def in_float(operator: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The operator, with 16-bit floats computed in float: torch rounds coordinates and weights to 16 bits."""

    def compute(*args: Any) -> torch.Tensor:
        dtype = args[0].dtype
        if dtype not in (torch.float16, torch.bfloat16):
            return operator(*args)
        return operator(*[a.float() if isinstance(a, torch.Tensor) else a for a in args]).to(dtype)

    return compute


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("mode", "outside", "align"), itertools.product([0, 1, 2], [0, 1, 2], [False, True]))
def test_images(kernels: Kernels, mode: int, outside: int, align: bool, dtype: torch.dtype) -> None:
    # Steps of 1/8 are exact in every dtype, so that all agree on the nearest pixel.
    grid = (random_tensor((2, 5, 6, 2), torch.float64, low=-3, high=3) * 8).round() / 8
    x = random_tensor((2, 3, 4, 8), dtype)
    eager = in_float(torch.ops.aten.grid_sampler_2d)
    kernels.check(IMAGE, x, grid.to(dtype), mode, outside, align, eager=eager, **CLOSE.get(dtype, {}))


@pytest.mark.parametrize(("mode", "outside", "align"), itertools.product([0, 1], [0, 1, 2], [False, True]))
def test_volumes(kernels: Kernels, mode: int, outside: int, align: bool) -> None:
    grid = (random_tensor((2, 2, 5, 3, 3), torch.float32, low=-2, high=2) * 8).round() / 8
    x = random_tensor((2, 2, 4, 2, 8), torch.float32)
    kernels.check(VOLUME, x, grid, mode, outside, align, **CLOSE[torch.float32])


def test_positions_far_away(kernels: Kernels) -> None:
    positions = torch.tensor([0.0, 1e30, -1e30, torch.inf, -torch.inf, torch.nan])
    grid = torch.cartesian_prod(positions, positions).reshape(1, 6, 6, 2)
    x = random_tensor((1, 2, 3, 3), torch.float32)
    kernels.check(IMAGE, x, grid, 1, 0, False)
    for mode, outside in itertools.product([0, 1, 2], [0, 1, 2]):
        kernels.run(IMAGE, [x, grid, mode, outside, False, torch.empty(1, 2, 6, 6)])


def test_layouts_and_empty_tensors(kernels: Kernels) -> None:
    x = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), [0, 2, 3, 1])
    grid = with_dim_order(random_tensor((2, 3, 3, 2), torch.float32, low=-1, high=1), [0, 3, 1, 2])
    kernels.check(IMAGE, x, grid, 0, 0, False, out_dim_order=[0, 2, 3, 1], **CLOSE[torch.float32])
    for shape, positions in [
        ((0, 3, 4, 4), (0, 2, 2, 2)),
        ((2, 0, 4, 4), (2, 2, 2, 2)),
        ((2, 3, 4, 4), (2, 0, 2, 2)),
    ]:
        kernels.check(IMAGE, torch.ones(shape), torch.ones(positions), 0, 0, False)


@pytest.mark.parametrize(
    ("operator", "image", "positions"),
    [
        (IMAGE, (2, 3, 7, 9), (2, 3, 50, 2)),  # spans of 64 positions end within rows
        (IMAGE, (1, 2, 7, 9), (1, 40, 5, 2)),  # and cover several
        (VOLUME, (2, 2, 4, 5, 6), (2, 3, 9, 11, 3)),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("outside", [0, 1, 2])
def test_many_positions(
    kernels: Kernels,
    operator: str,
    image: tuple[int, ...],
    positions: tuple[int, ...],
    outside: int,
    dtype: torch.dtype,
) -> None:
    function = getattr(torch.ops.aten, operator.removeprefix("aten::").removesuffix(".out"))
    grid = (random_tensor(positions, torch.float64, low=-2, high=2) * 8).round() / 8
    x = random_tensor(image, dtype)
    tolerance = CLOSE.get(dtype, {})
    eager = in_float(function)
    kernels.check(operator, x, grid.to(dtype), 0, outside, False, eager=eager, **tolerance)


def test_infinite_elements_beside_positions_outside(kernels: Kernels) -> None:
    x = torch.full((1, 1, 4, 4), torch.inf)
    grid = torch.full((1, 10, 10, 2), 5.0)
    kernels.check(IMAGE, x, grid, 0, 0, False, eager=lambda *_: torch.zeros(1, 1, 10, 10))


@pytest.mark.parametrize(
    ("shape", "positions", "mode", "outside"),
    [
        ((1, 2, 2), (1, 1, 1, 2), 0, 0),
        ((1, 1, 2, 2), (1, 1, 2), 0, 0),
        ((1, 1, 2, 2), (1, 1, 1, 3), 0, 0),
        ((1, 1, 2, 2), (2, 1, 1, 2), 0, 0),
        ((1, 1, 0, 2), (1, 1, 1, 2), 0, 0),
        ((1, 1, 2, 2), (1, 1, 1, 2), 3, 0),
        ((1, 1, 2, 2), (1, 1, 1, 2), -1, 0),
        ((1, 1, 2, 2), (1, 1, 1, 2), 0, 3),
    ],
)
def test_samplings_that_are_refused(
    kernels: Kernels, shape: tuple[int, ...], positions: tuple[int, ...], mode: int, outside: int
) -> None:
    arguments = [torch.ones(shape), torch.ones(positions), mode, outside, False]
    assert kernels.refuse(IMAGE, *arguments, outs=[torch.empty(1, 1, 1, 1)]).error == "InvalidArgument"


def test_volumes_are_not_cubic(kernels: Kernels) -> None:
    x = torch.ones(1, 1, 2, 2, 2)
    refused = kernels.refuse(
        VOLUME, x, torch.ones(1, 1, 1, 1, 3), 2, 0, False, outs=[torch.ones(1, 1, 1, 1, 1)]
    )
    assert refused.error == "InvalidArgument"


def test_dtypes_that_are_refused(kernels: Kernels) -> None:
    x, grid = torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 1, 2)
    for arguments in [(x, grid.double()), (x.long(), grid.long())]:
        out = torch.ones(1, 1, 1, 1).to(arguments[0].dtype)
        assert kernels.refuse(IMAGE, *arguments, 0, 0, False, outs=[out]).error == "InvalidType"


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("size", [[2, 3, 4, 5], [2, 1, 1, 1], [2, 3, 4, 3, 2], [0, 1, 2, 2]])
@pytest.mark.parametrize("dtype", FLOATING)
def test_affine_grids(kernels: Kernels, size: list[int], align: bool, dtype: torch.dtype) -> None:
    spatial = len(size) - 2
    theta = random_tensor((size[0], spatial, spatial + 1), dtype)
    eager = in_float(torch.ops.aten.affine_grid_generator)
    kernels.check(AFFINE, theta, size, align, eager=eager, atol=2e-6)


@pytest.mark.parametrize(
    "size", [[1, 1, 2], [2, 1, 2, 2], [1, 1, 0, 2], [1, 1, 2, -2], [1, 1, 2**40, 2], [1, 1, 2, 2, 2]]
)
def test_affine_grids_that_are_refused(kernels: Kernels, size: list[int]) -> None:
    refused = kernels.refuse(AFFINE, torch.ones(1, 2, 3), size, False, outs=[torch.ones(1, 2, 2, 2)])
    assert refused.error == "InvalidArgument"
