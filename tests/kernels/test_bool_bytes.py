# SPDX-License-Identifier: BSD-3-Clause
"""A program may have any bytes where it says that booleans are: what is not 0 is true."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import Kernels

BYTES = torch.tensor([0, 1, 2, 3, 127, 128, 254, 255, 0, 64], dtype=torch.uint8)
FALSE = torch.zeros(10, dtype=torch.bool)

CALLS: list[tuple[str, list[Any], torch.dtype]] = [
    ("aten::_to_copy.out", [False, None], torch.int32),
    ("aten::add.out", [FALSE, 1], torch.float32),
    ("aten::bitwise_or.Tensor_out", [FALSE], torch.int32),
    ("aten::eq.Tensor_out", [torch.ones(10, dtype=torch.bool)], torch.bool),
    ("aten::logical_not.out", [], torch.bool),
    ("aten::ne.Tensor_out", [FALSE], torch.bool),
    ("aten::sum.IntList_out", [[0], True, None], torch.int64),
    ("aten::any.out", [0, True], torch.bool),
]


@pytest.mark.parametrize(("name", "rest", "dtype"), CALLS, ids=[call[0] for call in CALLS])
def test_any_byte_but_zero_is_true(kernels: Kernels, name: str, rest: list[Any], dtype: torch.dtype) -> None:
    results = []
    for values in (BYTES.view(torch.bool), BYTES != 0):
        size = 1 if "sum" in name or "any" in name else 10
        out = torch.zeros(size, dtype=dtype)
        kernels.run(name, [values, *rest, out])
        results.append(out.view(torch.uint8) if dtype == torch.bool else out)
    assert torch.equal(*results)
    assert results[0].any()


def test_a_condition_of_any_bytes_chooses(kernels: Kernels) -> None:
    ones, twos, out = torch.ones(10), torch.full((10,), 2.0), torch.zeros(10)
    kernels.run("aten::where.self_out", [BYTES.view(torch.bool), ones, twos, out])
    assert torch.equal(out, torch.where(BYTES != 0, ones, twos))
