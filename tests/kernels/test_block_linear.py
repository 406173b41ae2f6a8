# SPDX-License-Identifier: BSD-3-Clause
"""Linear layers and embeddings of block weights compared with float64; all variants give the same bits."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
import torch

from support.block_weights import BlockForm, BlockSample, draw_block_weight
from support.harness import KernelRefused, Kernels, poison

LINEAR, EMBEDDING = "rushlight::block_linear.out", "rushlight::block_embedding.out"
FORMS = [
    BlockForm(bits, group, scales, has_minimum)
    for bits, group, scales, has_minimum in itertools.product(
        (4, 8), (16, 32, 64, 128), ("float16", "float32"), (False, True)
    )
]
HALF = BlockForm(16, 0, "float16", False)


def arguments_of(form: BlockForm) -> list[Any]:
    """The form as arguments of a call."""
    return [form.bits, form.group, getattr(torch, form.scales), form.has_minimum]


def tensor_of(sample: BlockSample) -> torch.Tensor:
    """The stored bytes as a tensor."""
    return torch.from_numpy(sample.stored)


def run_all(
    kernels: Kernels, arguments: list[Any], shape: tuple[int, ...], tolerance: float = 0
) -> torch.Tensor:
    """The result, which all variants of the kernel share, on one thread and on more."""
    results = []
    for variant, threads, is_dynamic in itertools.product(kernels.variants(LINEAR), (1, 3), (False, True)):
        out = poison(torch.empty(shape))
        kernels.run(
            LINEAR, [*arguments, out], dynamic=[out] if is_dynamic else (), variant=variant, threads=threads
        )
        results.append(out)
    for each in results[1:]:
        torch.testing.assert_close(each, results[0], rtol=tolerance, atol=tolerance, equal_nan=True)
    return results[0]


@pytest.mark.parametrize("seed", range(60))
def test_products_are_those_of_the_values(kernels: Kernels, seed: int) -> None:
    draw = random.Random(seed)
    form = draw.choice(FORMS)
    features, depth = draw.choice([1, 7, 16, 17, 40, 96]), draw.choice([1, 5, 31, 32, 100, 256, 300])
    rows = draw.choice([[], [1], [3], [2, 4], [9], [70]])
    sample = draw_block_weight(form, features, depth, seed)
    generator = torch.Generator().manual_seed(seed)
    input = torch.randn([*rows, depth], generator=generator) * draw.choice([1e-3, 1.0, 50.0])
    bias = torch.randn(features, generator=generator) if draw.random() < 0.5 else None
    residual = torch.randn([*rows, features], generator=generator) if draw.random() < 0.5 else None
    for bits in (16, 8):
        arguments = [input, tensor_of(sample), bias, residual, features, *arguments_of(form), bits]
        result = run_all(kernels, arguments, (*rows, features)).double()
        values = torch.from_numpy(sample.values)
        expected = input.double() @ values.T
        # Each product is off by at most half a step of its block's largest element.
        blocks = torch.nn.functional.pad(input.abs(), (0, -depth % 32)).unflatten(-1, (-1, 32)).amax(-1)
        step = blocks.repeat_interleave(32, -1)[..., :depth].double() / (32512 if bits == 16 else 127)
        bound = 0.51 * step @ values.abs().T + 1e-6 * (input.abs().double() @ values.abs().T) + 1e-6
        if bias is not None:
            expected = expected + bias
        if residual is not None:
            expected = expected + residual
        assert bool(((result - expected).abs() <= bound + 1e-6 * expected.abs()).all())


@pytest.mark.parametrize("form", [*FORMS, HALF], ids=str)
def test_embeddings_are_rows_of_the_values(kernels: Kernels, form: BlockForm) -> None:
    sample = draw_block_weight(form, 37, 83, 5)
    for indices in (
        torch.tensor([[0, 36], [16, 15]]),
        torch.tensor(17, dtype=torch.int32),
        torch.empty(0, 2).long(),
    ):
        out = poison(torch.empty([*indices.shape, 83]))
        kernels.run(EMBEDDING, [tensor_of(sample), indices, 37, 83, *arguments_of(form), out])
        expected = torch.from_numpy(sample.values)[indices.long()]
        torch.testing.assert_close(out.double(), expected, rtol=2e-7, atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_products_of_float16_are_those_of_the_values(kernels: Kernels, seed: int) -> None:
    draw = random.Random(seed)
    features, depth = draw.choice([1, 16, 17, 40]), draw.choice([0, 1, 5, 32, 101])
    rows = draw.choice([[], [3], [2, 4], [70]])
    sample = draw_block_weight(HALF, features, depth, seed)
    input, bias = torch.randn([*rows, depth]), torch.randn(features)
    residual = torch.randn([*rows, features]) if seed % 2 == 0 else None
    arguments = [input, tensor_of(sample), bias, residual, features, *arguments_of(HALF), 16]
    result = run_all(kernels, arguments, (*rows, features), tolerance=1e-5)
    expected = input.double() @ torch.from_numpy(sample.values).T + bias
    torch.testing.assert_close(
        result.double(), expected + (0 if residual is None else residual), rtol=1e-5, atol=1e-5
    )


def test_an_index_outside_is_refused(kernels: Kernels) -> None:
    form = FORMS[0]
    sample = draw_block_weight(form, 20, 32, 1)
    for index in (-1, 20, 2**40):
        out = torch.empty(1, 32)
        arguments = [tensor_of(sample), torch.tensor([index]), 20, 32, *arguments_of(form), out]
        with pytest.raises(KernelRefused):
            kernels.run(EMBEDDING, arguments)


@pytest.mark.parametrize(
    ("position", "value"),
    [(4, 19), (4, -1), (4, 2**40), (5, 3), (6, 24), (6, 0), (6, -32), (6, 2**40), (7, torch.int8), (9, 12)],
)
def test_other_forms_than_the_weight_has_are_refused(kernels: Kernels, position: int, value: Any) -> None:
    form = BlockForm(4, 32, "float16", False)
    sample = draw_block_weight(form, 33, 64, 1)
    arguments = [torch.zeros(2, 64), tensor_of(sample), None, None, 33, *arguments_of(form), 16]
    arguments[position] = value
    with pytest.raises(KernelRefused) as refused:
        kernels.run(LINEAR, [*arguments, torch.empty(2, 33)])
    assert "expected" in str(refused.value)


def test_a_row_that_is_not_finite_is_nan_and_others_are_not(kernels: Kernels) -> None:
    form = BlockForm(4, 32, "float16", True)
    sample = draw_block_weight(form, 33, 64, 1)
    input = torch.ones(3, 64)
    input[1, 40] = float("inf")
    arguments = [input, tensor_of(sample), None, None, 33, *arguments_of(form), 16]
    result = run_all(kernels, arguments, (3, 33))
    assert bool(result[1].isnan().all())
    assert bool(result[[0, 2]].isfinite().all())
