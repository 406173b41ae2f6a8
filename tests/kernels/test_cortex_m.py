# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the official Cortex-M backend against its own Python reference, to the last bit."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from support import cortex_m
from support.cortex_m import CALLS, Draw, reference
from support.harness import KernelRefused, Kernels, assert_equal, dim_order, poison, with_dim_order

CALLS_EACH = 60


def check(kernels: Kernels, name: str, arguments: list[Any], expected: torch.Tensor) -> None:
    """All ways to call the kernel, with one thread and with more, static and dynamic results."""
    full = f"cortex_m::{name}.out"
    for way, threads, is_dynamic in itertools.product(kernels.ways(full), (1, 3), (False, True)):
        out = poison(with_dim_order(torch.empty(expected.shape, dtype=expected.dtype), dim_order(expected)))
        dynamic = [out] if is_dynamic else ()
        kernels.run(full, [*arguments, out], dynamic=dynamic, way=way, threads=threads)
        assert_equal(out, expected)


@pytest.mark.parametrize("name", CALLS)
def test_any_call_gives_the_bytes_of_the_reference(kernels: Kernels, name: str) -> None:
    for seed in range(CALLS_EACH):
        arguments = CALLS[name](Draw(seed))
        check(kernels, name, arguments, reference(name, arguments))
