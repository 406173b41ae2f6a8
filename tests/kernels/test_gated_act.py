# SPDX-License-Identifier: BSD-3-Clause
"""Gated activations against torch eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from support.harness import KernelRefused, Kernels, assert_equal, poison, random_tensor, with_dim_order

NAME = "rushlight::gated_act.out"

ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "none": lambda x: x,
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(
    "shape", [(2, 3, 74), (2,), (1, 5, 4100), (3000, 2), (0, 6), (4, 0), (1, 1, 3072), (2, 1, 2, 3, 10)]
)
def test_the_first_half_gates_the_second(kernels: Kernels, activation: str, shape: tuple[int, ...]) -> None:
    values = random_tensor(shape, torch.float32, low=-6, high=6)
    gate, up = values.double().chunk(2, -1)
    expected = (ACTIVATIONS[activation](gate) * up).float()
    for variant in kernels.variants(NAME):
        for threads in (1, 3):
            out = poison(torch.empty(expected.shape))
            dynamic = [out] if threads == 1 else []
            kernels.run(NAME, [values, activation, out], dynamic=dynamic, variant=variant, threads=threads)
            # The tolerance of torch.testing: errors of gelu grow with both factors.
            assert_equal(out, expected, rtol=1.3e-6, atol=1e-5)


@pytest.mark.parametrize(
    ("changed", "error", "named"),
    [
        ({0: torch.zeros(2, 7)}, "InvalidArgument", "input: expected an even last size, got 7"),
        ({0: torch.zeros(())}, "InvalidArgument", "input: expected at least 1 dimension, got 0"),
        ({0: torch.zeros(2, 6).half()}, "InvalidType", "input: expected float32, got float16"),
        ({0: with_dim_order(torch.zeros(2, 6), [1, 0])}, "InvalidArgument", "input: expected row-major"),
        ({1: "relu7"}, "InvalidArgument", "activation: expected one of none, clamp"),
        ({1: "clamp"}, "InvalidArgument", "activation: expected one without parameters, got 'clamp'"),
        ({2: torch.zeros(2, 4)}, "InvalidArgument", "out"),
        ({2: torch.zeros(2, 3).double()}, "InvalidType", "out: expected float32, got float64"),
    ],
)
def test_what_does_not_fit_is_refused(
    kernels: Kernels, changed: dict[int, Any], error: str, named: str
) -> None:
    arguments: list[Any] = [torch.zeros(2, 6), "silu", torch.zeros(2, 3)]
    for position, value in changed.items():
        arguments[position] = value
    with pytest.raises(KernelRefused) as caught:
        kernels.run(NAME, arguments)
    assert caught.value.error == error and any(named in line for line in caught.value.log)


def test_a_result_over_the_input_is_refused(kernels: Kernels) -> None:
    values = random_tensor((2, 6), torch.float32)
    with pytest.raises(KernelRefused, match="memory that the call does not write"):
        kernels.run(NAME, [values, "silu", values.flatten()[6:].view(2, 3)])
