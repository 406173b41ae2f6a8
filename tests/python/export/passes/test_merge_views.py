# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from rushlight.export.passes.merge_views import MergeViews
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import apply, assert_same, core_aten, operators

X = torch.randn(2, 3, 4)

MERGED: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], list[str]]] = {
    "views": (lambda x: x.view(6, 4).view(24).view(4, 6), ["view_copy"]),
    "view and back": (lambda x: x.view(6, 4).view(2, 3, 4), []),
    "unsqueeze and squeeze": (lambda x: x.unsqueeze(1).squeeze(1), []),
    "unsqueeze twice": (lambda x: x.unsqueeze(0).unsqueeze(-1), ["view_copy"]),
    "view and squeeze": (lambda x: x.view(1, 24).squeeze(0), ["view_copy"]),
    "permutations": (lambda x: x.permute(1, 2, 0).permute(1, 2, 0), ["permute_copy"]),
    "permutation and back": (lambda x: x.permute(1, 2, 0).permute(2, 0, 1), []),
    "transposes": (lambda x: x.transpose(0, 1).transpose(1, 2), ["permute_copy"]),
    "permutation of ones": (lambda x: x[:, :1].permute(1, 0, 2), ["slice_copy", "view_copy"]),
    "view of a permutation of ones": (
        lambda x: x.view(24, 1).t().view(4, 6),
        ["view_copy"],
    ),
    "expansions": (lambda x: x[:1].expand(5, 3, 4).expand(7, 5, 3, 4), ["slice_copy", "expand_copy"]),
    "casts": (lambda x: x.to(torch.float64).to(torch.float16), ["_to_copy"]),
    "cast and back": (lambda x: x.to(torch.float64).to(torch.float32), []),
}


@pytest.mark.parametrize("name", MERGED)
def test_a_chain_becomes_one(name: str) -> None:
    chain, expected = MERGED[name]

    def function(x: torch.Tensor) -> torch.Tensor:
        return chain(x.exp()).cos()

    program = core_aten(function, (X,))
    assert apply(program, MergeViews(), RemoveDeadCode())
    assert operators(program) == ["exp", *expected, "cos"]
    assert_same(program, function, X)


APART: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "view of a permutation": lambda x: x.permute(1, 0, 2).reshape(6, 4),
    "cast that rounds": lambda x: x.to(torch.float16).to(torch.float32),
    "cast that cuts": lambda x: x.to(torch.int32).to(torch.float32),
    "cast through bool": lambda x: x.to(torch.bool).to(torch.float32),
}


@pytest.mark.parametrize("name", APART)
def test_a_chain_that_does_more_stays(name: str) -> None:
    program = core_aten(APART[name], (X,))
    assert not apply(program, MergeViews())
    assert_same(program, APART[name], X)


def test_a_view_that_others_read_stays_beside_the_merged_one() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x.view(6, 4)
        return y.sin(), y.view(24).cos()

    program = core_aten(function, (X,))
    apply(program, MergeViews(), RemoveDeadCode())
    first, second = (n for n in program.graph.nodes if "view" in str(n.target))
    assert first.args[0] is second.args[0]
    assert_same(program, function, X)


def test_views_of_symbols_are_merged() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.exp().unsqueeze(1).unsqueeze(1).view(-1, 3, 4).transpose(0, 1).transpose(1, 0).cos()

    batch = torch.export.Dim("batch", min=2, max=8)
    program = core_aten(function, (X,), ({0: batch},))
    apply(program, MergeViews(), RemoveDeadCode())
    assert [name for name in operators(program) if name != "sym_size"] == ["exp", "cos"]
    assert_same(program, function, torch.randn(5, 3, 4))


def test_one_symbol_is_written_as_the_rest() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.unsqueeze(1).unsqueeze(-1)

    program = core_aten(function, (X,), ({0: torch.export.Dim("batch", min=2, max=8)},))
    apply(program, MergeViews(), RemoveDeadCode())
    assert operators(program) == ["view_copy"]
    assert_same(program, function, torch.randn(5, 3, 4))


def test_a_copy_to_a_memory_format_takes_the_cast_along() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.float64).clone(memory_format=torch.channels_last)

    image = torch.randn(1, 3, 4, 4)
    program = core_aten(function, (image,))
    apply(program, MergeViews(), RemoveDeadCode())
    (cast,) = (n for n in program.graph.nodes if n.op == "call_function")
    assert cast.kwargs == {"dtype": torch.float64, "memory_format": torch.channels_last}
    assert_same(program, function, image)
