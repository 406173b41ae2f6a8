# SPDX-License-Identifier: BSD-3-Clause
"""Embeddings of 8, 4 and 2 bits against dequantized tables."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import KernelRefused, Kernels, assert_equal, poison, random_tensor

REAL = [torch.float32, torch.float16, torch.bfloat16]
BITS = {"byte": 8, "4bit": 4, "2bit": 2}
RANGES = {"byte": (-128, 127), "4bit": (-8, 7), "2bit": (-2, 1)}
ROWS, COLUMNS = 9, 80


def table(kind: str, dtype: torch.dtype = torch.int8) -> tuple[torch.Tensor, torch.Tensor]:
    """A random table as it is stored, and its values."""
    low, high = RANGES[kind]
    generator = torch.Generator().manual_seed(3)
    numbers = torch.randint(low, high + 1, (ROWS, COLUMNS), generator=generator)
    if kind == "byte":
        stored = numbers.to(dtype)
        return stored, stored.int()
    parts = (numbers - low).reshape(ROWS, -1, 8 // BITS[kind])
    shifts = torch.tensor([4, 0] if kind == "4bit" else [0, 2, 4, 6])
    return (parts << shifts).sum(-1).to(torch.uint8), numbers.int()


def expected_rows(
    numbers: torch.Tensor, scales: torch.Tensor, zero_points: torch.Tensor | None, dtype: torch.dtype
) -> torch.Tensor:
    """The whole table in `dtype`, rounded once."""
    grouped = numbers.float().reshape(ROWS, scales.numel() // ROWS, -1)
    zeros = torch.zeros_like(scales) if zero_points is None else zero_points
    real = (grouped - zeros.float().reshape(ROWS, -1, 1)) * scales.float().reshape(ROWS, -1, 1)
    return real.reshape(ROWS, COLUMNS).to(dtype)


@pytest.mark.parametrize("groups", [None, 1, 2, 10])
@pytest.mark.parametrize("with_zero_points", [False, True])
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("kind", BITS)
def test_rows(
    kernels: Kernels, kind: str, dtype: torch.dtype, with_zero_points: bool, groups: int | None
) -> None:
    stored, numbers = table(kind)
    shape = (ROWS,) if groups is None else (ROWS, groups)
    scales = random_tensor(shape, dtype, low=0.01, high=1)
    zero_points = random_tensor(shape, dtype, low=-3, high=3, seed=1) if with_zero_points else None
    indices = torch.tensor([[0, 8, 3], [3, 1, 0]])
    arguments = [stored, scales, zero_points, *RANGES[kind], indices]
    for out_dtype in REAL:
        expected = expected_rows(numbers, scales, zero_points, out_dtype)[indices]
        for is_dynamic in (False, True):
            out = poison(torch.empty_like(expected))
            dynamic = [out] if is_dynamic else ()
            name = f"quantized_decomposed::embedding_{kind}"
            kernels.run(f"{name}.dtype_out", [*arguments, out_dtype, out], dynamic=dynamic)
            assert_equal(out, expected, rtol=0, atol=0)
            if out_dtype == dtype:
                kernels.run(f"{name}.out", [*arguments, poison(out)], dynamic=dynamic)
                assert_equal(out, expected, rtol=0, atol=0)


def test_unsigned_bytes_and_narrow_indices(kernels: Kernels) -> None:
    stored, numbers = table("byte", torch.uint8)
    scales = random_tensor((ROWS,), torch.float32, low=0.01, high=1)
    for indices in (
        torch.tensor([2, 5], dtype=torch.int32),
        torch.tensor(4),
        torch.empty(0, dtype=torch.int64),
    ):
        expected = expected_rows(numbers, scales, None, torch.float32)[indices.long()]
        out = poison(torch.empty_like(expected))
        kernels.run("quantized_decomposed::embedding_byte.out", [stored, scales, None, 0, 255, indices, out])
        assert_equal(out, expected)


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize(
    ("changed", "value", "named"),
    [
        (0, torch.ones(ROWS, COLUMNS, dtype=torch.int32), "weight"),
        (0, torch.ones(COLUMNS, dtype=torch.uint8), "weight"),
        (1, torch.ones(ROWS - 1), "weight_scales"),
        (1, torch.ones(ROWS, 3), "weight_scales"),
        (1, torch.ones(ROWS, 0), "weight_scales"),
        (1, torch.ones(ROWS, dtype=torch.float64), "weight_scales"),
        (2, torch.ones(ROWS, dtype=torch.float16), "weight_zero_points"),
        (2, torch.ones(ROWS, 2), "weight_zero_points"),
        (5, torch.tensor([0, ROWS]), "indices"),
        (5, torch.tensor([-1, 0]), "indices"),
        (5, torch.tensor([0.0, 1.0]), "indices"),
        (6, torch.empty(2, COLUMNS, dtype=torch.float16), "dtype"),
        (6, torch.empty(3, COLUMNS), "shape"),
    ],
)
def test_tables_that_are_refused(kernels: Kernels, kind: str, changed: int, value: Any, named: str) -> None:
    indices, out = torch.tensor([0, 1]), torch.empty(2, COLUMNS)
    arguments = [table(kind)[0], torch.ones(ROWS), None, *RANGES[kind], indices, out]
    arguments[changed] = value
    with pytest.raises(KernelRefused) as caught:
        kernels.run(f"quantized_decomposed::embedding_{kind}.out", arguments)
    assert named in caught.value.log[-1]


@pytest.mark.parametrize("kind", ["4bit", "2bit"])
def test_packed_tables_have_one_range(kernels: Kernels, kind: str) -> None:
    arguments = [table(kind)[0], torch.ones(ROWS), None, 0, 15, torch.tensor([0]), torch.empty(1, COLUMNS)]
    with pytest.raises(KernelRefused, match="weight_quant_min"):
        kernels.run(f"quantized_decomposed::embedding_{kind}.out", arguments)
