# SPDX-License-Identifier: BSD-3-Clause
"""as_strided_copy against torch."""

from __future__ import annotations

import re

import pytest
import torch

from support.harness import ALL, Kernels, random_tensor, with_dim_order

NAME = "aten::as_strided_copy.out"


@pytest.mark.parametrize("dtype", ALL)
def test_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    kernels.check(NAME, random_tensor((4, 3), dtype), [3, 2], [4, 1], 2, eager=torch.as_strided)


@pytest.mark.parametrize(
    ("size", "stride", "offset"),
    [
        ([], [], None),
        ([], [], 11),
        ([12], [1], 0),
        ([3, 4], [1, 3], None),
        ([5, 3], [1, 2], 3),
        ([2, 3, 2], [0, 1, 5], 1),
        ([2, 1, 2], [4, 99, 1], 6),
        ([0, 3], [7, 1], 12),
        ([4], [0], 11),
    ],
)
def test_windows_into_the_memory(
    kernels: Kernels, size: list[int], stride: list[int], offset: int | None
) -> None:
    values = random_tensor((3, 4), torch.float32)
    kernels.check(NAME, values, size, stride, offset, eager=torch.as_strided)


def test_strides_count_in_memory_whatever_the_dimension_order(kernels: Kernels) -> None:
    values = with_dim_order(random_tensor((2, 3, 4, 5), torch.float32), (0, 2, 3, 1))
    kernels.check(NAME, values, [2, 3, 20], [60, 1, 3], None, eager=torch.as_strided)


@pytest.mark.parametrize(
    ("size", "stride", "offset"),
    [
        ([13], [1], 0),
        ([12], [1], 1),
        ([3], [6], 0),
        ([2], [2**62], 0),
        ([], [], 12),
        ([], [], -1),
        ([3], [-1], 5),
        ([-1], [1], 0),
        ([3, 2], [1], 0),
        ([2**40], [0], 0),
    ],
)
def test_elements_outside_the_memory_are_refused(
    kernels: Kernels, size: list[int], stride: list[int], offset: int
) -> None:
    refused = kernels.refuse(NAME, torch.zeros(3, 4), size, stride, offset, outs=[torch.zeros(20)])
    assert refused.error == "InvalidArgument"


@pytest.mark.parametrize(
    ("size", "stride", "offset", "fits"),
    [([3, 3], [4, 2], 0, False), ([3, 3], [4, 1], 1, True), ([3, 1, 2], [4, 9, 3], 1, False)],
)
def test_dimensions_that_only_together_leave_the_memory_are_refused(
    kernels: Kernels, size: list[int], stride: list[int], offset: int, fits: bool
) -> None:
    values = random_tensor((3, 4), torch.float32)
    if fits:
        kernels.check(NAME, values, size, stride, offset, eager=torch.as_strided)
        return
    refused = kernels.refuse(NAME, values, size, stride, offset, outs=[torch.zeros(size)])
    assert refused.error == "InvalidArgument" and re.search(
        "leave the memory|elements below 12", refused.log[0]
    )
