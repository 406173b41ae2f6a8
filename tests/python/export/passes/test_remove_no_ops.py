# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
import torch
from torch import nn

from rushlight.export.passes.remove_no_ops import RemoveNoOps
from support.graphs import apply, assert_same, core_aten, operators

X = torch.randn(2, 3, 4)

NOTHING = {
    "clone": lambda x: x.clone(),
    "detach": lambda x: x.detach(),
    "contiguous": lambda x: x.contiguous(),
    "cast to the same dtype": lambda x: x.to(torch.float32),
    "copying cast to the same dtype": lambda x: x.to(torch.float32, copy=True),
    "expand to the same sizes": lambda x: x.expand(2, 3, 4),
    "view of the same sizes": lambda x: x.view(2, -1, 4),
    "identity permute": lambda x: x.permute(0, -2, 2),
    "transpose of a dimension with itself": lambda x: x.transpose(1, -2),
    "whole slice": lambda x: x[:, 0:3],
    "repeat once": lambda x: x.repeat(1, 1, 1),
    "cat of one": lambda x: torch.cat([x], 1),
    "dropout": lambda x: nn.functional.dropout(x, 0.5, training=False),
    "native dropout": lambda x: torch.native_dropout(x, 0.5, False)[0],
    "squeeze of no size one": lambda x: x.squeeze(),
    "padding by nothing": lambda x: torch.constant_pad_nd(x, [0, 0, 0, 0], 1.0),
    "flip of no dimension": lambda x: x.flip([]),
    "roll by nothing": lambda x: x.roll(0, 1),
    "write over everything": lambda x: torch.zeros(2, 3, 4).copy_(x),
    "slice scatter over everything": lambda x: torch.slice_scatter(torch.zeros(2, 3, 4), x, 1),
}


@pytest.mark.parametrize("name", NOTHING)
def test_an_operator_that_changes_nothing_is_removed(name: str) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(NOTHING[name](torch.exp(x)))

    program = core_aten(function, (X,))
    apply(program, RemoveNoOps())
    assert [name for name in operators(program) if name not in ("full", "native_dropout")] == ["exp", "sin"]
    assert_same(program, function, X)


CHANGES = {
    "cast": lambda x: x.to(torch.float64),
    "permute of equal sizes": lambda x: x.permute(1, 0),
    "expand": lambda x: x[:1].expand(3, 3),
    "step": lambda x: x[::2],
    "padding that cuts": lambda x: torch.constant_pad_nd(x, [1, -1], 1.0),
    "cat of two": lambda x: torch.cat([x, x]),
    "view of other sizes": lambda x: x.view(9),
    "roll": lambda x: x.roll(1, 0),
    "write that casts": lambda x: torch.zeros(3, 3, dtype=torch.int32).copy_(x),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_operator_that_changes_something_stays(name: str) -> None:
    x = torch.arange(9.0).view(3, 3)
    program = core_aten(CHANGES[name], (x,))
    before = operators(program)
    apply(program, RemoveNoOps())
    assert operators(program) == before
    assert_same(program, CHANGES[name], x)


def test_an_output_may_become_an_input() -> None:
    program = core_aten(lambda x: (x.clone(), x.detach().clone()), (X,))
    assert apply(program, RemoveNoOps())
    assert operators(program) == []
    assert [spec.arg.name for spec in program.graph_signature.output_specs] == ["args_0", "args_0"]


def test_sizes_that_are_the_same_symbol_count_as_the_same() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x.expand(x.shape[0], 4).view(-1, 4)[: x.shape[0]])

    batch = torch.export.Dim("batch", max=8)
    program = core_aten(function, (torch.randn(3, 4),), ({0: batch},))
    apply(program, RemoveNoOps())
    assert [name for name in operators(program) if name != "sym_size"] == ["sin"]
    assert_same(program, function, torch.randn(5, 4))


def test_copies_between_memory_formats_stay() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.to(memory_format=torch.channels_last).sin().contiguous()

    program = core_aten(function, (torch.randn(1, 3, 4, 4),))
    assert not apply(program, RemoveNoOps())
    assert operators(program) == ["_to_copy", "sin", "clone"]


def test_a_copy_in_a_branch_is_removed() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y.clone().sin(), lambda y: y.cos().clone(), (x,))

    program = core_aten(function, (X,))
    apply(program, RemoveNoOps())
    inner = [m for n, m in program.graph_module.named_modules() if n]
    assert [[n.name for n in m.graph.nodes if n.op == "call_function"] for m in inner] == [["sin"], ["cos"]]
    assert_same(program, function, X)
    assert_same(program, function, -X)
