# SPDX-License-Identifier: BSD-3-Clause
"""segment_reduce and dist against torch."""

from __future__ import annotations

import pytest
import torch

from support.harness import FLOATING, Kernels, random_tensor

NAME = "aten::segment_reduce.out"


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_segments_of_every_dtype(kernels: Kernels, dtype: torch.dtype, reduce: str) -> None:
    data = random_tensor((6, 4), dtype, low=-2, high=2)
    rough = {"rtol": 2e-2, "atol": 2e-2} if dtype in (torch.float16, torch.bfloat16) else {}
    for index in (torch.int64, torch.int32):
        lengths = torch.tensor([1, 0, 3, 2], dtype=index)
        offsets = torch.tensor([0, 1, 1, 6], dtype=index)
        for initial in (None, 2):
            kernels.check(NAME, data, reduce, lengths=lengths, initial=initial, **rough)
            kernels.check(NAME, data, reduce, offsets=offsets, initial=initial, **rough)
    rows = torch.tensor([[1, 3]] * 6)
    kernels.check(NAME, data, reduce, lengths=rows, axis=1, **rough)
    kernels.check(NAME, data, reduce, lengths=torch.tensor([1, 2]), unsafe=True, **rough)


def test_segments_at_the_edges(kernels: Kernels) -> None:
    data = torch.tensor([1.0, float("nan"), 3.0])
    for reduce in ("max", "min", "sum"):
        kernels.check(NAME, data, reduce, lengths=torch.tensor([1, 2]))
    kernels.check(NAME, torch.zeros(3, 0), "sum", lengths=torch.tensor([1, 2]))


def test_segments_are_refused(kernels: Kernels) -> None:
    data, outs = torch.zeros(4), [torch.zeros(2)]
    for lengths in ([3, 2], [-1, 5], [2**40, 0]):
        kernels.refuse(NAME, data, "sum", lengths=torch.tensor(lengths), outs=outs)
    for offsets in ([0, 3, 2], [-1, 0, 4], [0, 1, 5]):
        kernels.refuse(NAME, data, "sum", offsets=torch.tensor(offsets), outs=outs)
    kernels.refuse(NAME, data, "sum", outs=outs)
    kernels.refuse(NAME, data, "median", lengths=torch.tensor([2, 2]), outs=outs)
    kernels.refuse(NAME, data, "sum", lengths=torch.tensor([[2, 2]]), outs=outs)
    kernels.refuse(NAME, data, "sum", lengths=torch.tensor([2.0, 2.0]), outs=outs)
    kernels.refuse(NAME, torch.tensor(1.0), "sum", lengths=torch.tensor([1]), outs=[torch.zeros(1)])


@pytest.mark.parametrize("p", [0, 1, 2, 3, float("inf"), float("-inf")])
@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_distance_of_two_tensors(kernels: Kernels, dtype: torch.dtype, p: float) -> None:
    rough = {"rtol": 1e-2} if dtype in (torch.float16, torch.bfloat16) else {}
    if rough:
        rough["atol"] = 1e-2
    self = random_tensor((3, 4), dtype)
    kernels.check("aten::dist.out", self, random_tensor((3, 4), dtype, seed=1), p, **rough)
    kernels.check("aten::dist.out", self, random_tensor((4,), dtype, seed=1), p, **rough)
    kernels.check("aten::dist.out", torch.ones(3), torch.zeros(2, 3).double(), p)
    kernels.refuse(
        "aten::dist.out", self, torch.zeros(5, dtype=dtype), p, outs=[torch.zeros((), dtype=dtype)]
    )
