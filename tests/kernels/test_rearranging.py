# SPDX-License-Identifier: BSD-3-Clause
"""repeat, flip, roll and constant_pad_nd against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import ALL, REAL, Kernels, random_tensor, with_dim_order

VALUES = random_tensor((4, 3, 5), torch.float32)
CHANNELS_LAST = (0, 2, 3, 1)


@pytest.mark.parametrize("dtype", ALL)
def test_rearranging_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((4, 3), dtype)
    kernels.check("aten::repeat.out", values, [2, 1, 3], eager=torch.Tensor.repeat)
    kernels.check("aten::roll.out", values, [1], [0])
    kernels.check("aten::constant_pad_nd.out", values, [1, 2], 3)
    if dtype in (torch.bool, *REAL):
        kernels.check("aten::flip.out", values, [1])


@pytest.mark.parametrize(
    "repeats",
    [(1, 1, 1), (2, 3, 4), (7, 1, 1), (1, 1, 9), (2, 1, 3, 2), (1, 2, 1, 1, 3), (0, 1, 1), (3, 1, 0, 2)],
)
def test_repeat(kernels: Kernels, repeats: tuple[int, ...]) -> None:
    kernels.check("aten::repeat.out", VALUES, repeats, eager=torch.Tensor.repeat)


def test_repeat_of_tensors_without_dimensions_or_elements(kernels: Kernels) -> None:
    for values, repeats in (
        (torch.tensor(2.0), []),
        (torch.tensor(2.0), [1000]),
        (torch.tensor(2.0), [2, 0]),
        (torch.zeros(0), [3]),
        (torch.zeros(2, 0), [2, 3, 4]),
    ):
        kernels.check("aten::repeat.out", values, repeats, eager=torch.Tensor.repeat)


@pytest.mark.parametrize("dims", [[], [0], [1], [-1], [0, 2], [2, 0, 1]])
def test_flip(kernels: Kernels, dims: list[int]) -> None:
    kernels.check("aten::flip.out", VALUES, dims)
    kernels.check("aten::flip.out", torch.zeros(2, 0, 1), dims)


def test_flip_without_dimensions(kernels: Kernels) -> None:
    kernels.check("aten::flip.out", torch.tensor(2.0), [])
    kernels.check("aten::flip.out", torch.tensor(2.0), [0])


@pytest.mark.parametrize(
    ("shifts", "dims"),
    [
        ([1], []),
        ([-7], []),
        ([0], []),
        ([2**62], []),
        ([-(2**63)], [2]),
        ([2], [0]),
        ([-1], [1]),
        ([100, -7], [2, 0]),
        ([1, -1], [0, 0]),
        ([2**62, 2**62, 1], [2, 2, 1]),
        ([1, 2, 3], [-1, -2, -3]),
        ([4], [0]),
    ],
)
def test_roll(kernels: Kernels, shifts: list[int], dims: list[int]) -> None:
    # Torch adds several shifts of one dimension as they are and may overflow; reduced shifts mean the same.
    sizes = [VALUES.shape[d] for d in dims] or [VALUES.numel()]
    small = [shift % size for shift, size in zip(shifts, sizes, strict=True)]
    kernels.check("aten::roll.out", VALUES, shifts, dims, eager=lambda x, _, d: torch.roll(x, small, d))


def test_roll_without_dimensions_or_elements(kernels: Kernels) -> None:
    kernels.check("aten::roll.out", torch.tensor(2.0), [3])
    for shifts, dims in (([1], []), ([1], [0]), ([1, 2], [0, 1])):
        kernels.check("aten::roll.out", torch.zeros(2, 0), shifts, dims)


@pytest.mark.parametrize(
    "pad",
    [
        [],
        [0, 0],
        [1, 2],
        [1, 0, 0, 3],
        [1, 2, 3, 4, 5, 6],
        [-1, 2],
        [2, -1, -1, -1],
        [-5, 0],
        [-2, -3],
        [-1, -1, -1, -1, -1, -1],
        [0, 0, -3, 0, 2, 2],
    ],
)
def test_constant_pad_nd(kernels: Kernels, pad: list[int]) -> None:
    for value in (0, 5.5):
        kernels.check("aten::constant_pad_nd.out", VALUES, pad, value)
    kernels.check("aten::constant_pad_nd.out", VALUES.int(), pad, 2)


def test_constant_pad_nd_without_dimensions_or_elements(kernels: Kernels) -> None:
    kernels.check("aten::constant_pad_nd.out", torch.tensor(2.0), [])
    kernels.check("aten::constant_pad_nd.out", torch.zeros(2, 0), [1, 2], 3)
    kernels.check("aten::constant_pad_nd.out", torch.zeros(0), [0, 0], 3)


@pytest.mark.parametrize("out_order", [None, CHANNELS_LAST])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), CHANNELS_LAST])
def test_rearranging_in_other_dim_orders(kernels: Kernels, order: Any, out_order: Any) -> None:
    values = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), order)
    for name, arguments in (
        ("aten::flip.out", ([1, 3],)),
        ("aten::roll.out", ([7], [])),
        ("aten::roll.out", ([1, 2], [1, 2])),
        ("aten::constant_pad_nd.out", ([1, 1, -1, 2, 0, 1], 3)),
    ):
        kernels.check(name, values, *arguments, out_dim_order=out_order)
    kernels.check(
        "aten::repeat.out", values, [1, 2, 3, 2], eager=torch.Tensor.repeat, out_dim_order=out_order
    )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("aten::repeat.out", ([2, 2],)),
        ("aten::repeat.out", ([1, 1, -1],)),
        ("aten::repeat.out", ([1, 1, 2**33],)),
        ("aten::repeat.out", ([1] * 17,)),
        ("aten::repeat.out", ([1, 1, 2],)),
        ("aten::flip.out", ([0, -3],)),
        ("aten::flip.out", ([3],)),
        ("aten::roll.out", ([1, 2], [0])),
        ("aten::roll.out", ([1, 2], [])),
        ("aten::roll.out", ([], [])),
        ("aten::roll.out", ([1], [3])),
        ("aten::constant_pad_nd.out", ([1],)),
        ("aten::constant_pad_nd.out", ([1] * 8,)),
        ("aten::constant_pad_nd.out", ([-3, -3],)),
        ("aten::constant_pad_nd.out", ([-6, 6],)),
        ("aten::constant_pad_nd.out", ([6, -6],)),
        ("aten::constant_pad_nd.out", ([2**31, 0],)),
        ("aten::constant_pad_nd.out", ([-(2**63), 0],)),
        ("aten::constant_pad_nd.out", ([2**31 - 1, 2**31 - 1],)),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    kernels: Kernels, name: str, arguments: tuple[Any, ...]
) -> None:
    refused = kernels.refuse(name, VALUES, *arguments, outs=[torch.zeros(4, 3, 5)])
    assert refused.error == "InvalidArgument"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("aten::repeat.out", ([1, 1, 1],)),
        ("aten::flip.out", ([0],)),
        ("aten::roll.out", ([1],)),
        ("aten::constant_pad_nd.out", ([0, 0],)),
    ],
)
def test_another_dtype_of_the_output_is_refused(kernels: Kernels, name: str, arguments: Any) -> None:
    refused = kernels.refuse(name, VALUES, *arguments, outs=[torch.zeros(4, 3, 5).double()])
    assert refused.error == "InvalidType"


def test_roll_of_a_tensor_without_dimensions_along_one_is_refused(kernels: Kernels) -> None:
    refused = kernels.refuse("aten::roll.out", torch.tensor(1.0), [1], [0], outs=[torch.tensor(1.0)])
    assert refused.error == "InvalidArgument" and "at least one dimension" in refused.log[0]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.data())
def test_rearranging_of_any_shape(kernels: Kernels, sizes: list[int], data: st.DataObject) -> None:
    values = torch.arange(float(torch.Size(sizes).numel())).reshape(sizes)
    values = with_dim_order(values, data.draw(st.permutations(range(len(sizes)))))
    dims = data.draw(st.lists(st.integers(0, len(sizes) - 1), unique=True, min_size=1))
    shifts = data.draw(st.lists(st.integers(-9, 9), min_size=len(dims), max_size=len(dims)))
    kernels.check("aten::flip.out", values, dims)
    kernels.check("aten::roll.out", values, shifts, dims)
    kernels.check("aten::roll.out", values.contiguous(), shifts[:1])
    repeats = data.draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes) + 1))
    kernels.check("aten::repeat.out", values, repeats, eager=torch.Tensor.repeat)
    pad = [data.draw(st.integers(-(size // 2), 3)) for size in reversed(sizes) for _ in range(2)]
    kernels.check("aten::constant_pad_nd.out", values, pad, 7)
