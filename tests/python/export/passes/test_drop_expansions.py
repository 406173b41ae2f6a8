# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
import torch

from rushlight.export.passes.drop_expansions import DropExpansions
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import apply, assert_same, core_aten, operators

X, ROW = torch.randn(2, 3, 4), torch.randn(1, 4)

DROPPED = {
    "second operand": lambda x, r: x + r.expand(3, 4),
    "first operand": lambda x, r: r.expand(2, 3, 4) - x,
    "condition": lambda x, r: torch.where((r > 0).expand(2, 3, 4), x, 0.0),
    "both, of which one brings the sizes": lambda x, r: x.expand(2, 3, 4) * r.expand(3, 4),
}


@pytest.mark.parametrize("name", DROPPED)
def test_an_expansion_before_an_operator_that_broadcasts_goes(name: str) -> None:
    program = core_aten(DROPPED[name], (X, ROW))
    assert apply(program, DropExpansions(), RemoveDeadCode())
    assert "expand_copy" not in operators(program)
    assert_same(program, DROPPED[name], X, ROW)


KEPT = {
    "nobody else brings the sizes": lambda x, r: r.expand(3, 4) * 2,
    "both lack the same size": lambda x, r: r.expand(3, 4) + r.sin().expand(3, 4),
    "no broadcasting": lambda x, r: torch.bmm(x, r.expand(2, 4, 4)),
    "promotion": lambda x, r: x.int() + r.sum().expand(2, 3, 4),
}


@pytest.mark.parametrize("name", KEPT)
def test_an_expansion_that_matters_stays(name: str) -> None:
    program = core_aten(KEPT[name], (X, ROW))
    before = operators(program).count("expand_copy")
    apply(program, DropExpansions(), RemoveDeadCode())
    kept = operators(program).count("expand_copy")
    assert 1 <= kept <= before
    assert_same(program, KEPT[name], X, ROW)


def test_a_filled_tensor_needs_one_element() -> None:
    def function(x: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
        return (
            torch.where(x > r, x, torch.zeros(2, 3, 4)),
            torch.ones(3, 4) + r,
            x.int() * torch.full((3, 4), 0.5),
        )

    program = core_aten(function, (X, ROW))
    apply(program, DropExpansions(), RemoveDeadCode())
    fills = [list(n.meta["val"].shape) for n in program.graph.nodes if "full" in str(n.target)]
    assert sorted(fills) == [[1, 1], [1, 1, 1], [3, 4]]
    assert_same(program, function, X, ROW)


def test_sizes_may_be_symbols() -> None:
    def function(x: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
        return x + r.expand(x.shape[0], 4)

    args = (torch.randn(3, 4), ROW)
    program = core_aten(function, args, ({0: torch.export.Dim("n", min=2, max=8)}, None))
    apply(program, DropExpansions(), RemoveDeadCode())
    assert [name for name in operators(program) if name != "sym_size"] == ["add"]
    assert_same(program, function, torch.randn(7, 4), ROW)


def test_channels_last_programs_keep_them() -> None:
    image = torch.randn(1, 3, 4, 4).to(memory_format=torch.channels_last)
    program = core_aten(lambda x, r: x + r.expand(1, 3, 4, 4), (image, torch.randn(4)))
    assert not apply(program, DropExpansions())
