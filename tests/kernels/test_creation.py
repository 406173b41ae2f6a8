# SPDX-License-Identifier: BSD-3-Clause
"""Operators that create tensors of one value, of a range, or uninitialized."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.harness import ALL, REAL, KernelRefused, Kernels, assert_equal, poison, with_dim_order


def fill(kernels: Kernels, name: str, arguments: list[Any], expected: torch.Tensor) -> None:
    """Runs with a static and a dynamic out of the expected shape, dtype and layout."""
    for is_dynamic in [False, True]:
        out = poison(torch.empty_like(expected))
        kernels.run(name, [*arguments, out], dynamic=[out] if is_dynamic else [])
        assert_equal(out, expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("value", [0, 3, True, 2.5])
def test_every_element_is_the_number(kernels: Kernels, value: Any, dtype: torch.dtype) -> None:
    for shape in [(), (3,), (2, 0, 3), (2, 3, 4)]:
        expected = torch.full(shape, 0).to(dtype).fill_(value)
        fill(kernels, "aten::full.out", [list(shape), value], expected)
        fill(kernels, "aten::full_like.out", [torch.empty(shape), value, None], expected)
    fill(kernels, "aten::scalar_tensor.out", [value], torch.empty((), dtype=dtype).fill_(value))


@pytest.mark.parametrize("dtype", ALL)
def test_zeros_and_ones(kernels: Kernels, dtype: torch.dtype) -> None:
    fill(kernels, "aten::zeros.out", [[2, 3]], torch.zeros(2, 3, dtype=dtype))
    fill(kernels, "aten::ones.out", [[2, 3]], torch.ones(2, 3, dtype=dtype))


def test_full_like_of_a_memory_format(kernels: Kernels) -> None:
    x = torch.empty(2, 3, 4, 5)
    expected = with_dim_order(torch.full((2, 3, 4, 5), 2.0), [0, 2, 3, 1])
    fill(kernels, "aten::full_like.out", [x, 2, torch.channels_last], expected)
    with pytest.raises(KernelRefused, match="InvalidArgument"):
        kernels.run("aten::full_like.out", [x, 2, torch.channels_last, x])


@pytest.mark.parametrize("name", ["full", "zeros", "ones"])
@pytest.mark.parametrize("size", [[-1], [2**31], [2**62, 4], [3], [1] * 17])
def test_sizes_that_are_none_are_refused(kernels: Kernels, name: str, size: list[int]) -> None:
    arguments = [size, 1] if name == "full" else [size]
    with pytest.raises(KernelRefused, match="InvalidArgument"):
        kernels.run(f"aten::{name}.out", [*arguments, torch.empty(2)])


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(
    "limits", [(0, 7, 1), (3, -4, -2), (-5, 5, 3), (2, 2, 1), (0.5, 3, 0.25), (0, 5.5, 2)]
)
def test_arange(kernels: Kernels, limits: tuple[Any, ...], dtype: torch.dtype) -> None:
    if not dtype.is_floating_point:
        limits = (*limits[:2], math.ceil(limits[2]))  # torch drops the fraction
    expected = torch.ops.aten.arange.start_out(*limits, out=torch.empty(0, dtype=dtype))
    fill(kernels, "aten::arange.start_out", list(limits), expected)
    end = abs(limits[1])
    fill(kernels, "aten::arange.out", [end], torch.ops.aten.arange.out(end, out=torch.empty(0, dtype=dtype)))


@settings(max_examples=100, deadline=None)
@given(
    start=st.floats(-50, 50),
    end=st.floats(-50, 50),
    step=st.one_of(st.floats(-9, -0.1), st.floats(0.1, 9)),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_arange_of_floats(
    kernels: Kernels, start: float, end: float, step: float, dtype: torch.dtype
) -> None:
    if (end - start) * step < 0:
        step = -step
    expected = torch.ops.aten.arange.start_out(start, end, step, out=torch.empty(0, dtype=dtype))
    out = poison(torch.empty_like(expected))
    kernels.run("aten::arange.start_out", [start, end, step, out], dynamic=[out])
    assert_equal(out, expected, atol=1e-5 if dtype == torch.float32 else 1e-13)


def test_arange_at_the_ends_of_64_bits(kernels: Kernels) -> None:
    out = torch.empty(3, dtype=torch.int64)
    kernels.run("aten::arange.start_out", [-(2**63), 2**63 - 1, 2**62 + 2**61, out])
    assert_equal(out, torch.tensor([-(2**63), -(2**61), 2**62]))


@pytest.mark.parametrize(
    "limits",
    [
        (0, 4, 0),
        (0, 4, -1),
        (4, 0, 1),
        (0.0, float("inf"), 1.0),
        (0.0, 1.0, float("nan")),
        (0, 2**62, 1),
        (0, 3, 1),
    ],
)
@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_steps_that_do_not_arrive_are_refused(
    kernels: Kernels, limits: tuple[Any, ...], dtype: torch.dtype
) -> None:
    if not dtype.is_floating_point:
        limits = tuple(0 if isinstance(limit, float) else limit for limit in limits)
    with pytest.raises(KernelRefused, match="InvalidArgument"):
        kernels.run("aten::arange.start_out", [*limits, torch.empty(4, dtype=dtype)])


@pytest.mark.parametrize("dtype", ALL)
def test_tensors_made_after_another(kernels: Kernels, dtype: torch.dtype) -> None:
    like = torch.full((2, 3), 5).to(dtype)
    for name in ["zeros_like", "ones_like"]:
        kernels.check(f"aten::{name}.out", like)
    kernels.check("aten::zero.out", like)
    for name in ["new_zeros", "new_ones"]:
        kernels.check(f"aten::{name}.out", like, [3, 0, 2])
        kernels.check(f"aten::{name}.out", like, [4])
    kernels.check("aten::new_full.out", like, [2, 2], 7)


EMPTY = [
    ("aten::empty.out", [[2, 3, 4], None]),
    ("aten::empty_like.out", [torch.zeros(2, 3, 4), None]),
    ("aten::empty_strided.out", [[2, 3, 4], [12, 1, 3]]),
    ("aten::empty_permuted.out", [[2, 3, 4], [0, 2, 1]]),
    ("aten::new_empty.out", [torch.zeros(1), [2, 3, 4]]),
    ("aten::new_empty_strided.out", [torch.zeros(1), [2, 3, 4], [12, 4, 1]]),
]


@pytest.mark.parametrize(("name", "arguments"), EMPTY, ids=[name for name, _ in EMPTY])
def test_elements_nobody_asked_for_stay(kernels: Kernels, name: str, arguments: list[Any]) -> None:
    for is_dynamic in [False, True]:
        out = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
        kernels.run(name, [*arguments, out], dynamic=[out] if is_dynamic else [])
        assert torch.equal(out.flatten(), torch.arange(24, dtype=torch.float32))


def test_shapes_and_strides_that_are_refused(kernels: Kernels) -> None:
    outs = [torch.zeros(2, 3)]
    assert "stride" in kernels.refuse("aten::empty_strided.out", [2, 3], [1], outs=outs).log[0]
    assert "stride" in kernels.refuse("aten::empty_strided.out", [2, 3], [-1, 2], outs=outs).log[0]
    kernels.refuse("aten::empty_permuted.out", [2, 3], [0, 0], outs=outs)
    assert "physical_layout" in kernels.refuse("aten::empty_permuted.out", [2, 3], [0], outs=outs).log[0]
    kernels.refuse("aten::new_zeros.out", torch.zeros(1), [2, 4], outs=outs)
    kernels.refuse("aten::empty.out", [-2, 3], outs=outs)
    kernels.refuse("aten::empty.out", [2, 3], memory_format=torch.channels_last, outs=outs)


def test_a_number_does_not_go_into_several_elements(kernels: Kernels) -> None:
    kernels.refuse("aten::scalar_tensor.out", 7, outs=[torch.zeros(1, 2, 1)])
