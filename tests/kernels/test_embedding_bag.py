# SPDX-License-Identifier: BSD-3-Clause
"""Bags of embeddings, and embeddings with bounded norms, against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import FLOATING, Kernels, random_tensor

OPERATORS = ["aten::_embedding_bag.out", "aten::_embedding_bag_forward_only.out"]
INDICES = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9])


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("padding", [-1, 2])
@pytest.mark.parametrize("dtype", FLOATING)
def test_bags_of_every_mode(kernels: Kernels, name: str, mode: int, padding: int, dtype: torch.dtype) -> None:
    weight = random_tensor((10, 3), dtype)
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if dtype.itemsize == 2 else {}
    for offsets, last in [([0, 4, 4], False), ([0, 4, 4, 8], True), ([0], False)]:
        given = [INDICES, torch.tensor(offsets), False, mode, False, None, last, padding]
        kernels.check(name, weight, *given, **tolerance)


@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
def test_weights_of_samples(kernels: Kernels, index_dtype: torch.dtype) -> None:
    weight, scales = random_tensor((10, 3), torch.float32), random_tensor((8,), torch.float32, seed=1)
    given = [INDICES.to(index_dtype), torch.tensor([0, 3], dtype=index_dtype), False, 0, False, scales]
    kernels.check(OPERATORS[0], weight, *given)


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_bags_without_members(kernels: Kernels, mode: int) -> None:
    none = torch.tensor([], dtype=torch.int64)
    kernels.check(OPERATORS[0], torch.ones(4, 3), none, torch.tensor([0, 0]), False, mode)


def refused(kernels: Kernels, indices: list[int], offsets: list[int], **given: Any) -> str:
    outs = [torch.empty(2, 3), *(torch.empty(2, dtype=torch.int64) for _ in range(3))]
    arguments = [torch.ones(10, 3), torch.tensor(indices), torch.tensor(offsets)]
    return kernels.refuse(OPERATORS[0], *arguments, outs=outs, **given).log[0]


def test_bags_that_are_refused(kernels: Kernels) -> None:
    assert "offsets" in refused(kernels, [1, 2], [1, 2])
    assert "offsets" in refused(kernels, [1, 2], [0, 3])
    assert "offsets" in refused(kernels, [1, 2, 3], [0, 2, 1])
    assert "10" in refused(kernels, [1, 10], [0, 1])
    assert "-1" in refused(kernels, [1, -1], [0, 1])
    assert "mode" in refused(kernels, [1, 2], [0, 1], mode=3)
    assert "per_sample_weights" in refused(kernels, [1, 2], [0, 1], mode=1, per_sample_weights=torch.ones(2))
    assert "per_sample_weights" in refused(kernels, [1, 2], [0, 1], per_sample_weights=torch.ones(3))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("norm", [0.0, 1.0, 2.0, float("inf"), float("-inf")])
def test_norms_that_are_too_large(kernels: Kernels, norm: float, dtype: torch.dtype) -> None:
    weight, indices = random_tensor((10, 3), dtype), torch.tensor([[1, 2], [1, 9]])
    tolerance = {"rtol": 1e-2, "atol": 1e-2} if dtype.itemsize == 2 else {"rtol": 3e-6, "atol": 1e-6}
    kernels.check("aten::embedding_renorm.out", weight, indices, 2.5, norm, **tolerance)
    kernels.refuse("aten::embedding_renorm.out", weight, torch.tensor([10]), 2.5, norm, outs=[weight.clone()])
