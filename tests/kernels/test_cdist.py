# SPDX-License-Identifier: BSD-3-Clause
"""Distances between rows, against torch."""

from __future__ import annotations

import pytest
import torch

from support.harness import Kernels, assert_equal, random_tensor

NAME = "aten::_cdist_forward.out"
NORMS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", NORMS)
def test_every_norm(kernels: Kernels, dtype: torch.dtype, p: float) -> None:
    a, b = random_tensor((4, 5), dtype, seed=1), random_tensor((6, 5), dtype, seed=2)
    b[0] = a[0]
    kernels.check(NAME, a, b, p, 2, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((3, 2), (4, 2)),
        ((2, 3, 2), (2, 4, 2)),
        ((2, 3, 2), (4, 2)),
        ((5, 1, 3, 2), (2, 4, 2)),
        ((0, 3), (2, 3)),
        ((2, 0), (3, 0)),
        ((1, 1), (1, 1)),
    ],
)
def test_batches(kernels: Kernels, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    a, b = random_tensor(first, torch.float32, seed=1), random_tensor(second, torch.float32, seed=2)
    kernels.check(NAME, a, b, 2.0, None, rtol=1e-5, atol=1e-5, eager=lambda a, b, p, _: torch.cdist(a, b, p))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("p", NORMS)
def test_short_floats_are_computed_in_float(kernels: Kernels, dtype: torch.dtype, p: float) -> None:
    a, b = random_tensor((4, 5), dtype, seed=1), random_tensor((6, 5), dtype, seed=2)
    out = torch.zeros(4, 6, dtype=dtype)
    kernels.run(NAME, [a, b, p, None, out])
    assert_equal(out, torch.cdist(a.float(), b.float(), p).to(dtype))


def test_nan_is_passed_on_as_torch_does(kernels: Kernels) -> None:
    a = torch.tensor([[1.0, float("nan"), 2.0]])
    for p in NORMS:
        kernels.check(NAME, a, torch.zeros(2, 3), p, 2)


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        (torch.zeros(3, 2), torch.zeros(3, 4), 2.0),
        (torch.zeros(3), torch.zeros(3, 3), 2.0),
        (torch.zeros(3, 2), torch.zeros(3, 2), -1.0),
        (torch.zeros(2, 3, 2), torch.zeros(3, 3, 2), 2.0),
        (torch.zeros(3, 2), torch.zeros(3, 2, dtype=torch.float64), 2.0),
    ],
)
def test_what_has_no_distances_is_refused(
    kernels: Kernels, a: torch.Tensor, b: torch.Tensor, p: float
) -> None:
    kernels.refuse(NAME, a, b, p, None, outs=[torch.zeros(3, 3)])


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_distances_within_one_tensor(kernels: Kernels, dtype: torch.dtype, p: float) -> None:
    self = random_tensor((5, 4), dtype)
    kernels.check("aten::_pdist_forward.out", self, p)
    kernels.check("aten::_pdist_forward.out", self.half(), p, eager=_wide_pdist, rtol=2e-3)
    for shape in ((0, 3), (1, 3), (3, 0)):
        kernels.check("aten::_pdist_forward.out", torch.zeros(shape, dtype=dtype), p)


def _wide_pdist(self: torch.Tensor, p: float) -> torch.Tensor:
    return torch.ops.aten._pdist_forward(self.double(), p).half()


def test_distances_within_one_tensor_are_refused(kernels: Kernels) -> None:
    name, out = "aten::_pdist_forward.out", torch.zeros(3)
    kernels.refuse(name, torch.zeros(3), outs=[out])
    kernels.refuse(name, torch.zeros(3, 2), -1.0, outs=[out])
    kernels.refuse(name, torch.zeros(3, 2).int(), outs=[out])
    kernels.refuse(name, torch.zeros(3, 2), outs=[out.double()])
    kernels.refuse(name, torch.zeros(4, 2), outs=[out])
