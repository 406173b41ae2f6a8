# SPDX-License-Identifier: BSD-3-Clause
"""convolution against torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import (
    FLOATING,
    INTEGRAL,
    UNSIGNED_WIDE,
    KernelRefused,
    Kernels,
    Variant,
    assert_equal,
    poison,
    random_tensor,
    with_dim_order,
)

NAME = "aten::convolution.out"
# Relative to the largest output: products of values below 1 are added, some cancel.
ROUNDING = {torch.float32: 1e-5, torch.float64: 1e-13, torch.float16: 1e-2, torch.bfloat16: 6e-2}
CHANNELS_LAST = {3: [0, 2, 1], 4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}


def tensors(
    shape: Sequence[int],
    weight: Sequence[int],
    dtype: torch.dtype = torch.float32,
    *,
    bias: int | None = None,
) -> list[Any]:
    """Input, weight and, given its size, bias: in (-1, 1), or small integers."""
    limit = 1 if dtype.is_floating_point else 9
    made = [random_tensor(s, dtype, low=-limit, high=limit, seed=i) for i, s in enumerate([shape, weight])]
    return [*made, None if bias is None else random_tensor((bias,), dtype, low=-limit, high=limit, seed=7)]


def check(kernels: Kernels, arguments: Sequence[Any], **kwargs: Any) -> None:
    """Compares with torch on all arguments of the operator."""
    dtype = arguments[0].dtype
    kernels.check(NAME, *arguments, atol=ROUNDING.get(dtype, 0.0), rtol=ROUNDING.get(dtype, 0.0), **kwargs)


def plain(spatial: int, **changed: Any) -> list[Any]:
    """The arguments after the tensors, with some of them changed."""
    numbers = {
        "stride": [1] * spatial,
        "padding": [0] * spatial,
        "dilation": [1] * spatial,
        "transposed": False,
        "output_padding": [0] * spatial,
        "groups": 1,
    }
    return list({**numbers, **changed}.values())


@pytest.mark.parametrize("dtype", [torch.int64, *FLOATING])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_every_rank_and_dtype(kernels: Kernels, spatial: int, transposed: bool, dtype: torch.dtype) -> None:
    weight = (4, 6) if transposed else (6, 4)
    made = tensors((2, 4, *[7, 6, 5][:spatial]), (*weight, *[3, 2, 3][:spatial]), dtype, bias=6)
    check(
        kernels, [*made, *plain(spatial, transposed=transposed, padding=[1] * spatial, stride=[2] * spatial)]
    )
    check(kernels, [made[0], made[1], None, *plain(spatial, transposed=transposed)])


@pytest.mark.parametrize("dtype", INTEGRAL)
def test_integers_wrap(kernels: Kernels, dtype: torch.dtype) -> None:
    info = torch.iinfo(dtype)
    x = torch.full((1, 3, 5, 5), info.max, dtype=dtype)
    weight = torch.full((2, 3, 3, 3), info.min if dtype.is_signed else info.max, dtype=dtype)
    check(kernels, [x, weight, torch.tensor([info.max, 1], dtype=dtype), *plain(2, padding=[1, 1])])


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32])
def test_narrow_integers_where_torch_has_only_the_wide(kernels: Kernels, dtype: torch.dtype) -> None:
    x, weight, bias = tensors((1, 4, 5, 5), (4, 2, 3, 3), dtype, bias=4)
    arguments = plain(2, transposed=True, groups=2, stride=[2, 1], dilation=[1, 2])
    wide = torch.ops.aten.convolution(x.long(), weight.long(), bias.long(), *arguments).to(dtype)
    out = poison(torch.empty_like(wide))
    kernels.run(NAME, [x, weight, bias, *arguments, out])
    assert_equal(out, wide)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_groups(kernels: Kernels, groups: int, transposed: bool) -> None:
    weight = (8, 3, 3, 3) if transposed else (3 * groups, 8 // groups, 3, 3)
    made = tensors((2, 8, 9, 10), weight, bias=3 * groups)
    check(kernels, [*made, *plain(2, groups=groups, transposed=transposed, padding=[1, 2])])


def test_depthwise_with_a_multiplier(kernels: Kernels) -> None:
    made = tensors((2, 5, 8, 70), (10, 1, 3, 5), bias=10)
    check(kernels, [*made, *plain(2, groups=5, padding=[1, 2], stride=[1, 2])])


@pytest.mark.parametrize("order", ["contiguous", "channels_last", "mixed"])
@pytest.mark.parametrize("kernel", [(1, 1), (3, 3)])
@pytest.mark.parametrize("spatial", [2, 3])
def test_layouts(kernels: Kernels, spatial: int, kernel: tuple[int, int], order: str) -> None:
    rank = spatial + 2
    made = tensors((2, 5, *[6, 4, 7][:spatial]), (3, 5, *[kernel[0]] * spatial), bias=3)
    last = CHANNELS_LAST[rank]
    if order != "contiguous":
        made[0] = with_dim_order(made[0], last)
    if order == "channels_last":
        made[1] = with_dim_order(made[1], last)
    for out_order in [None, last, list(range(rank))[::-1]]:
        check(kernels, [*made, *plain(spatial, padding=[kernel[0] // 2] * spatial)], out_dim_order=out_order)
        transposed = [made[0], made[1].transpose(0, 1).contiguous(), made[2]]
        check(kernels, [*transposed, *plain(spatial, transposed=True)], out_dim_order=out_order)


@pytest.mark.parametrize("planes", [False, True])
@pytest.mark.parametrize("channels", [1, 3, 4, 5, 16])
@pytest.mark.parametrize(
    ("kernel", "numbers"),
    [
        ((3, 3), {"padding": [1, 1]}),
        ((7, 7), {"padding": [3, 3], "stride": [2, 2]}),
        ((3, 5), {"padding": [0, 4], "stride": [3, 1], "dilation": [2, 1]}),
        ((1, 1), {}),
        ((2, 3), {"padding": [5, 5]}),
    ],
)
def test_images_of_few_channels(
    kernels: Kernels, channels: int, kernel: tuple[int, int], numbers: dict[str, list[int]], planes: bool
) -> None:
    made = tensors((2, channels, 11, 19), (20, channels, *kernel), bias=20)
    if not planes:
        made[0] = with_dim_order(made[0], CHANNELS_LAST[4])
    check(kernels, [*made, *plain(2, **numbers)], out_dim_order=CHANNELS_LAST[4])


@pytest.mark.parametrize("groups", [1, 6])
@pytest.mark.parametrize(
    ("size", "kernel", "numbers"),
    [
        ((49, 10), (10, 4), {"padding": [5, 1], "stride": [2, 2]}),
        ((25, 5), (3, 3), {"padding": [1, 1]}),
        ((31, 4), (5, 2), {"padding": [2, 1], "stride": [3, 1], "dilation": [1, 2]}),
    ],
)
def test_images_of_short_rows(
    kernels: Kernels,
    size: tuple[int, int],
    kernel: tuple[int, int],
    numbers: dict[str, list[int]],
    groups: int,
) -> None:
    """Images a few pixels wide and many high: the kernel may swap rows and columns."""
    made = tensors(
        (2, 6, *size), (24 if groups == 1 else 6, 6 // groups, *kernel), bias=24 if groups == 1 else 6
    )
    made[0] = with_dim_order(made[0], CHANNELS_LAST[4])
    check(kernels, [*made, *plain(2, groups=groups, **numbers)], out_dim_order=CHANNELS_LAST[4])


def test_a_border_beyond_all_memory_is_not_made(kernels: Kernels) -> None:
    image, weight, bias = tensors((1, 3, 4, 4), (2, 3, 3, 3), bias=2)
    numbers = plain(2, padding=[2**29] * 2, stride=[2**30 - 1] * 2)
    for variant in kernels.variants("aten::convolution.out"):
        out = with_dim_order(torch.full((1, 2, 2, 2), 7.0), CHANNELS_LAST[4])
        kernels.run("aten::convolution.out", [image, weight, bias, *numbers, out], variant=variant)
        assert torch.equal(out, bias[:, None, None].expand(1, 2, 2, 2))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_any_geometry(kernels: Kernels, dtype: torch.dtype, data: st.DataObject) -> None:
    spatial = data.draw(st.integers(1, 3))

    def numbers(low: int, high: int) -> list[int]:
        return data.draw(st.lists(st.integers(low, high), min_size=spatial, max_size=spatial))

    transposed, groups = data.draw(st.booleans()), data.draw(st.integers(1, 3))
    kernel, stride, dilation, padding = numbers(1, 4), numbers(1, 3), numbers(1, 3), numbers(0, 4)
    size, extra = numbers(1, 9), numbers(0, 2)
    in_channels, out_channels = groups * data.draw(st.integers(1, 3)), groups * data.draw(st.integers(1, 3))
    first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
    made = tensors((2, in_channels, *size), (first, second // groups, *kernel), dtype, bias=out_channels)
    last = CHANNELS_LAST[spatial + 2]
    made = [with_dim_order(t, last) if data.draw(st.booleans()) else t for t in made[:2]] + made[2:]
    order = data.draw(st.sampled_from([None, last]))
    arguments = [*made, stride, padding, dilation, transposed, extra, groups]
    try:  # float32 gives empty results, too
        torch.ops.aten.convolution(*[t.double() for t in made], *arguments[3:])
    except RuntimeError:
        out = torch.empty((2, out_channels, *[1] * spatial), dtype=dtype)
        assert kernels.refuse(NAME, *arguments, outs=[out]).error == "InvalidArgument"
    else:
        # torch's oneDNN crashes for some of these on processors with AVX-512.
        with torch.backends.mkldnn.flags(enabled=False):
            check(kernels, arguments, out_dim_order=order)


@pytest.mark.parametrize("extra", [[0, 1], [1, 0], [1, 1]])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("order", [None, CHANNELS_LAST[4]])
def test_output_padding_of_one_pixel_is_the_bias(
    kernels: Kernels, order: list[int] | None, dtype: torch.dtype, extra: list[int]
) -> None:
    """A transposed kernel of one pixel does not reach the padding, so rows of input and output differ."""
    made = tensors((2, 4, 5, 7), (4, 3, 1, 1), dtype, bias=6)
    if order is not None:
        made[0] = with_dim_order(made[0], order)
    numbers = plain(2, dilation=[2, 2], transposed=True, output_padding=extra, groups=2)
    check(kernels, [*made, *numbers], out_dim_order=order)


# Channels, groups, kernel, stride, padding, image: as in models, around the sizes of tiles.
FORMS = [
    (64, 64, 1, 3, 1, 1, (9, 13)),
    (16, 33, 1, 1, 1, 0, (11, 7)),
    (3, 70, 1, 7, 2, 3, (30, 29)),
    (130, 5, 1, 3, 2, 1, (8, 9)),
    (520, 20, 1, 3, 1, 1, (4, 4)),
    (40, 48, 4, 3, 1, 1, (10, 6)),
    (37, 37, 37, 3, 1, 1, (14, 14)),
    (37, 37, 37, 3, 2, 1, (15, 40)),
    (20, 20, 20, 5, 1, 2, (7, 7)),
    (20, 20, 20, 5, 2, 2, (33, 32)),
    (6, 18, 6, 3, 1, 1, (9, 100)),
    (4, 4, 4, 9, 1, 4, (12, 20)),
    (8, 6, 1, 9, 1, 4, (12, 20)),
    (3, 5, 1, 17, 1, 8, (20, 20)),
    (2000, 9, 1, 1, 1, 0, (1, 1)),
    (64, 70, 1, 3, 1, 1, (16, 20)),
    (33, 40, 1, 3, 1, 0, (19, 50)),
    (40, 33, 1, 3, 1, 2, (13, 14)),
    (34, 34, 17, 3, 1, 1, (9, 13)),
    (40, 40, 10, 3, 2, 1, (15, 11)),
    (56, 56, 7, 5, 1, 2, (8, 21)),
    (48, 48, 3, 3, 1, 1, (10, 9)),
    (48, 72, 2, 3, 2, 1, (11, 17)),
    (33, 33, 33, 7, 1, 3, (12, 14)),
    (40, 24, 1, 5, 1, 2, (20, 23)),
    (70, 40, 1, 3, 2, 1, (40, 37)),
    (5, 70, 1, 4, 4, 0, (64, 72)),
    (24, 24, 24, 3, 1, 1, (1, 1)),
    (48, 48, 48, 3, 1, 1, (7, 300)),
    (32, 32, 8, 5, 2, 2, (31, 17)),
    (18, 18, 9, 3, 3, 1, (5, 9)),
]
BOUND = 3e-6  # relative to the largest output


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_models(
    kernels: Kernels, form: tuple[Any, ...], transposed: bool, last: bool, threads: int
) -> None:
    channels, outs, groups, kernel, stride, padding, size = form
    weight = (channels, outs // groups) if transposed else (outs, channels // groups)
    made = tensors((2, channels, *size), (*weight, kernel, kernel), bias=outs)
    if last:
        made[0] = with_dim_order(made[0], CHANNELS_LAST[4])
    arguments = plain(2, groups=groups, transposed=transposed, stride=[stride] * 2, padding=[padding] * 2)
    expected = torch.ops.aten.convolution(*[t.double() for t in made], *arguments)
    largest = expected.abs().max().item()
    for variant in kernels.variants(NAME):
        out = poison(torch.empty(expected.shape))
        if last:
            out = with_dim_order(out, CHANNELS_LAST[4])
        kernels.run(NAME, [*made, *arguments, out], variant=variant, threads=threads)
        assert_equal(out.double(), expected, rtol=0, atol=BOUND * largest)


def outside(actual: torch.Tensor, exact: torch.Tensor) -> float:
    """The part of the elements beyond the tolerances of PyTorch's tests for float32."""
    beyond = (actual.double() - exact).abs() > 1e-5 + 1.3e-6 * exact.abs()
    return beyond.double().mean().item()


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("channels", "size", "threads"), [(32, 36, 1), (64, 36, 3), (256, 14, 1)])
def test_long_sums_are_as_exact_as_in_eager(
    kernels: Kernels, channels: int, size: int, threads: int, last: bool
) -> None:
    """3 x 3 kernels of many channels, which use Winograd's transforms if prepared: several bands of tiles,
    and rows that two bands share."""
    generator = torch.Generator().manual_seed(channels)
    image = torch.rand(2, channels, size, size, generator=generator) * 2 - 1
    weight = (torch.rand(channels, channels, 3, 3, generator=generator) * 2 - 1) / (9 * channels) ** 0.5
    bias = torch.rand(channels, generator=generator)
    arguments = plain(2, padding=[1, 1])
    for magnitude, allowed in [(1, 0.0), (10, 0.0), (100, 0.03)]:
        x = image * magnitude
        exact = torch.ops.aten.convolution(x.double(), weight.double(), bias.double(), *arguments)
        made, out = [x, weight, bias], poison(torch.empty(exact.shape))
        if last:
            made[0], out = with_dim_order(x, CHANNELS_LAST[4]), with_dim_order(out, CHANNELS_LAST[4])
        kernels.run(NAME, [*made, *arguments, out], variant=Variant(prepare=True), threads=threads)
        assert outside(out, exact) <= allowed


def spoilt(image: torch.Tensor) -> torch.Tensor:
    """The image with a few infinite or NaN pixels, at borders and inside."""
    image = image.clone()
    for i, value in enumerate([torch.nan, torch.inf, -torch.inf, torch.inf]):
        image[0, 5 * i, [0, 17, 20, image.shape[2] - 1][i], [35, 0, 21, 2][i]] = value
    return image


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("last", [False, True])
def test_what_is_not_finite_stays_where_it_is_seen_among_many_channels(
    kernels: Kernels, last: bool, threads: int
) -> None:
    made = tensors((2, 40, 36, 36), (33, 40, 3, 3), bias=33)
    made[0] = spoilt(made[0])
    arguments = plain(2, padding=[1, 1])
    expected = torch.ops.aten.convolution(*[t.double() for t in made], *arguments)
    assert 0 < expected.isfinite().logical_not().sum() < 4 * 9 * 33
    out = poison(torch.empty(expected.shape))
    if last:
        made[0], out = with_dim_order(made[0], CHANNELS_LAST[4]), with_dim_order(out, CHANNELS_LAST[4])
    kernels.run(NAME, [*made, *arguments, out], variant=Variant(prepare=True), threads=threads)
    largest = expected[expected.isfinite()].abs().max().item()
    assert_equal(out.double(), expected, rtol=0, atol=BOUND * largest)


@pytest.mark.parametrize("last", [False, True])
def test_sums_that_overflow_in_a_transform_alone_do_not(kernels: Kernels, last: bool) -> None:
    """Neighbours whose sum overflows float32, with weights that scale them down."""
    image, weight, bias = tensors((1, 32, 12, 12), (32, 32, 3, 3), bias=32)
    image[0, 3, 4:6, 4:6] = 3e38
    weight[:, 3] *= 1e-20
    arguments = plain(2, padding=[1, 1])
    expected = torch.ops.aten.convolution(image.double(), weight.double(), bias.double(), *arguments).float()
    out = poison(torch.empty(expected.shape))
    if last:
        image, out = with_dim_order(image, CHANNELS_LAST[4]), with_dim_order(out, CHANNELS_LAST[4])
    kernels.run(NAME, [image, weight, bias, *arguments, out], variant=Variant(prepare=True))
    assert_equal(out, expected, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("groups", [1, 8])
def test_what_is_not_a_number_stays_where_it_is_seen(kernels: Kernels, groups: int, last: bool) -> None:
    made = tensors((1, 8, 6, 6), (8, 8 // groups, 3, 3), bias=8)
    made[0][0, 3, 2, 2] = torch.nan
    made[0][0, 5, 0, 5] = torch.inf
    if last:
        made[0] = with_dim_order(made[0], CHANNELS_LAST[4])
    order = CHANNELS_LAST[4] if last else None
    check(kernels, [*made, *plain(2, groups=groups, padding=[1, 1])], out_dim_order=order)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("groups", [1, 8])
def test_without_scratch_it_takes_longer(kernels: Kernels, groups: int, last: bool) -> None:
    made = tensors((2, 8, 9, 7), (8, 8 // groups, 3, 3), bias=8)
    if last:
        made[0] = with_dim_order(made[0], CHANNELS_LAST[4])
    arguments = [*made, *plain(2, groups=groups, padding=[1, 1])]
    expected = torch.ops.aten.convolution(*arguments)
    for temporary_bytes in [0, 1000, 4000, 10000]:
        out = poison(torch.empty_like(expected))
        kernels.run(NAME, [*arguments, out], temporary_bytes=temporary_bytes)
        assert_equal(out, expected, rtol=1e-5, atol=1e-5)


def test_outputs_of_a_phase_that_lie_apart(kernels: Kernels) -> None:
    made = tensors((2, 1, 8, 3, 5), (1, 1, 4, 2, 5))
    numbers = {"stride": [2, 2, 2], "padding": [2, 2, 2], "dilation": [1, 1, 2]}
    check(kernels, [*made, *plain(3, transposed=True, **numbers)])
    made = tensors((2, 1, 6, 2, 4), (1, 8, 3, 2, 5), bias=8)
    numbers = {"stride": [2, 2, 2], "padding": [1, 2, 0], "dilation": [2, 2, 2]}
    check(kernels, [*made, *plain(3, transposed=True, **numbers)], out_dim_order=CHANNELS_LAST[5])


def test_one_number_stands_for_all_dimensions(kernels: Kernels) -> None:
    made = tensors((1, 2, 9, 9), (3, 2, 3, 3))
    check(kernels, [*made, [2], [1], [2], False, [0], 1])


def test_rows_longer_than_a_tile(kernels: Kernels) -> None:
    made = tensors((1, 2, 500), (3, 2, 7), bias=3)
    for changed in [{}, {"stride": [3]}, {"dilation": [20], "padding": [60]}]:
        check(kernels, [*made, *plain(1, **changed)])
    transposed = tensors((1, 2, 100), (2, 3, 5), bias=3)
    check(kernels, [*transposed, *plain(1, transposed=True, stride=[3], output_padding=[2])])


def test_long_sums_are_as_good_as_those_of_torch(kernels: Kernels) -> None:
    x = random_tensor((1, 512, 5, 5), torch.float32, low=0, high=1)
    weight = random_tensor((4, 512, 3, 3), torch.float32, low=0, high=1, seed=1)
    arguments = plain(2, padding=[1, 1])
    out = poison(torch.empty(1, 4, 5, 5))
    kernels.run(NAME, [x, weight, None, *arguments, out])
    exact = torch.ops.aten.convolution(x.double(), weight.double(), None, *arguments)
    assert_equal(out.double(), exact, rtol=2e-6)


def test_no_batch_and_no_channels(kernels: Kernels) -> None:
    check(kernels, [*tensors((0, 2, 4, 4), (3, 2, 3, 3), bias=3), *plain(2)])
    bias = torch.tensor([1.0, 2.0, 3.0])
    out = poison(torch.empty(1, 3, 2, 2))
    kernels.run(NAME, [torch.empty(1, 0, 4, 4), torch.empty(3, 0, 3, 3), bias, *plain(2), out])
    assert_equal(out, bias.reshape(1, 3, 1, 1).expand(1, 3, 2, 2))


F = torch.empty
X, W, OUT = F(1, 2, 4, 4), F(3, 2, 3, 3), F(1, 3, 2, 2)


@pytest.mark.parametrize(
    ("made", "arguments"),
    [
        ([X[0].clone(), W, None], plain(2)),
        ([F(1, 2, 4), W, None], plain(2)),
        ([F(1, 2), F(3, 2), None], plain(1)),
        ([F(1, 2, 4, 4, 4, 4), F(3, 2, 1, 1, 1, 1), None], plain(4)),
        ([F(1, 3, 4, 4), W, None], plain(2)),
        ([X, W.double(), None], plain(2)),
        ([X, W, F(3).double()], plain(2)),
        ([X, W, F(2)], plain(2)),
        ([X, W, F(3, 1)], plain(2)),
        ([X, F(3, 2, 0, 3), None], plain(2)),
        ([X, F(3, 2, 5, 3), None], plain(2)),
        ([X, W, None], plain(2, stride=[0, 1])),
        ([X, W, None], plain(2, stride=[])),
        ([X, W, None], plain(2, stride=[1, 1, 1])),
        ([X, W, None], plain(2, padding=[-1, 0])),
        ([X, W, None], plain(2, padding=[2**62, 0])),
        ([X, W, None], plain(2, padding=[2**31 - 1, 0])),
        ([X, W, None], plain(2, dilation=[0, 1])),
        ([X, W, None], plain(2, dilation=[2**31 - 1, 2**31 - 1])),
        ([X, W, None], plain(2, dilation=[2**63 - 1, 1])),
        ([X, W, None], plain(2, groups=0)),
        ([X, W, None], plain(2, groups=-1)),
        ([X, W, None], plain(2, groups=2**62)),
        ([X, W, None], plain(2, groups=2)),
        ([F(1, 4, 4, 4), W, None], plain(2, groups=2)),
        ([F(1, 3, 4, 4), W, None], plain(2, transposed=True, groups=2)),
        ([F(1, 3, 4, 4), W, None], plain(2, transposed=True, output_padding=[1, 1])),
        ([F(1, 3, 4, 4), W, None], plain(2, transposed=True, output_padding=[-1, 0])),
        ([F(1, 3, 4, 4), W, None], plain(2, transposed=True, padding=[9, 9])),
        ([F(1, 3, 4, 4), W, None], plain(2, transposed=True, stride=[2**31 - 1, 2**31 - 1])),
    ],
)
def test_bad_arguments_are_refused(kernels: Kernels, made: list[Any], arguments: list[Any]) -> None:
    out = F(1, 3, *[2] * (made[0].dim() - 2)) if made[0].dim() > 2 else OUT
    assert kernels.refuse(NAME, *made, *arguments, outs=[out]).error in {"InvalidArgument", "InvalidType"}


def test_an_out_of_another_shape_or_type_is_refused(kernels: Kernels) -> None:
    for out in [F(1, 3, 2, 3), F(1, 3, 2), OUT.double()]:
        with pytest.raises(KernelRefused):
            kernels.run(NAME, [X, W, None, *plain(2), out])


@pytest.mark.parametrize("dtype", [torch.bool, *UNSIGNED_WIDE])
def test_types_that_torch_does_not_convolve_are_refused(kernels: Kernels, dtype: torch.dtype) -> None:
    made = [X.to(dtype), W.to(dtype), None]
    assert kernels.refuse(NAME, *made, *plain(2), outs=[OUT.to(dtype)]).error == "InvalidType"
