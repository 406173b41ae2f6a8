# SPDX-License-Identifier: BSD-3-Clause
"""_unique2, unique_dim and unique_consecutive against torch."""

from __future__ import annotations

import pytest
import torch

from support.harness import ALL, Kernels, random_tensor

NAN = float("nan")


def _few(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return random_tensor(shape, torch.int64, low=0, high=3).to(dtype)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_different_elements_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    self = _few((4, 6), dtype)
    for inverse, counts in [(False, False), (True, False), (False, True), (True, True)]:
        kernels.check("aten::_unique2.out", self, True, inverse, counts)
        kernels.check("aten::unique_consecutive.out", self, inverse, counts)
    kernels.check("aten::unique_dim.out", self, 1)
    kernels.check("aten::unique_consecutive.out", _few((20, 2), dtype), True, True, 0)


def test_slices_of_any_dimension(kernels: Kernels) -> None:
    self = _few((3, 40, 2), torch.float32)
    for dim in (0, 1, 2, -1):
        kernels.check("aten::unique_dim.out", self, dim)
    kernels.check("aten::unique_consecutive.out", torch.tensor([1, 1, 2, 1]), False, True, 0)
    kernels.check("aten::unique_consecutive.out", torch.tensor([1, 1, 2, 1]), False, False, -1)


def test_different_elements_at_the_edges(kernels: Kernels) -> None:
    for self in (torch.zeros(0), torch.tensor(3.0), torch.tensor([0.0, -0.0]), torch.tensor([2**63 - 1, -1])):
        kernels.check("aten::_unique2.out", self, True, True, True)
    top = torch.tensor([2**64 - 1, 1, 2**63], dtype=torch.uint64)
    kernels.check("aten::_unique2.out", top, True, True, True)
    values, inverse, counts = torch.zeros(3), torch.zeros(4, dtype=torch.int64), torch.zeros(3).long()
    kernels.run(
        "aten::_unique2.out",
        [torch.tensor([NAN, 1.0, NAN, 1.0]), True, True, True, values, inverse, counts],
        dynamic=[values, counts],
    )
    assert values[0] == 1 and values[1:].isnan().all() and counts.tolist() == [2, 1, 1]


def test_what_differs_is_refused(kernels: Kernels) -> None:
    none = torch.zeros(0, dtype=torch.int64)
    name, self = "aten::_unique2.out", torch.tensor([1.0, 2.0])
    kernels.refuse(name, self, outs=[torch.zeros(2).double(), none, none])
    kernels.refuse(name, self, outs=[torch.zeros(2), none.int(), none])
    kernels.refuse(name, self, outs=[torch.zeros(1), none, none])
    kernels.refuse("aten::unique_dim.out", self, 1, outs=[torch.zeros(2), none, none])
    with pytest.raises(Exception, match="out of scratch memory"):
        kernels.run(name, [self, True, False, False, torch.zeros(2), none, none], temporary_bytes=0)
