# SPDX-License-Identifier: BSD-3-Clause
"""Scalar arguments must fit the dtype that they are used in, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import Kernels

TOO_LARGE: dict[torch.dtype, Any] = {
    torch.uint8: 256,
    torch.int8: -129,
    torch.int16: 32768,
    torch.int32: 1 << 31,
    torch.int64: 2.0**63,
    torch.float16: 65520.0,
    torch.bfloat16: 3.4e38,
    torch.float32: -3.41e38,
}
# For each operator the arguments before and after the scalar; "x" is a tensor of ones.
TAKE_A_NUMBER = {
    "aten::full.out": ([[2, 2]], []),
    "aten::full_like.out": (["x"], []),
    "aten::scalar_tensor.out": ([], []),
    "aten::add.out": (["x", "x"], []),
    "aten::sub.out": (["x", "x"], []),
    "aten::rsub.Scalar_out": (["x", 1], []),
    "aten::hardtanh.out": (["x"], [1]),
    "aten::masked_fill.Scalar_out": (["x", torch.ones(2, 2, dtype=torch.bool)], []),
    "aten::addmm.out": (["x", "x", "x"], [1]),
}
OF_FLOATING_TENSORS = {
    "aten::leaky_relu.out": (["x"], []),
    "aten::elu.out": (["x"], [1.0, 1.0]),
}
NAMED = {"aten::add.out": "alpha", "aten::sub.out": "alpha", "aten::addmm.out": "beta"}
CASES = [(name, dtype) for name in TAKE_A_NUMBER for dtype in TOO_LARGE]
CASES += [(name, dtype) for name in OF_FLOATING_TENSORS for dtype in TOO_LARGE if dtype.is_floating_point]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_a_number_that_the_dtype_cannot_hold_is_refused(
    kernels: Kernels, name: str, dtype: torch.dtype
) -> None:
    before, after = (TAKE_A_NUMBER | OF_FLOATING_TENSORS)[name]
    tensor = torch.ones(2, 2, dtype=dtype)
    out = torch.zeros(() if name == "aten::scalar_tensor.out" else (2, 2), dtype=dtype)
    arguments = [tensor if isinstance(a, str) else a for a in [*before, TOO_LARGE[dtype], *after]]
    if name in NAMED:
        plain = arguments[: len(before)]
        kernels.refuse(name, *plain, **{NAMED[name]: TOO_LARGE[dtype]}, outs=[out])
    else:
        kernels.refuse(name, *arguments, outs=[out])
    assert not out.any(), "the output was written"


@pytest.mark.parametrize("dtype", TOO_LARGE)
def test_bounds_that_the_dtype_cannot_hold_are_refused(kernels: Kernels, dtype: torch.dtype) -> None:
    x, out, bound = torch.ones(2, 2, dtype=dtype), torch.zeros(2, 2, dtype=dtype), TOO_LARGE[dtype]
    for bounds in [(bound, None), (None, bound), (bound, bound)]:
        kernels.refuse("aten::clamp.out", x, *bounds, outs=[out])


def test_infinite_numbers_fit_every_floating_dtype(kernels: Kernels) -> None:
    for dtype in [torch.float16, torch.bfloat16, torch.float32, torch.float64]:
        kernels.check("aten::clamp.out", torch.ones(3, dtype=dtype), -float("inf"), float("inf"))
        kernels.check("aten::full_like.out", torch.ones(3, dtype=dtype), float("inf"))
