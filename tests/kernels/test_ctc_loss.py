# SPDX-License-Identifier: BSD-3-Clause
"""The connectionist temporal classification loss against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import Kernels, assert_equal, poison, with_dim_order

NAME = "aten::_ctc_loss.out"
INPUT_LENGTHS, TARGET_LENGTHS = [12, 9, 1, 0, 2], [4, 3, 0, 0, 4]


def log_probs(dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(12, 5, 6, generator=generator, dtype=torch.float64).log_softmax(2).to(dtype)


def targets() -> torch.Tensor:
    return torch.tensor([[1, 2, 2, 5], [4, 4, 1, 3], [1, 2, 3, 4], [5, 5, 5, 5], [1, 1, 2, 3]])


def check(kernels: Kernels, name: str, *arguments: Any) -> None:
    expected = torch.ops.aten._ctc_loss(*arguments)
    outs = [poison(torch.empty_like(value)) for value in expected]
    kernels.run(name, [*arguments, *outs], dynamic=outs)
    assert_equal(outs[0], expected[0], rtol=1e-5, atol=1e-5)
    for sample, (times, labels) in enumerate(zip(INPUT_LENGTHS, TARGET_LENGTHS, strict=True)):
        # PyTorch leaves the elements beyond a sample's lengths undefined.
        alphas = [value[1][sample, :times, : 2 * labels + 1] for value in (outs, expected)]
        assert_equal(*alphas, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
def test_losses(kernels: Kernels, dtype: torch.dtype, index_dtype: torch.dtype) -> None:
    values, labels = log_probs(dtype), targets().to(index_dtype)
    joined = torch.cat([row[:count] for row, count in zip(labels, TARGET_LENGTHS, strict=True)])
    for given in [labels, joined]:
        check(kernels, NAME, values, given, INPUT_LENGTHS, TARGET_LENGTHS, 0, False)
        lengths = [torch.tensor(INPUT_LENGTHS), torch.tensor(TARGET_LENGTHS)]
        check(kernels, "aten::_ctc_loss.Tensor_out", values, given, *lengths, 0, False)


def test_another_blank_and_another_dim_order(kernels: Kernels) -> None:
    moved = with_dim_order(log_probs(torch.float32), [1, 2, 0])
    check(kernels, NAME, moved, targets() - 1, INPUT_LENGTHS, TARGET_LENGTHS, 5, True)


def refused(kernels: Kernels, **changed: Any) -> str:
    given = {
        "log_probs": log_probs(torch.float32),
        "targets": targets(),
        "input_lengths": INPUT_LENGTHS,
        "target_lengths": TARGET_LENGTHS,
        "blank": 0,
    } | changed
    outs = [torch.empty(5), torch.empty(5, 12, 9)]
    return kernels.refuse(NAME, *given.values(), outs=outs).log[0]


def test_what_is_refused(kernels: Kernels) -> None:
    assert "blank" in refused(kernels, blank=6)
    assert "input_lengths" in refused(kernels, input_lengths=[13, 9, 1, 0, 2])
    assert "target_lengths" in refused(kernels, target_lengths=[5, 3, 0, 0, 4])
    assert "target_lengths" in refused(kernels, targets=torch.ones(10, dtype=torch.int64))
    assert "lengths" in refused(kernels, input_lengths=[12])
    assert "targets" in refused(kernels, targets=torch.ones(4, 4, dtype=torch.int64))
    assert "6" in refused(kernels, targets=torch.full((11,), 6))
