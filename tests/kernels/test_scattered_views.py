# SPDX-License-Identifier: BSD-3-Clause
"""diagonal_scatter and as_strided_scatter against torch."""

from __future__ import annotations

import pytest
import torch

from support.harness import ALL, Kernels, random_tensor


@pytest.mark.parametrize("offset", [0, 1, -1, 2, -2, 4, -3, 9, -9, 2**62, -(2**63)])
def test_any_diagonal(kernels: Kernels, offset: int) -> None:
    self = random_tensor((3, 4, 2), torch.float32)
    for dims in ((0, 1), (1, 0), (2, 0), (-1, 1)):
        small = max(min(offset, 9), -9)
        src = random_tensor(self.diagonal(small, *dims).shape, torch.float32, seed=1)
        kernels.check(
            "aten::diagonal_scatter.out",
            self,
            src,
            offset,
            *dims,
            eager=lambda x, y, _, *d, near=small: torch.diagonal_scatter(x, y, near, *d),
        )


@pytest.mark.parametrize("dtype", [*ALL, torch.complex64], ids=str)
def test_views_of_every_dtype(kernels: Kernels, dtype: torch.dtype) -> None:
    self, src = torch.ones(3, 4).to(dtype), torch.zeros(3).to(dtype)
    kernels.check("aten::diagonal_scatter.out", self, src)
    kernels.check("aten::as_strided_scatter.out", self, src, [3], [4], 1)


def test_scattered_views_are_refused(kernels: Kernels) -> None:
    self, out = torch.zeros(3, 4), torch.zeros(3, 4)
    name = "aten::diagonal_scatter.out"
    kernels.refuse(name, self, torch.zeros(4), outs=[out])
    kernels.refuse(name, self, torch.zeros(3), 0, 1, 1, outs=[out])
    kernels.refuse(name, self, torch.zeros(3), 0, 0, 2, outs=[out])
    kernels.refuse(name, torch.zeros(3), torch.zeros(3), outs=[out])
    name = "aten::as_strided_scatter.out"
    kernels.refuse(name, self, torch.zeros(3), [3], [6], outs=[out])
    kernels.refuse(name, self, torch.zeros(2), [3], [4], outs=[out])
    kernels.refuse(name, self, torch.zeros(3), [3], [4], 5, outs=[out])
    kernels.refuse(name, self, torch.zeros(3), [3], [-1], 5, outs=[out])
