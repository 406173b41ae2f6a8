# SPDX-License-Identifier: BSD-3-Clause
"""Lookup tables for functions of one quantized value, against the definition in Python."""

from __future__ import annotations

import pytest
import torch

import rushlight.export.dialect.integers  # noqa: F401  # defines torch.ops.rushlight
from support.harness import KernelRefused, Kernels, assert_equal, poison, with_dim_order

NAME = "rushlight::quantized_lookup.out"
BYTES = [torch.int8, torch.uint8]


def drawn(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    info = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)


@pytest.mark.parametrize("target", BYTES)
@pytest.mark.parametrize("source", BYTES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (256,), (3, 5, 7), (2, 3, 4, 9), (70_001,)])
def test_each_number_is_looked_up(
    kernels: Kernels, shape: tuple[int, ...], source: torch.dtype, target: torch.dtype
) -> None:
    values, table = drawn(shape, source), drawn((256,), target, seed=1)
    expected = torch.ops.rushlight.quantized_lookup(values, table)
    for is_dynamic in (False, True):
        out = poison(torch.empty_like(expected))
        kernels.run(NAME, [values, table, out], dynamic=[out] if is_dynamic else ())
        assert_equal(out, expected)


def test_tables_count_from_the_least_number(kernels: Kernels) -> None:
    table = torch.arange(256).to(torch.uint8)
    for dtype in BYTES:
        out = torch.empty(3, dtype=torch.uint8)
        info = torch.iinfo(dtype)
        kernels.run(NAME, [torch.tensor([info.min, info.min + 1, info.max], dtype=dtype), table, out])
        assert out.tolist() == [0, 1, 255]


def test_tensors_may_lie_in_any_order(kernels: Kernels) -> None:
    values, table = drawn((2, 5, 3, 4), torch.int8), drawn((256,), torch.int8, seed=1)
    out = poison(with_dim_order(torch.empty(2, 5, 3, 4, dtype=torch.int8), [0, 2, 3, 1]))
    kernels.run(NAME, [with_dim_order(values, [1, 0, 3, 2]), table, out])
    assert_equal(out, torch.ops.rushlight.quantized_lookup(values, table))


def test_the_result_may_lie_where_an_input_does(kernels: Kernels) -> None:
    values, table = drawn((256,), torch.int8), drawn((256,), torch.int8, seed=1)
    expected = torch.ops.rushlight.quantized_lookup(values, table)
    for argument in (0, 1):
        arguments = [values.clone(), table.clone()]
        kernels.run(NAME, [*arguments, arguments[argument]])
        assert_equal(arguments[argument], expected)


@pytest.mark.parametrize(
    ("argument", "wrong", "named"),
    [
        (0, torch.zeros(4, dtype=torch.int16), "input: "),
        (
            1,
            torch.zeros(255, dtype=torch.int8),
            "table: expected 256 elements in one .*, got 255 in 1",
        ),
        (1, torch.zeros(2, 128, dtype=torch.int8), "got 256 in 2"),
        (1, torch.zeros(256, dtype=torch.uint8), "table and out"),
        (2, torch.zeros(4, dtype=torch.float32), "out: "),
        (2, torch.zeros(5, dtype=torch.int8), "out"),
    ],
)
def test_wrong_arguments_are_named(kernels: Kernels, argument: int, wrong: torch.Tensor, named: str) -> None:
    arguments = [torch.zeros(4, dtype=torch.int8), torch.zeros(256, dtype=torch.int8)]
    arguments.append(torch.zeros(4, dtype=torch.int8))
    arguments[argument] = wrong
    with pytest.raises(KernelRefused, match=named):
        kernels.run(NAME, arguments)
