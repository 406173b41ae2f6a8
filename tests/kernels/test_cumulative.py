# SPDX-License-Identifier: BSD-3-Clause
"""cumsum and cumprod against torch."""

from __future__ import annotations

import math

import pytest
import torch

from support.harness import ALL, FLOATING, INTEGRAL, Kernels, random_tensor, with_dim_order

NAMES = ["aten::cumsum.out", "aten::cumprod.out"]
# Torch on the CPU holds the partial sums of bfloat16 and float16 in float, as the kernels do.
RTOL = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float32: 1e-5, torch.float64: 1e-12}


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize("name", NAMES)
def test_running_numbers_along_any_dimension(
    kernels: Kernels, name: str, dim: int, dtype: torch.dtype
) -> None:
    kernels.check(name, random_tensor((4, 7, 5), dtype, low=-2, high=3), dim, rtol=RTOL.get(dtype))


@pytest.mark.parametrize("requested", [*INTEGRAL, *FLOATING])
@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", NAMES)
def test_running_numbers_in_a_requested_dtype(
    kernels: Kernels, name: str, dtype: torch.dtype, requested: torch.dtype
) -> None:
    values = random_tensor((3, 6), dtype, low=0, high=3)
    kernels.check(name, values, 1, dtype=requested, rtol=RTOL.get(requested))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int8])
@pytest.mark.parametrize("name", NAMES)
def test_the_output_decides_the_dtype_where_none_is_requested(
    kernels: Kernels, name: str, dtype: torch.dtype
) -> None:
    values = torch.tensor([100, 90, 80, 70], dtype=dtype)
    kernels.check(name, values, 0, out_dtype=dtype)


@pytest.mark.parametrize("name", NAMES)
def test_running_numbers_of_special_values(kernels: Kernels, name: str) -> None:
    values = torch.tensor([[1, math.inf, 2, -math.inf, 3], [1, math.nan, 2, 0, 1], [0.0, -0.0, 0, 1, 2]])
    for dtype in (torch.float32, torch.float64, torch.float16):
        kernels.check(name, values.to(dtype), 1)
    kernels.check(name, torch.tensor([2**62, 2**62, 2**62, 5]), 0)


def test_long_sums_lose_nothing(kernels: Kernels) -> None:
    kernels.check("aten::cumsum.out", torch.full((200_000,), 0.1), 0, rtol=1.2e-7, atol=0)
    kernels.check("aten::cumsum.out", torch.ones(3000, dtype=torch.float16), 0, rtol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_running_numbers_of_any_layout(kernels: Kernels, name: str) -> None:
    values = random_tensor((2, 3, 4, 70), torch.float32, low=0.5, high=1.5)
    for dim in range(4):
        kernels.check(name, with_dim_order(values, (0, 2, 3, 1)), dim, rtol=1e-5)
        kernels.check(name, values, dim, out_dim_order=(0, 2, 3, 1), rtol=1e-5)
    for shape, dim in (((), 0), ((), -1), ((0,), 0), ((2, 0, 3), 0), ((2, 0, 3), 1)):
        kernels.check(name, torch.ones(shape), dim)


@pytest.mark.parametrize("name", NAMES)
def test_running_arguments_that_do_not_fit_are_refused(kernels: Kernels, name: str) -> None:
    values, out = torch.ones(3), torch.ones(3)
    assert kernels.refuse(name, values, 1, outs=[out]).error == "InvalidArgument"
    assert kernels.refuse(name, values, 0, outs=[torch.ones(4)]).error == "InvalidArgument"
    assert kernels.refuse(name, values, 0, dtype=torch.float64, outs=[out]).error == "InvalidType"
    assert kernels.refuse(name, values, 0, outs=[out > 0]).error == "InvalidType"
    assert kernels.refuse(name, values, 0, outs=[out.to(torch.complex32)]).error == "InvalidType"


@pytest.mark.parametrize("dtype", [*ALL, torch.complex64, torch.complex128])
@pytest.mark.parametrize("name", NAMES)
def test_running_numbers_of_many_neighbours(kernels: Kernels, name: str, dtype: torch.dtype) -> None:
    """Builds for speed take neighbours in tiles of 64."""
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype == torch.complex64 else {"rtol": RTOL.get(dtype)}
    for shape in ((5, 131), (3, 4, 70), (2, 64)):
        values = random_tensor(shape, dtype, low=-1, high=2)
        for dim in range(len(shape)):
            kernels.check(name, values, dim, **tolerance)
    kernels.check(
        name, with_dim_order(random_tensor((70, 9, 11), dtype, low=0, high=2), (2, 1, 0)), 1, **tolerance
    )
    kernels.check(name, torch.zeros((0, 9), dtype=dtype), 0)
    kernels.check(name, torch.zeros((9, 0), dtype=dtype), 0)
