# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the official Cortex-M backend against its own Python reference, to the last bit."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch

from support import cortex_m
from support.cortex_m import CALLS, Draw, reference
from support.harness import KernelRefused, Kernels, assert_equal, dim_order, poison, with_dim_order

CALLS_EACH = 60


def check(kernels: Kernels, name: str, arguments: list[Any], expected: torch.Tensor) -> None:
    """Checks all variants of the kernel, with one thread and with more, with static and dynamic results."""
    full = f"cortex_m::{name}.out"
    for variant, threads, is_dynamic in itertools.product(kernels.variants(full), (1, 3), (False, True)):
        out = poison(with_dim_order(torch.empty(expected.shape, dtype=expected.dtype), dim_order(expected)))
        dynamic = [out] if is_dynamic else ()
        kernels.run(full, [*arguments, out], dynamic=dynamic, variant=variant, threads=threads)
        assert_equal(out, expected)


@pytest.mark.parametrize("name", CALLS)
def test_any_call_gives_the_bytes_of_the_reference(kernels: Kernels, name: str) -> None:
    for seed in range(CALLS_EACH):
        arguments = CALLS[name](Draw(seed))
        check(kernels, name, arguments, reference(name, arguments))


def int32(*numbers: int) -> torch.Tensor:
    """A list of int32."""
    return torch.tensor(numbers, dtype=torch.int32)


IMAGE = torch.ones(1, 4, 5, 5, dtype=torch.int8)
WEIGHT = torch.ones(2, 3, 3, 4, dtype=torch.int8)
HALF = 1 << 30
SPATIAL = [[1, 1], [0, 0], [1, 1]]


def convolution(**changed: Any) -> list[Any]:
    """Arguments of a small convolution, some of them changed."""
    return list(
        {
            "input": IMAGE,
            "weight": WEIGHT,
            "bias": int32(0, 0),
            "stride": [1, 1],
            "padding": [0, 0],
            "dilation": [1, 1],
            "input_offset": 3,
            "output_offset": 0,
            "multipliers": int32(HALF, HALF),
            "shifts": int32(-8, -8),
            "activation_min": -128,
            "activation_max": 127,
            "scratch": cortex_m.SCRATCH,
            "out": torch.empty(1, 2, 3, 3, dtype=torch.int8),
            **changed,
        }.values()
    )


def depthwise(depth_multiplier: int) -> list[Any]:
    weight, end = torch.ones(1, 3, 3, 4, dtype=torch.int8), [int32(*[HALF] * 4), int32(*[-8] * 4)]
    out = torch.empty(1, 4, 3, 3, dtype=torch.int8)
    start = [IMAGE, weight, None, *SPATIAL, depth_multiplier]
    return [*start, 0, 0, *end, -128, 127, cortex_m.SCRATCH, out]


def linear(**changed: Any) -> list[Any]:
    """Arguments of a small linear layer, some of them changed."""
    return list(
        {
            "input": torch.ones(3, 4, dtype=torch.int8),
            "weights": torch.ones(5, 4, dtype=torch.int8),
            "bias": None,
            "kernel_sum": None,
            "input_offset": 3,
            "filter_offset": 0,
            "output_offset": 0,
            "multipliers": [HALF],
            "shifts": [-8],
            "activation_max": 127,
            "activation_min": -128,
            "out": torch.empty(3, 5, dtype=torch.int8),
            **changed,
        }.values()
    )


ROW = torch.ones(2, 3, dtype=torch.int8)
OUT = torch.empty(2, 3, dtype=torch.int8)
POOL = [IMAGE, [2, 2], [1, 1], [0, 0]]
POOLED = torch.empty(1, 4, 4, 4, dtype=torch.int8)

REFUSED: list[tuple[str, list[Any], str]] = [
    ("quantized_conv2d", convolution(input=IMAGE[0]), "expected rank 4, got 3 and 4"),
    ("quantized_conv2d", convolution(input=IMAGE.short()), "dtype"),
    (
        "quantized_conv2d",
        convolution(weight=WEIGHT[..., :3].contiguous()),
        "does not fit an input of 4 channels",
    ),
    ("quantized_conv2d", convolution(weight=WEIGHT.int()), "input and weight"),
    ("quantized_conv2d", convolution(bias=int32(0)), "bias: expected 2 elements, got 1"),
    ("quantized_conv2d", convolution(bias=int32(0, (1 << 31) - 201)), "may have more than 32 bits"),
    ("quantized_conv2d", convolution(bias=int32(0, (1 << 31) - 1)), "exceeds 32 bits with the input offset"),
    ("quantized_conv2d", convolution(input_offset=-128), "input_offset: expected -127 to 128, got -128"),
    ("quantized_conv2d", convolution(output_offset=128), "expected int8 values"),
    ("quantized_conv2d", convolution(activation_min=3, activation_max=2), "min <= max"),
    ("quantized_conv2d", convolution(multipliers=int32(HALF)), "expected 2 elements, got 1"),
    ("quantized_conv2d", convolution(multipliers=int32(HALF, HALF - 1)), "expected 0 or 2^30 at least"),
    ("quantized_conv2d", convolution(multipliers=int32(HALF, -HALF)), "expected 0 to 2^31 - 1"),
    ("quantized_conv2d", convolution(shifts=int32(0, 31)), "and 30 at most"),
    ("quantized_conv2d", convolution(shifts=int32(0, 30)), "shifts: expected -31 to"),
    ("quantized_conv2d", convolution(shifts=torch.zeros(2, dtype=torch.int8)), "expected dtype int32"),
    ("quantized_depthwise_conv2d", depthwise(2), "expected depth_multiplier, 2, times 4 output channels"),
    ("quantized_linear", linear(multipliers=[HALF, HALF]), "expected one value for all features, got 2"),
    ("quantized_linear", linear(kernel_sum=int32(1, 2, 3)[None]), "kernel_sum: expected 5 elements of int32"),
    ("quantized_linear", linear(filter_offset=129), "filter_offset: expected -127 to 128, got 129"),
    (
        "quantized_linear",
        linear(weights=torch.ones(5, 3, dtype=torch.int8)),
        "expected 4 input features, got 3",
    ),
    (
        "quantized_add",
        [ROW, 0, HALF, 3, ROW, 0, HALF, 0, 0, HALF, -20, -128, 127, OUT],
        "its multiplier and shift",
    ),
    (
        "quantized_add",
        [ROW, 0, HALF, 0, ROW, 0, HALF, 0, 0, HALF, 5, -128, 127, OUT],
        "shifts: expected -31 to",
    ),
    ("quantized_mul", [ROW, 1 << 19, ROW, 1 << 19, 0, HALF, -8, OUT], "products may have more than 32 bits"),
    ("quantized_mul", [ROW, 0, ROW, 1 << 21, 0, HALF, -8, OUT], "other_zero_point: expected"),
    ("quantized_div", [ROW, 0, ROW, 128, 0, 1.0, OUT], "zero points: expected values of the dtype, got 128"),
    (
        "quantized_div",
        [ROW, 0, ROW, 0, 0, float("inf"), OUT],
        "output_scale: expected a finite float32, got inf",
    ),
    ("softmax", [ROW, 1, 0, 0, HALF, 20, -1, OUT], "output_zero_point: expected -128, got 0"),
    ("softmax", [ROW, 1, 0, -128, 0, 20, -1, OUT], "input_multiplier, input_shift"),
    ("quantized_avg_pool2d", [*POOL, False, 0, 0, 0, cortex_m.SCRATCH, POOLED], "multiplier and shift"),
    (
        "quantized_max_pool2d",
        [*POOL, [1, 1], False, 1, 2, -128, 127, POOLED],
        "expected the input's, 1, got 2",
    ),
    ("pad", [ROW, [0, 0, 1], [0, 0, 0, 0], 0, OUT], "pre_pad: expected 4 values, got 3"),
    ("pad", [ROW, [0, 1, 0, 0], [0, 0, 0, 0], 0, OUT], "expected 0 before the input's 2 dimensions, got 1"),
]


@pytest.mark.parametrize(("name", "arguments", "reason"), REFUSED)
def test_bad_arguments_are_refused(kernels: Kernels, name: str, arguments: list[Any], reason: str) -> None:
    with pytest.raises(KernelRefused) as caught:
        kernels.run(f"cortex_m::{name}.out", arguments)
    assert reason in str(caught.value)


def test_a_convolution_without_scratch_memory_is_refused(kernels: Kernels) -> None:
    with pytest.raises(KernelRefused) as caught:
        kernels.run("cortex_m::quantized_conv2d.out", convolution(), temporary_bytes=17)
    assert "need 18 bytes for biases and scales" in str(caught.value)
    assert caught.value.error == "MemoryAllocationFailed"


def test_a_softmax_is_that_of_real_numbers(kernels: Kernels) -> None:
    """The reference computes in float32 and rounds some halves the other way: six in nine million."""
    for seed in range(300):
        draw = Draw(seed)
        arguments = cortex_m.softmax(draw)
        given = draw.int8(16, draw.integer(2, 200))
        scale = math.ldexp(arguments[4], arguments[5] - 31 - 26)
        exact = torch.softmax(given.double() * scale, -1) * 256
        out = torch.empty_like(given)
        kernels.run("cortex_m::softmax.out", [given, -1, *arguments[2:], out])
        assert_equal(out, (exact.round() - 128).clamp(-128, 127).to(torch.int8))
