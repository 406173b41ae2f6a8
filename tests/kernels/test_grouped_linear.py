# SPDX-License-Identifier: BSD-3-Clause
"""Linear layers with integer weights and scales of groups. With dynamically quantized inputs they equal the
exporter's definition to the last bit, on all variants of the microkernels."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from rushlight.export.dialect import grouped as dialect
from rushlight.integers.arithmetic import pack_halves
from support.harness import Kernels, assert_equal, poison, random_tensor, with_dim_order

DYNAMIC = "rushlight::dynamic_linear.out"
WEIGHT_ONLY = "rushlight::weight_only_linear.out"
MAPPINGS = ("asymmetric", "nearer_end", "symmetric")
EPSILON = 2.0**-23


def drawn(seed: int) -> list[Any]:
    """Input, weight, scales and bias of a layer of any form, the same for a seed."""
    numbers = random.Random(seed)
    is_packed = numbers.random() < 0.5
    group = numbers.choice([1, 2, 3, 5, 8, 13, 16, 31, 32, 64, 100, 256])
    groups = numbers.choice([1, 1, 2, 3, 5])
    if is_packed and groups > 1:
        group += group % 2
    depth, features = group * groups, numbers.choice([1, 2, 7, 15, 16, 17, 31, 33, 48, 70])
    rows = numbers.choice([[], [1], [2], [3], [5], [9], [2, 3], [17]])
    shift = numbers.choice([0.0, 0.0, 3.0, -3.0])
    input = random_tensor([*rows, depth], torch.float32, seed=seed) + shift
    low, high = (-8, 8) if is_packed else (-128, 128)
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randint(low, high, (features, depth), generator=generator).to(torch.int8)
    sizes = numbers.choice([(features, groups), (features,), (1,), ()]) if groups == 1 else (features, groups)
    scales = random_tensor(sizes, torch.float32, low=0.001, high=0.1, seed=seed)
    bias = random_tensor([features], torch.float32, seed=seed) if numbers.random() < 0.6 else None
    return [input, torch.from_numpy(pack_halves(weight.numpy())) if is_packed else weight, scales, bias]


def run_all(
    kernels: Kernels, name: str, arguments: Sequence[Any], expected: torch.Tensor
) -> list[torch.Tensor]:
    """The results of all variants of the kernel, with one thread and with more."""
    results = []
    for variant, threads, is_dynamic in itertools.product(kernels.variants(name), (1, 3), (False, True)):
        out = poison(torch.empty_like(expected, memory_format=torch.contiguous_format))
        dynamic = [out] if is_dynamic else ()
        kernels.run(name, [*arguments, out], dynamic=dynamic, variant=variant, threads=threads)
        results.append(out)
    return results


def check_dynamic(kernels: Kernels, arguments: Sequence[Any]) -> None:
    """Checks that all results equal the definition bit for bit."""
    expected = dialect.dynamic_linear(*arguments)
    for out in run_all(kernels, DYNAMIC, arguments, expected):
        assert_equal(out, expected, rtol=0, atol=0)


def real(weight: torch.Tensor, scales: torch.Tensor, depth: int) -> torch.Tensor:
    """The weight in float64."""
    wide = dialect.numbers(weight, depth).double()
    scales = scales.double().reshape(1, 1) if scales.numel() == 1 else scales.double().reshape(len(wide), -1)
    return wide * scales.repeat_interleave(depth // scales.shape[1], 1)


@pytest.mark.parametrize("per_token", [False, True])
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_any_layer_with_ranges_found_in_the_run(kernels: Kernels, mapping: str, per_token: bool) -> None:
    for seed in range(150):
        low = random.Random(seed).choice([-128, -127])
        check_dynamic(kernels, [*drawn(seed), per_token, mapping, low, 127, EPSILON])


def test_any_layer_of_float_inputs(kernels: Kernels) -> None:
    for seed in range(300):
        input, weight, scales, bias = drawn(seed)
        wide = real(weight, scales, input.shape[-1])
        expected = torch.nn.functional.linear(input.double(), wide, None if bias is None else bias.double())
        # Every rounded value is smaller than the sum of all magnitudes.
        size = input.double().abs() @ wide.abs().T + (0 if bias is None else bias.abs())
        for out in run_all(kernels, WEIGHT_ONLY, [input, weight, scales, bias], expected.float()):
            assert ((out.double() - expected).abs() <= size * 2.0**-24 * (8 + input.shape[-1] ** 0.5)).all()


def test_elements_halfway_between_two_numbers_round_as_pytorch_rounds_them(kernels: Kernels) -> None:
    # The scale is exactly 1/4: every second element is halfway.
    input = torch.arange(-256, 255).float() / 8
    input = torch.cat([input, torch.tensor([-32.0, 31.75])]).reshape(1, -1)
    weight = torch.eye(input.shape[1], dtype=torch.int8)
    for mapping in MAPPINGS[:2]:
        check_dynamic(kernels, [input, weight, torch.ones(1), None, True, mapping, -128, 127, EPSILON])


def test_the_largest_group_does_not_overflow(kernels: Kernels) -> None:
    depth = (2**31 - 1) // (255 * 128)
    weight = torch.full((3, depth), -128, dtype=torch.int8)
    for sign in (1.0, -1.0):
        input = torch.full((2, depth), sign)
        check_dynamic(kernels, [input, weight, torch.ones(1), None, True, "asymmetric", -128, 127, EPSILON])


@pytest.mark.parametrize("shape", [(0, 8), (3, 0), (2, 0, 8)])
@pytest.mark.parametrize("per_token", [False, True])
def test_layers_of_nothing(kernels: Kernels, shape: Sequence[int], per_token: bool) -> None:
    weight = torch.ones(5, shape[-1], dtype=torch.int8)
    arguments = [torch.ones(shape), weight, torch.ones(5), torch.arange(5.0)]
    check_dynamic(kernels, [*arguments, per_token, "asymmetric", -128, 127, EPSILON])
    expected = dialect.weight_only_linear(*arguments)
    for out in run_all(kernels, WEIGHT_ONLY, arguments, expected):
        assert_equal(out, expected)


def test_no_features(kernels: Kernels) -> None:
    arguments = [torch.ones(3, 8), torch.ones(0, 8, dtype=torch.int8), torch.ones(0), None]
    check_dynamic(kernels, [*arguments, True, "symmetric", -128, 127, EPSILON])


def test_nan_reaches_what_was_quantized_with_its_range(kernels: Kernels) -> None:
    input = torch.ones(3, 40)
    input[1, 17] = torch.nan
    weight = random_tensor((9, 40), torch.int8)
    for variant in kernels.variants(DYNAMIC):
        for per_token, touched in ((True, [1]), (False, [0, 1, 2])):
            out = torch.empty(3, 9)
            arguments = [input, weight, torch.ones(9), None, per_token, "asymmetric", -128, 127, EPSILON, out]
            kernels.run(DYNAMIC, arguments, variant=variant)
            assert [i for i in range(3) if out[i].isnan().all()] == touched
            assert out.isnan().sum() == 9 * len(touched)


def test_rows_in_other_dim_orders(kernels: Kernels) -> None:
    for order in itertools.permutations(range(3)):
        input = with_dim_order(random_tensor((3, 4, 20), torch.float32), order)
        weight = random_tensor((6, 20), torch.int8)
        check_dynamic(kernels, [input, weight, torch.ones(6), None, True, "nearer_end", -128, 127, EPSILON])


def layer(**changed: Any) -> list[Any]:
    """Arguments of a small layer, some of them changed."""
    return list(
        {
            "input": torch.ones(3, 8),
            "weight": torch.ones(5, 8, dtype=torch.int8),
            "weight_scales": torch.ones(5, 2),
            "bias": torch.ones(5),
            "per_token": True,
            "mapping": "asymmetric",
            "low": -128,
            "high": 127,
            "least_scale": EPSILON,
            **changed,
        }.values()
    )


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"input": torch.ones(())}, "input: expected rank 1 at least, got 0"),
        ({"input": torch.ones(3, 9)}, "weight: expected 9 columns for 9 input features, got 8"),
        ({"weight": torch.ones(5, 8, dtype=torch.uint8)}, "weight: expected 4 columns for 8 input features"),
        ({"weight": torch.ones(5, 8)}, "weight: expected dtype int8, or uint8 with two values a byte"),
        ({"weight": torch.ones(1, 5, 8, dtype=torch.int8)}, "weight: expected rank 2, got 3"),
        (
            {"weight_scales": torch.ones(5, 3)},
            "weight_scales: expected groups that divide 8 input features, got 3",
        ),
        (
            {"weight_scales": torch.ones(5, 0)},
            "weight_scales: expected groups that divide 8 input features, got 0",
        ),
        ({"weight_scales": torch.ones(4)}, "weight_scales: expected one, or a row for each of 5 features"),
        ({"weight_scales": torch.ones(5).double()}, "weight_scales: expected dtype float32"),
        (
            {"weight": torch.ones(5, 4, dtype=torch.uint8), "weight_scales": torch.ones(5, 8)},
            "weight_scales: expected groups of an even number of weights, got one of 1",
        ),
        ({"bias": torch.ones(4)}, "bias: expected 5 elements, got 4"),
        ({"bias": torch.ones(5).int()}, "bias: expected dtype float32"),
        (
            {"mapping": "nearest"},
            "mapping: expected asymmetric, nearer_end, symmetric or xnnpack, got nearest",
        ),
        ({"low": 1}, "low, high: expected an int8 range with 0, got 1 to 127"),
        ({"high": 128}, "low, high: expected an int8 range with 0, got -128 to 128"),
        ({"least_scale": 0.0}, "least_scale: expected a normal float32 above 0"),
        ({"least_scale": float("nan")}, "least_scale: expected a normal float32 above 0"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(kernels: Kernels, changed: dict[str, Any], error: str) -> None:
    refused = kernels.refuse(DYNAMIC, *layer(**changed), outs=[torch.empty(3, 5)])
    assert error in refused.log[0]


def test_a_group_of_more_products_than_32_bits_hold_is_refused(kernels: Kernels) -> None:
    depth = (2**31 - 1) // (255 * 128) + 1
    arguments = [torch.ones(1, depth), torch.ones(1, depth, dtype=torch.int8), torch.ones(1), None]
    refused = kernels.refuse(
        DYNAMIC, *arguments, True, "symmetric", -128, 127, EPSILON, outs=[torch.empty(1, 1)]
    )
    assert "expected at most 65793 products in a group" in refused.log[0]
