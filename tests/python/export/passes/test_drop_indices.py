# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

import rushlight
from rushlight.export.passes import PassContext
from rushlight.export.passes.drop_indices import DropIndices
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from rushlight.program import read_program
from support.graphs import LIBRARY, apply, assert_same, core_aten, operators

X = torch.randn(2, 5, 12, 16)
POOLS = {
    "max pool": lambda x: functional.max_pool2d(x, 3, 2, 1),
    "ceil_mode and dilation": lambda x: functional.max_pool2d(x, 3, 2, 1, 2, ceil_mode=True),
    "adaptive, in equal parts": lambda x: functional.adaptive_max_pool2d(x, (3, 8)),
    "one pixel": lambda x: functional.adaptive_max_pool2d(x, 1),
    "without a batch": lambda x: functional.max_pool2d(x[0], 2),
    "two readers": lambda x: functional.max_pool2d(x, 2).relu() + functional.max_pool2d(x, 2),
}
KEPT = {
    "indices are an output": lambda x: functional.max_pool2d(x, 2, return_indices=True),
    "only indices": lambda x: functional.max_pool2d(x, 2, return_indices=True)[1],
    "unequal parts": lambda x: functional.adaptive_max_pool2d(x, (5, 8)),
}


@pytest.mark.parametrize("name", POOLS)
def test_indices_that_nobody_reads_are_not_computed(name: str) -> None:
    program = core_aten(POOLS[name], (X,))
    assert apply(program, DropIndices(), RemoveDeadCode())
    found = operators(program)
    assert "max_pool2d" in found and not any("indices" in each or "adaptive" in each for each in found)
    assert_same(program, POOLS[name], X)


@pytest.mark.parametrize("name", KEPT)
def test_other_pools_stay(name: str) -> None:
    program = core_aten(KEPT[name], (X,))
    assert not apply(program, DropIndices())
    assert_same(program, KEPT[name], X)


def test_a_build_without_the_operator_keeps_the_indices() -> None:
    program = core_aten(POOLS["max pool"], (X,))
    assert not DropIndices().run(program, PassContext(LIBRARY.without("rushlight::max_pool2d.out")))


@pytest.mark.parametrize("last", [False, True])
def test_programs_give_the_values_of_eager(last: bool) -> None:
    class Pools(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return functional.max_pool2d(functional.max_pool2d(x, 3, 1, 1).relu(), 2)

    x = X.contiguous(memory_format=torch.channels_last) if last else X
    exported = rushlight.export.export(Pools().eval(), (x,))
    called = read_program(exported.buffer).method("forward").operators
    assert "rushlight::max_pool2d.out" in called and "aten::max_pool2d_with_indices.out" not in called
    (result,) = rushlight.load(exported.buffer).forward(x)
    assert torch.equal(torch.as_tensor(result), Pools()(x))
