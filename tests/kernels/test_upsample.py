# SPDX-License-Identifier: BSD-3-Clause
"""Nearest, bilinear and bicubic resampling of images, pixel_shuffle and pixel_unshuffle against torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import FLOATING, REAL, Kernels, random_tensor, with_dim_order

NEAREST = "aten::upsample_nearest2d.vec_out"
BILINEAR = "aten::upsample_bilinear2d.vec_out"
BICUBIC = "aten::upsample_bicubic2d.out"
SHUFFLE = "aten::pixel_shuffle.out"
UNSHUFFLE = "aten::pixel_unshuffle.out"

SIZES = [[8, 6], [4, 3], [1, 1], [7, 11], [2, 2], [40, 3], [5, 30]]
FACTORS = [[2.0, 2.0], [1.5, 3.3], [0.5, 0.7], [1.0, 1.0], [2.7, 0.34]]
IMAGES = [*FLOATING, torch.uint8]
# Coordinates are computed in float32: they are off by a few units in the last place of an index.
CLOSE = {"rtol": 1e-5, "atol": 2e-5}


def close(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances of an interpolation."""
    if dtype == torch.uint8:
        # torch weights pixels in fixed point and may round a half the other way.
        return {"rtol": 0, "atol": 1}
    return CLOSE if dtype == torch.float32 else {}


@pytest.mark.parametrize("dtype", IMAGES)
@pytest.mark.parametrize("size", SIZES)
def test_nearest_to_a_size(kernels: Kernels, size: list[int], dtype: torch.dtype) -> None:
    kernels.check(NEAREST, random_tensor((2, 3, 4, 3), dtype), size, None)


@pytest.mark.parametrize("factors", FACTORS)
def test_nearest_by_factors(kernels: Kernels, factors: list[float]) -> None:
    kernels.check(NEAREST, random_tensor((1, 2, 5, 7), torch.float32), None, factors)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (9, 37), (49, 16)])
@pytest.mark.parametrize("times", [(1, 1), (2, 2), (3, 3), (4, 2), (1, 4), (2, 1), (5, 7)])
def test_nearest_of_each_pixel_equally_often(
    kernels: Kernels, size: tuple[int, int], times: tuple[int, int]
) -> None:
    values = random_tensor((2, 3, *size), torch.float32)
    kernels.check(NEAREST, values, [size[0] * times[0], size[1] * times[1]], None)
    kernels.check(NEAREST, values, None, [float(times[0]), float(times[1])])


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("dtype", IMAGES)
@pytest.mark.parametrize("size", SIZES)
def test_bilinear_to_a_size(
    kernels: Kernels, size: list[int], dtype: torch.dtype, align_corners: bool
) -> None:
    if dtype == torch.uint8 and size == [1, 1]:
        pytest.skip("torch fails on images of one pixel")
    values = random_tensor((2, 3, 4, 3), dtype, high=255 if dtype == torch.uint8 else 5)
    kernels.check(BILINEAR, values, size, align_corners, None, **close(dtype))


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("factors", FACTORS)
def test_bilinear_by_factors(
    kernels: Kernels, factors: list[float], dtype: torch.dtype, align_corners: bool
) -> None:
    kernels.check(BILINEAR, random_tensor((1, 2, 5, 7), dtype), None, align_corners, factors, **close(dtype))


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.tuples(*[st.integers(1, 12)] * 2),
    outs=st.tuples(*[st.integers(1, 25)] * 2),
    align_corners=st.booleans(),
)
def test_any_size_from_any_other(
    kernels: Kernels, sizes: tuple[int, int], outs: tuple[int, int], align_corners: bool
) -> None:
    values = random_tensor((1, 2, *sizes), torch.float32)
    kernels.check(NEAREST, values, list(outs), None)
    kernels.check(BILINEAR, values, list(outs), align_corners, None, **CLOSE)


# Rows of more outputs, and of more inputs, than kernels compute at once.
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("dtype", IMAGES)
@pytest.mark.parametrize(
    ("size", "out"),
    [((40, 300), (33, 517)), ((5, 1400), (7, 40)), ((270, 270), (130, 130)), ((3, 2), (4, 129))],
)
def test_wide_images(
    kernels: Kernels, size: tuple[int, int], out: tuple[int, int], dtype: torch.dtype, align_corners: bool
) -> None:
    values = random_tensor((2, 2, *size), dtype, high=255 if dtype == torch.uint8 else 5)
    # torch rounds bicubic sums of 16-bit floats after each row.
    atol = {torch.float16: 8e-3, torch.bfloat16: 6e-2, torch.float32: 4e-4, torch.float64: 1e-11}
    tolerance = {"rtol": 0, "atol": atol.get(dtype, 1)}
    kernels.check(BILINEAR, values, list(out), align_corners, None, **tolerance)
    kernels.check(BICUBIC, values, list(out), align_corners, None, None, **tolerance)


@pytest.mark.parametrize("dtype", IMAGES)
@pytest.mark.parametrize("order", [[0, 2, 3, 1], [1, 0, 3, 2]])
def test_images_of_other_dim_orders(kernels: Kernels, order: list[int], dtype: torch.dtype) -> None:
    high = 255 if dtype == torch.uint8 else 5
    values = with_dim_order(random_tensor((2, 3, 4, 5), dtype, high=high), order)
    kernels.check(NEAREST, values, [7, 7], None, out_dim_order=order)
    kernels.check(BILINEAR, values, [7, 7], False, None, out_dim_order=[0, 2, 3, 1], **close(dtype))


def test_no_images_are_resampled_to_none(kernels: Kernels) -> None:
    kernels.check(NEAREST, torch.empty(0, 3, 4, 4), [2, 2], None)
    kernels.check(BILINEAR, torch.empty(0, 3, 4, 4), [2, 2], False, None)


@pytest.mark.parametrize(
    ("values", "size", "factors", "named"),
    [
        (torch.ones(3, 4, 4), [2, 2], None, "rank 4"),
        (torch.ones(1, 3, 4, 0), [2, 2], None, "dimension 3"),
        (torch.ones(1, 3, 4, 4), [2, 2], [2.0, 2.0], "either"),
        (torch.ones(1, 3, 4, 4), None, None, "either"),
        (torch.ones(1, 3, 4, 4), [2], None, "output_size"),
        (torch.ones(1, 3, 4, 4), None, [2.0, 2.0, 2.0], "scale_factors"),
        (torch.ones(1, 3, 4, 4), [0, 2], None, "output_size"),
        (torch.ones(1, 3, 4, 4), [2, -1], None, "output_size"),
        (torch.ones(1, 3, 4, 4), [2, 1 << 40], None, "output_size"),
        (torch.ones(1, 3, 4, 4), None, [0.1, 2.0], "scale_factors"),
        (torch.ones(1, 3, 4, 4), None, [float("nan"), 2.0], "scale_factors"),
        (torch.ones(1, 3, 4, 4), None, [-2.0, float("inf")], "scale_factors"),
        (torch.ones(1, 3, 4, 4), [3, 3], None, "shape"),
        (torch.ones(1, 3, 4, 4, dtype=torch.float64), [2, 2], None, "dtypes"),
    ],
)
def test_images_that_are_refused(kernels: Kernels, values: Any, size: Any, factors: Any, named: str) -> None:
    outs = [torch.empty(1, 3, 2, 2)]
    assert named in kernels.refuse(NEAREST, values, size, factors, outs=outs).log[0]
    assert named in kernels.refuse(BILINEAR, values, size, False, factors, outs=outs).log[0]


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_images_of_integers_are_resampled_as_floats_are(kernels: Kernels, dtype: torch.dtype) -> None:
    """PyTorch takes uint8 only; ExecuTorch's kernels take every integer and truncate fractions."""
    images = torch.tensor([[[[1, 4], [-7, 100]]]], dtype=dtype)

    def in_float(operator: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda first, *rest: operator(first.float(), *rest).to(dtype)

    aten = torch.ops.aten
    kernels.check(NEAREST, images, [3, 5], None, eager=in_float(aten.upsample_nearest2d))
    kernels.check(BILINEAR, images, [4, 4], True, None, eager=in_float(aten.upsample_bilinear2d))
    kernels.check(BILINEAR, images, [4, 2], False, None, eager=in_float(aten.upsample_bilinear2d))


@pytest.mark.parametrize("dtype", [*REAL, torch.bool])
@pytest.mark.parametrize("factor", [1, 2, 3])
def test_pixels_to_channels_and_back(kernels: Kernels, factor: int, dtype: torch.dtype) -> None:
    kernels.check(SHUFFLE, random_tensor((2, 2 * factor * factor, 3, 4), dtype), factor)
    kernels.check(UNSHUFFLE, random_tensor((2, 2, 3 * factor, 4 * factor), dtype), factor)


@pytest.mark.parametrize("lead", [(), (1,), (2, 3), (0,), (1, 2, 1)])
def test_pixels_of_every_rank(kernels: Kernels, lead: tuple[int, ...]) -> None:
    kernels.check(SHUFFLE, random_tensor((*lead, 8, 3, 2), torch.float32), 2)
    if 0 not in lead:  # torch leaves empty images unchanged
        kernels.check(UNSHUFFLE, random_tensor((*lead, 2, 6, 4), torch.float32), 2)


@pytest.mark.parametrize("shape", [(0, 2, 2), (4, 0, 2), (4, 2, 0)])
def test_pixels_of_empty_images(kernels: Kernels, shape: tuple[int, ...]) -> None:
    kernels.check(SHUFFLE, torch.empty(shape), 2)
    unshuffled = torch.empty(shape[0] * 4, shape[1] // 2, shape[2] // 2)
    kernels.check(UNSHUFFLE, torch.empty(shape), 2, eager=lambda *_: unshuffled)


@pytest.mark.parametrize("order", [[0, 2, 3, 1], [3, 0, 1, 2]])
def test_pixels_of_other_dim_orders(kernels: Kernels, order: list[int]) -> None:
    deep = with_dim_order(random_tensor((2, 8, 3, 4), torch.float32), order)
    wide = with_dim_order(random_tensor((2, 2, 6, 8), torch.float32), order)
    kernels.check(SHUFFLE, deep, 2, out_dim_order=[0, 2, 3, 1])
    kernels.check(UNSHUFFLE, wide, 2, out_dim_order=order)


@pytest.mark.parametrize(
    ("shape", "factor"),
    [
        ((4, 2), 2),
        ((3, 2, 2), 2),
        ((4, 2, 2), 0),
        ((4, 2, 2), -2),
        ((4, 2, 2), 1 << 33),
        ((0, 2, 2), 1 << 30),
    ],
)
def test_pixels_that_are_refused_to_shuffle(kernels: Kernels, shape: tuple[int, ...], factor: int) -> None:
    refused = kernels.refuse(SHUFFLE, torch.ones(shape), factor, outs=[torch.empty(1, 4, 4)])
    assert refused.error == "InvalidArgument"


@pytest.mark.parametrize(
    ("shape", "factor"),
    [((4, 2), 2), ((1, 3, 2), 2), ((1, 2, 3), 2), ((1, 2, 2), 0), ((1, 2, 2), -2), ((1, 0, 0), 1 << 31)],
)
def test_pixels_that_are_refused_to_unshuffle(kernels: Kernels, shape: tuple[int, ...], factor: int) -> None:
    refused = kernels.refuse(UNSHUFFLE, torch.ones(shape), factor, outs=[torch.empty(4, 1, 1)])
    assert refused.error == "InvalidArgument"


def sizes_of(dims: int) -> tuple[list[int], list[list[int]]]:
    """A shape of an input and sizes of outputs."""
    return [2, 2, 3, 4, 5][: dims + 2], [
        [5, 3, 9][:dims],
        [1, 1, 1][:dims],
        [3, 4, 5][:dims],
        [2, 8, 3][:dims],
    ]


@pytest.mark.parametrize("dtype", IMAGES)
@pytest.mark.parametrize("exact", ["upsample_nearest", "_upsample_nearest_exact"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_nearest_of_every_rank(kernels: Kernels, dims: int, exact: str, dtype: torch.dtype) -> None:
    shape, sizes = sizes_of(dims)
    name = f"aten::{exact}{dims}d.out"
    for size in sizes:
        kernels.check(name, random_tensor(shape, dtype), size)
        # A given factor is used as it is, whatever the sizes are.
        kernels.check(name, random_tensor(shape, dtype), size, *[1.3, 0.6, 2.1][:dims])


def between(dtype: torch.dtype) -> dict[str, float]:
    """Tolerances: torch rounds a 16-bit float after each dimension, or multiplies in another order."""
    return {
        torch.uint8: {"rtol": 0, "atol": 1},
        torch.float16: {"rtol": 4e-3, "atol": 4e-3},
        torch.bfloat16: {"rtol": 3e-2, "atol": 3e-2},
    }.get(dtype, {"rtol": 1e-5, "atol": 2e-5})


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(
    ("name", "dims"),
    [
        ("upsample_linear1d", 1),
        ("upsample_bilinear2d", 2),
        ("upsample_bicubic2d", 2),
        ("upsample_trilinear3d", 3),
    ],
)
def test_interpolation_of_every_rank(
    kernels: Kernels, name: str, dims: int, dtype: torch.dtype, align_corners: bool
) -> None:
    shape, sizes = sizes_of(dims)
    for size in sizes:
        for factors in ([], [1.3, 0.6, 2.1][:dims]):
            x = random_tensor(shape, dtype)
            kernels.check(f"aten::{name}.out", x, size, align_corners, *factors, **between(dtype))


def test_cubic_images_of_bytes(kernels: Kernels) -> None:
    x = random_tensor((1, 3, 7, 5), torch.uint8, high=255)
    for size in ([3, 9], [14, 10]):
        kernels.check("aten::upsample_bicubic2d.out", x, size, False, **close(torch.uint8))


def test_weights_of_bytes_are_exact_far_from_the_origin(kernels: Kernels) -> None:
    x = random_tensor((1, 3, 270, 27), torch.uint8, high=255)
    kernels.check("aten::upsample_bicubic2d.out", x, [130, 13], False, rtol=0, atol=0)


@pytest.mark.parametrize("factor", [1e-300, float("inf"), 0.0, -2.0, float("nan")])
def test_factors_of_no_use_stay_inside(kernels: Kernels, factor: float) -> None:
    x = random_tensor((1, 1, 4), torch.float32)
    kernels.run("aten::upsample_nearest1d.out", [x, [6], factor, torch.empty(1, 1, 6)])
    kernels.run("aten::_upsample_nearest_exact1d.out", [x, [6], factor, torch.empty(1, 1, 6)])
    kernels.run("aten::upsample_linear1d.out", [x, [6], False, factor, torch.empty(1, 1, 6)])


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((1, 4), [2]),
        ((1, 1, 4), [2, 2]),
        ((1, 1, 4), [0]),
        ((1, 0, 4), [2]),
        ((1, 1, 0), [2]),
        ((1, 1, 4), [2**40]),
    ],
)
def test_sizes_that_are_refused(kernels: Kernels, shape: tuple[int, ...], size: list[int]) -> None:
    x, outs = torch.ones(shape), [torch.empty(1, 1, 2)]
    for name, arguments in [
        ("aten::upsample_nearest1d.out", [size, None]),
        ("aten::_upsample_nearest_exact1d.out", [size, None]),
        ("aten::upsample_linear1d.out", [size, True, None]),
    ]:
        assert kernels.refuse(name, x, *arguments, outs=outs).error == "InvalidArgument"


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.uint8])
@pytest.mark.parametrize("kind", ["bilinear", "bicubic"])
def test_antialiased_images(kernels: Kernels, kind: str, dtype: torch.dtype, align_corners: bool) -> None:
    name = f"aten::_upsample_{kind}2d_aa.out"
    x = random_tensor((2, 3, 13, 9), dtype, high=255 if dtype == torch.uint8 else 5)
    for size in ([4, 9], [26, 5], [13, 20]):
        kernels.check(name, x, size, align_corners, **between(dtype))
    kernels.check(name, x, [4, 18], align_corners, 0.32, 2.05, **between(dtype))


def test_antialiased_images_in_other_layouts(kernels: Kernels) -> None:
    x = with_dim_order(random_tensor((2, 3, 8, 6), torch.float32), [0, 2, 3, 1])
    for kind in ("bilinear", "bicubic"):
        name = f"aten::_upsample_{kind}2d_aa.out"
        kernels.check(name, x, [3, 4], False, out_dim_order=[0, 2, 3, 1], **CLOSE)
        kernels.check(name, torch.empty(0, 3, 4, 4), [2, 2], False)
        for factor in (1e-300, float("inf"), float("nan"), -1.0):
            kernels.run(name, [x, [3, 4], False, factor, factor, torch.empty(2, 3, 3, 4)])
        assert kernels.refuse(name, x.half(), [3, 4], False, outs=[torch.empty(2, 3, 3, 4).half()])
        assert kernels.refuse(name, x, [3], False, outs=[torch.empty(2, 3, 3, 4)])


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [0, 2, 3, 1], [3, 2, 1, 0]])
@pytest.mark.parametrize(
    "sizes", [((5, 90), (11, 300)), ((3, 3000), (2, 150)), ((4, 7), (4, 7)), ((9, 1), (3, 260))]
)
def test_rows_of_many_parts_in_every_layout(
    kernels: Kernels, sizes: tuple[tuple[int, int], tuple[int, int]], order: list[int]
) -> None:
    values = with_dim_order(random_tensor((2, 19, *sizes[0]), torch.float32), order)
    for out_order in (order, [0, 1, 2, 3]):
        kernels.check(NEAREST, values, list(sizes[1]), None, out_dim_order=out_order)
        for align_corners in (False, True):
            kernels.check(
                BILINEAR,
                values,
                list(sizes[1]),
                align_corners,
                None,
                out_dim_order=out_order,
                rtol=1e-5,
                atol=5e-5,
            )
