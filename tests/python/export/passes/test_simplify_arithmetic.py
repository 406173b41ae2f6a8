# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
import torch

from rushlight.export.passes.simplify_arithmetic import SimplifyArithmetic
from support.graphs import apply, assert_same, core_aten, operators

NEUTRAL = {
    "times one": lambda x: x * 1,
    "one times": lambda x: 1.0 * x,
    "by one": lambda x: x / 1,
    "plus zero": lambda x: x + 0.0,
    "zero plus": lambda x: 0 + x,
    "scaled zero": lambda x: torch.add(x, 0, alpha=3),
    "minus zero": lambda x: x - 0,
    "power of one": lambda x: x**1,
}


@pytest.mark.parametrize("name", NEUTRAL)
def test_a_neutral_number_changes_nothing(name: str) -> None:
    x = torch.randn(3)

    def function(x: torch.Tensor) -> torch.Tensor:
        return NEUTRAL[name](x.sin()).cos()

    program = core_aten(function, (x,))
    apply(program, SimplifyArithmetic())
    assert operators(program) == ["sin", "cos"]
    assert_same(program, function, x)


OTHERS = {
    "integers to floats": (lambda x: x * 1.0, torch.tensor([1, 2])),
    "integers divided": (lambda x: x / 1, torch.tensor([1, 2])),
    "bool to integers": (lambda x: x + 0, torch.tensor([True, False])),
    "times zero": (lambda x: x * 0, torch.randn(3)),
    "subtracted from zero": (lambda x: 0 - x, torch.randn(3)),
    "a tensor of ones": (lambda x: x * torch.ones(3, 3), torch.randn(3)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_arithmetic_stays(name: str) -> None:
    function, x = OTHERS[name]
    program = core_aten(function, (x,))
    assert not apply(program, SimplifyArithmetic())
    assert_same(program, function, x)
