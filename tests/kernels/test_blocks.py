# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that work in blocks of elements, in words or in float32 pieces: sizes around each of these."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import FLOATING, KernelRefused, Kernels, random_tensor, with_dim_order

HALVES = [torch.float16, torch.bfloat16]
BITS = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]


def indices(shape: tuple[int, ...], end: int, seed: int = 0) -> torch.Tensor:
    """int64 in [0, end)."""
    return random_tensor(shape, torch.int64, low=0, high=end, seed=seed)


@pytest.mark.parametrize("dim", [0, 1])
def test_many_indices(kernels: Kernels, dim: int) -> None:
    values = random_tensor((37, 41), torch.float32)
    end = values.shape[dim]
    kernels.check("aten::index_select.out", values, dim, indices((600,), end))
    shape = (600, 41) if dim == 0 else (37, 600)
    kernels.check("aten::gather.out", values, dim, indices(shape, end))
    chosen = [None, None]
    chosen[dim] = indices((3, 300), 2 * end) - end
    kernels.check("aten::index.Tensor_out", values, chosen)


def test_many_indices_of_two_dimensions(kernels: Kernels) -> None:
    values = random_tensor((9, 4, 11, 3), torch.float32)
    first, second = indices((2, 300), 9), indices((300,), 11)
    kernels.check("aten::index.Tensor_out", values, [first, None, second])
    kernels.check("aten::index.Tensor_out", values, [None, first[:, :1] % 4, second])
    kernels.check("aten::index.Tensor_out", values, [first, second[:1] % 4])
    channels_last = with_dim_order(values, [0, 2, 3, 1])
    kernels.check("aten::index.Tensor_out", channels_last, [None, None, second], out_dim_order=[0, 2, 3, 1])


@pytest.mark.parametrize("index", [-38, 37])
def test_one_of_many_indices_that_does_not_fit(kernels: Kernels, index: int) -> None:
    chosen = indices((600,), 37)
    chosen[555] = index
    values = random_tensor((37, 5), torch.float32)
    for name, arguments in (
        ("aten::index_select.out", [values, 0, chosen, torch.empty(600, 5)]),
        ("aten::index.Tensor_out", [values, [chosen], torch.empty(600, 5)]),
        ("aten::gather.out", [values, 0, chosen[:, None], False, torch.empty(600, 1)]),
    ):
        with pytest.raises(KernelRefused, match=f"got {index}"):
            kernels.run(name, arguments)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize("size", [1, 7, 8, 30])
def test_flipped_rows(kernels: Kernels, size: int, dtype: torch.dtype) -> None:
    kernels.check("aten::flip.out", random_tensor((3, size), dtype, low=0), [1])
    kernels.check("aten::flip.out", random_tensor((3, size), dtype, low=0), [0, 1])


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
@pytest.mark.parametrize("dtype", BITS)
def test_bits_of_rows(kernels: Kernels, dtype: torch.dtype, name: str) -> None:
    a, b = (random_tensor((5, 13), dtype, low=-100, high=100, seed=seed) for seed in (0, 1))
    for first, second in ((a, b), (a, b[:, :1]), (a[:1, :1], b), (a[:, :1], b[:1]), (a, b[0])):
        kernels.check(f"aten::{name}.Tensor_out", first.clone(), second.clone())
    kernels.check(f"aten::{name}.Tensor_out", with_dim_order(a, [1, 0]), b)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_of_rows(kernels: Kernels, name: str) -> None:
    a, b = (random_tensor((5, 13), torch.bool, seed=seed) for seed in (0, 1))
    for second in (b, b[:, :1].clone(), b[0], random_tensor((5, 13), torch.float32) > 0):
        kernels.check(f"aten::{name}.out", a, second)
    kernels.check(f"aten::{name}.out", a, random_tensor((5, 13), torch.int32))


@pytest.mark.parametrize("dtype", [torch.bool, *FLOATING, torch.int64])
def test_masked_rows(kernels: Kernels, dtype: torch.dtype) -> None:
    values = random_tensor((4, 3, 19), dtype)
    for shape in ((4, 3, 19), (3, 1), (19,)):
        mask = random_tensor(shape, torch.bool)
        kernels.check("aten::masked_fill.Scalar_out", values, mask, 1)
        kernels.check("aten::masked_fill.Tensor_out", values, mask, torch.ones((), dtype=dtype))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(("shape", "dim"), [((2, 5000), 1), ((5000, 3), 0), ((70, 130), 0), ((3, 700, 9), 1)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_16_bit_softmax(
    kernels: Kernels, name: str, shape: tuple[int, ...], dim: int, dtype: torch.dtype
) -> None:
    values = random_tensor(shape, dtype, low=-9, high=9)

    def exact(values: torch.Tensor, dim: int, _: bool) -> torch.Tensor:
        return getattr(torch, name)(values.double(), dim).to(values.dtype)

    # Subnormal float16 values have fewer significant digits.
    kernels.check(f"aten::_{name}.out", values, dim, False, eager=exact, atol=1.2e-7)
    values[0] = float("-inf")
    kernels.check(f"aten::_{name}.out", values, dim, False, eager=exact, atol=1.2e-7)


@pytest.mark.parametrize("dtype", HALVES)
def test_16_bit_layer_norm_of_long_groups(kernels: Kernels, dtype: torch.dtype) -> None:
    values, weight, bias = (
        random_tensor(shape, dtype, seed=i) for i, shape in enumerate(((3, 2500), (2500,), (2500,)))
    )

    def exact(values: torch.Tensor, shape: list[int], *parameters: Any) -> list[torch.Tensor]:
        wide = [each.double() for each in (values, *parameters[:2])]
        results = torch.native_layer_norm(wide[0], shape, wide[1], wide[2], 1e-5)
        return [result.to(dtype) for result in results]

    tolerance = {"rtol": 2e-2 if dtype == torch.bfloat16 else 2e-3, "atol": 2e-3}
    kernels.check("aten::native_layer_norm.out", values, [2500], weight, bias, 1e-5, eager=exact, **tolerance)


@pytest.mark.parametrize("dtype", HALVES)
def test_16_bit_elements_are_computed_in_float32(kernels: Kernels, dtype: torch.dtype) -> None:
    def rounded(function: Any) -> Any:
        def compute(*given: Any, **named: Any) -> torch.Tensor:
            wide = [each.float() if isinstance(each, torch.Tensor) else each for each in given]
            return function(*wide, **named).to(dtype)

        return compute

    a = random_tensor((3, 600), dtype)
    for shape in ((3, 600), (3, 1), (600,)):
        b = random_tensor(shape, dtype, seed=1)
        for name in ("mul", "div", "maximum"):
            kernels.check(f"aten::{name}.out", a, b, eager=rounded(getattr(torch, name)))
        kernels.check("aten::add.out", a, b, alpha=0.5, eager=rounded(torch.add))
        kernels.check("aten::add.out", with_dim_order(a, [1, 0]), b, eager=rounded(torch.add))
    kernels.check("aten::sigmoid.out", a, eager=rounded(torch.sigmoid))
    kernels.check("aten::mul.Scalar_out", a, 0.125, eager=rounded(torch.mul))
    kernels.check("aten::add.Scalar_out", a, 0.125, eager=rounded(torch.add))


@pytest.mark.parametrize("pad", [[3, 2], [0, 0, 2, 1], [1, 1, 1, 1, 1, 1], [-1, 2, 3, -2], [-2, -3]])
def test_padding_leaves_no_gap(kernels: Kernels, pad: list[int]) -> None:
    for values in (random_tensor((2, 5, 7), torch.float32), random_tensor((2, 5, 7), torch.uint8)):
        kernels.check("aten::constant_pad_nd.out", values, pad, 3)
        kernels.check("aten::constant_pad_nd.out", values, pad, 3, out_dim_order=[2, 0, 1])
