# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import torch

from rushlight.export.passes.full_by_sizes import FullBySizes
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import apply, assert_same, core_aten, operators

X = torch.randn(2, 3)


def test_a_filled_tensor_waits_for_no_other() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x + torch.full_like(x.sin(), 2.0)

    program = core_aten(function, (X,))
    assert apply(program, FullBySizes(), RemoveDeadCode())
    assert operators(program) == ["full", "add"]
    assert_same(program, function, X)


def test_it_keeps_the_dtype() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.full_like(x, 2, dtype=torch.int16), torch.ones_like(x, dtype=torch.bool)

    program = core_aten(function, (X,))
    apply(program, FullBySizes())
    assert_same(program, function, X)


def test_sizes_that_are_symbols_come_from_the_tensor() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x + torch.zeros_like(x)

    program = core_aten(function, (X,), ({0: torch.export.Dim("n", min=2, max=8)},))
    assert not apply(program, FullBySizes())
    assert_same(program, function, torch.randn(5, 3))
