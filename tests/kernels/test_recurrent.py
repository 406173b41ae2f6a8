# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a long short-term memory against torch eager."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from support.harness import (
    FLOATING,
    KernelRefused,
    Kernels,
    assert_equal,
    poison,
    random_tensor,
    with_dim_order,
)

NAME = "rushlight::lstm.out"

Tensors = tuple[torch.Tensor, ...]


def operands(steps: int, batch: int, units: int, dtype: torch.dtype = torch.float32) -> Tensors:
    """Gates, hidden states, cells and weight."""
    shapes = (steps, batch, 4 * units), (batch, units), (batch, units), (4 * units, units)
    bounds = (4.0, 1.0, 2.0, 2.0 / (1 + units) ** 0.5)
    pairs = enumerate(zip(shapes, bounds, strict=True))
    return tuple(random_tensor(s, dtype, low=-b, high=b, seed=i) for i, (s, b) in pairs)


def expected(gates: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor, weight: torch.Tensor) -> Tensors:
    """torch.nn.LSTM with the gates as its inputs: the input weight is the identity."""
    layer = torch.nn.LSTM(gates.shape[2], weight.shape[1], bias=False, dtype=torch.float64)
    with torch.no_grad():
        layer.weight_ih_l0.copy_(torch.eye(gates.shape[2]))
        layer.weight_hh_l0.copy_(weight)
        state = hidden.double()[None], cell.double()[None]
        output, (last_hidden, last_cell) = layer(gates.double(), state)
    return output, last_hidden[0], last_cell[0]


def reversed_too(tensors: Tensors, reverse: bool) -> Tensors:
    """The expected values of the steps in either order, in the dtype of the operands."""
    gates, *rest = tensors
    output, *last = expected(gates.flip(0) if reverse else gates, *rest)
    return tuple(each.to(gates.dtype) for each in (output.flip(0) if reverse else output, *last))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("steps", "batch", "units"),
    [(5, 1, 8), (1, 1, 1), (7, 3, 5), (3, 4, 130), (3, 1, 300), (4, 5, 6), (3, 9, 33), (2, 33, 16)],
)
def test_steps_follow_one_another(
    kernels: Kernels, steps: int, batch: int, units: int, reverse: bool
) -> None:
    tensors = operands(steps, batch, units)
    results = reversed_too(tensors, reverse)
    for variant, threads, is_dynamic in itertools.product(kernels.variants(NAME), (1, 2), (False, True)):
        outs = [poison(torch.empty_like(each)) for each in results]
        given = [*tensors, reverse, *outs]
        kernels.run(NAME, given, dynamic=outs if is_dynamic else (), variant=variant, threads=threads)
        for out, result in zip(outs, results, strict=True):
            assert_equal(out, result, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", FLOATING)
def test_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    tensors = operands(6, 2, 40, dtype)
    results = reversed_too(tensors, reverse=False)
    # Hidden states and cells are rounded once per step.
    atol = 4 * torch.finfo(dtype).eps
    for variant in kernels.variants(NAME):
        outs = [poison(torch.empty_like(each)) for each in results]
        kernels.run(NAME, [*tensors, False, *outs], variant=variant)
        for out, result in zip(outs, results, strict=True):
            assert_equal(out, result, rtol=atol, atol=atol)


def test_results_do_not_depend_on_threads_or_the_batch(kernels: Kernels) -> None:
    tensors = operands(3, 4, 600)
    whole = [torch.empty(3, 4, 600), torch.empty(4, 600), torch.empty(4, 600)]
    kernels.run(NAME, [*tensors, False, *whole])
    threaded = [torch.empty_like(each) for each in whole]
    kernels.run(NAME, [*tensors, False, *threaded], threads=3)
    gates, hidden, cell, weight = tensors
    single = [torch.empty(3, 1, 600), torch.empty(1, 600), torch.empty(1, 600)]
    kernels.run(NAME, [gates[:, 2:3].contiguous(), hidden[2:3], cell[2:3], weight, False, *single])
    for a, b in zip(whole, threaded, strict=True):
        assert torch.equal(a, b)
    assert torch.equal(whole[0][:, 2:3], single[0]) and torch.equal(whole[2][2:3], single[2])


def test_without_scratch_memory_a_batch_is_computed_in_parts(kernels: Kernels) -> None:
    tensors = operands(2, 11, 20)
    results = reversed_too(tensors, reverse=False)
    outs = [poison(torch.empty_like(each)) for each in results]
    kernels.run(NAME, [*tensors, False, *outs], temporary_bytes=0)
    for out, result in zip(outs, results, strict=True):
        assert_equal(out, result, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("steps", "batch", "units"), [(0, 2, 3), (4, 0, 3), (4, 2, 0), (0, 0, 0)])
def test_nothing_may_be_there(kernels: Kernels, steps: int, batch: int, units: int) -> None:
    tensors = operands(steps, batch, units)
    for variant in kernels.variants(NAME):
        outs = [poison(torch.empty(steps, batch, units)), *(poison(torch.empty(batch, units)) for _ in "hc")]
        kernels.run(NAME, [*tensors, False, *outs], variant=variant)
        if steps == 0:  # the state stays unchanged
            assert torch.equal(outs[1], tensors[1]) and torch.equal(outs[2], tensors[2])


def test_tensors_may_lie_in_any_order(kernels: Kernels) -> None:
    tensors = operands(3, 4, 5)
    results = reversed_too(tensors, reverse=False)
    gates, *rest = tensors
    laid_out = [with_dim_order(gates, [1, 2, 0]), *(with_dim_order(each, [1, 0]) for each in rest)]
    for variant in kernels.variants(NAME):
        outs = [poison(with_dim_order(torch.empty(3, 4, 5), [2, 0, 1]))]
        outs += [poison(with_dim_order(torch.empty(4, 5), [1, 0])) for _ in "hc"]
        kernels.run(NAME, [*laid_out, False, *outs], variant=variant)
        for out, result in zip(outs, results, strict=True):
            assert_equal(out, result, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("changed", "value", "named"),
    [
        (0, torch.ones(2, 24), "gates: expected 3 dimensions, got 2"),
        (0, torch.ones(5, 2, 23), "gates: expected a multiple of 4 for dimension 2, got 23"),
        (1, torch.ones(3, 6), "hidden: expected sizes [2, 6]"),
        (2, torch.ones(2, 5), "cell: expected sizes [2, 6]"),
        (2, torch.ones(1, 2, 6), "cell: expected sizes [2, 6]"),
        (3, torch.ones(6, 24), "weight: expected sizes [24, 6]"),
        (3, torch.ones(24, 6, dtype=torch.float64), "gates and weight"),
        (5, torch.ones(5, 2, 5), "shape"),
        (6, torch.ones(3, 6), "shape"),
        (7, torch.ones(2, 6, dtype=torch.float16), "gates and out2"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(kernels: Kernels, changed: int, value: Any, named: str) -> None:
    tensors = [torch.ones(5, 2, 24), torch.ones(2, 6), torch.ones(2, 6), torch.ones(24, 6)]
    arguments: list[Any] = [*tensors, False, torch.ones(5, 2, 6), torch.ones(2, 6), torch.ones(2, 6)]
    arguments[changed] = value
    with pytest.raises(KernelRefused) as refused:
        kernels.run(NAME, arguments)
    assert named in str(refused.value)
