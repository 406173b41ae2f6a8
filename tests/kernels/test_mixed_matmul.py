# SPDX-License-Identifier: BSD-3-Clause
"""mixed_mm and mixed_linear against products with the dequantized weight."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import KernelRefused, Kernels, assert_equal, poison, random_tensor, with_dim_order

REAL = [torch.float32, torch.float16, torch.bfloat16]
MM = "quantized_decomposed::mixed_mm.out"
LINEAR = "quantized_decomposed::mixed_linear.out"
ROWS, DEPTH, COLUMNS = 3, 24, 5


def numbers(dtype: torch.dtype, *shape: int, with_zeros: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Scales and, if `with_zeros`, zero points."""
    scales = random_tensor(shape, dtype, low=0.01, high=0.5, seed=1)
    return scales, random_tensor(shape, dtype, low=-3, high=3, seed=2) if with_zeros else None


def check(
    kernels: Kernels, name: str, arguments: list[Any], weight: torch.Tensor, dtype: torch.dtype
) -> None:
    """Compares with the product of the first argument and a weight [DEPTH, COLUMNS] in float64."""
    expected = (arguments[0].double() @ weight).to(dtype)
    for is_dynamic in (False, True):
        out = poison(torch.empty_like(expected))
        kernels.run(name, [*arguments, out], dynamic=[out] if is_dynamic else ())
        tolerance = {"rtol": 1e-5, "atol": 2e-4} if dtype == torch.float32 else {"rtol": 8e-3, "atol": 1e-2}
        assert_equal(out, expected, **tolerance)


def real(weight: torch.Tensor, scales: torch.Tensor, zero_points: torch.Tensor | None) -> torch.Tensor:
    """The dequantized weight in float64; scales belong to its rows, or to groups within them."""
    group = -(-weight.shape[1] // scales.shape[1]) if scales.dim() == 2 else weight.shape[1]
    zeros = torch.zeros_like(scales) if zero_points is None else zero_points

    def of_elements(pairs: torch.Tensor) -> torch.Tensor:
        columns = pairs.double().reshape(weight.shape[0], -1).repeat_interleave(group, dim=1)
        return columns[:, : weight.shape[1]]

    return (weight.double() - of_elements(zeros)) * of_elements(scales)


@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("dtype", REAL)
def test_mixed_mm(kernels: Kernels, dtype: torch.dtype, with_zeros: bool) -> None:
    values = random_tensor((ROWS, DEPTH), dtype)
    weight = random_tensor((DEPTH, COLUMNS), torch.int8, low=-128, high=128)
    pair = numbers(dtype, DEPTH, with_zeros=with_zeros)
    check(kernels, MM, [values, weight, *pair], real(weight, *pair), dtype)
    transposed = [with_dim_order(values, [1, 0]), with_dim_order(weight, [1, 0]), *pair]
    check(kernels, MM, transposed, real(weight, *pair), dtype)


# With 5 groups one has 4 elements, with 7 one is empty.
@pytest.mark.parametrize("groups", [None, 1, 3, 5, 7, DEPTH])
@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("dtype", REAL)
def test_mixed_linear(kernels: Kernels, dtype: torch.dtype, with_zeros: bool, groups: int | None) -> None:
    values = random_tensor((ROWS, DEPTH), dtype)
    weight = random_tensor((COLUMNS, DEPTH), torch.int8, low=-128, high=128)
    shape = (COLUMNS,) if groups is None else (COLUMNS, groups)
    pair = numbers(dtype, *shape, with_zeros=with_zeros)
    for out_dtype in (None, *REAL):
        arguments = [values, weight, *pair, out_dtype]
        check(kernels, LINEAR, arguments, real(weight, *pair).T, out_dtype or dtype)


@pytest.mark.parametrize("name", [MM, LINEAR])
@pytest.mark.parametrize(
    ("changed", "value", "named"),
    [
        (0, torch.ones(ROWS, DEPTH, dtype=torch.float64), "input"),
        (0, torch.ones(1, ROWS, DEPTH), "rank"),
        (0, torch.ones(ROWS, DEPTH + 1), "weight"),
        (1, torch.ones(DEPTH, DEPTH, dtype=torch.uint8), "weight"),
        (2, torch.ones(DEPTH, dtype=torch.float16), "weight_scales"),
        (2, torch.ones(DEPTH - 1), "weight_scales"),
        (2, torch.ones(DEPTH, 0), "weight_scales"),
        (3, torch.zeros(2), "weight_zero_points"),
        (-1, torch.empty(ROWS, DEPTH, dtype=torch.float16), "dtype"),
        (-1, torch.empty(ROWS, 1), "shape"),
    ],
)
def test_products_that_are_refused(kernels: Kernels, name: str, changed: int, value: Any, named: str) -> None:
    arguments: list[Any] = [torch.ones(ROWS, DEPTH), torch.ones(DEPTH, DEPTH, dtype=torch.int8)]
    arguments += [torch.ones(DEPTH), None, *([None] if name == LINEAR else []), torch.empty(ROWS, DEPTH)]
    arguments[changed] = value
    with pytest.raises(KernelRefused) as caught:
        kernels.run(name, arguments)
    assert named in caught.value.log[-1]
