# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram

from rushlight.errors import ExportFailed
from rushlight.export.frontend.decompositions import decomposition_table
from rushlight.export.passes import Pass, PassContext
from rushlight.export.pipeline import PassRunner, core_aten_passes, delegated_passes
from support.graphs import LIBRARY, assert_same, operators

IMAGE = torch.randn(1, 3, 8, 8)


def through(module: nn.Module, *args: torch.Tensor) -> ExportedProgram:
    """The program behind all default passes, checked against the module."""
    exported = torch.export.export(module.eval(), args, strict=False)
    program = exported.run_decompositions(decomposition_table(LIBRARY))
    runner = PassRunner(PassContext(LIBRARY))
    runner.run(core_aten_passes(), program)
    runner.run(delegated_passes(), program)
    assert_same(program, module, *args, atol=1e-5, rtol=1e-4)
    return program


def test_what_a_pass_requires_was_ensured_before() -> None:
    holds: set[str] = set()
    for each in [*core_aten_passes(), *delegated_passes()]:
        assert each.requires <= holds, each
        holds = (holds - each.breaks) | each.ensures


def test_passes_have_names_of_their_own() -> None:
    names = [each.name for each in core_aten_passes()]
    assert len(set(names)) == len(names) and all(names)


class Hungry(Pass):
    name = "hungry"
    requires = frozenset({"a meal"})

    def run(self, program: Any, context: PassContext) -> bool:
        raise AssertionError("not reached")


class Broken(Pass):
    name = "broken"

    def run(self, program: Any, context: PassContext) -> bool:
        raise KeyError("lost")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Hungry(), "pass hungry: expected a meal to hold; after remove_assertions"),
        (Broken(), "pass broken: KeyError: 'lost'; after remove_assertions"),
    ],
)
def test_an_error_names_the_pass_and_those_before(given: Pass, message: str) -> None:
    program = torch.export.export(nn.ReLU(), (IMAGE,))
    first = next(each for each in core_aten_passes() if each.name == "remove_assertions")
    with pytest.raises(ExportFailed, match=message):
        PassRunner(PassContext(LIBRARY)).run([first, given], program)


class Block(nn.Module):
    """An inverted residual as MobileNetV3 has it, written by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(3, 12, 1, bias=False), nn.BatchNorm2d(12))
        self.depthwise = nn.Sequential(nn.Conv2d(12, 12, 3, padding=1, groups=12), nn.BatchNorm2d(12))
        self.project = nn.Sequential(nn.Conv2d(12, 3, 1), nn.BatchNorm2d(3), nn.Dropout(0.2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.expand(x)
        y = y * nn.functional.relu6(y + 3) / 6
        y = self.depthwise(y)
        return x + self.project(y * torch.sigmoid(y))


def test_a_block_of_a_mobile_net_is_three_operators() -> None:
    assert operators(through(Block(), IMAGE)) == ["convolution_act"] * 3


class Head(nn.Module):
    """One head of attention, its mask made on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = self.query(x) @ self.key(x).transpose(1, 2)
        mask = torch.tril(torch.ones(4, 4, dtype=torch.bool)).expand(x.shape[0], 4, 4)
        scores = torch.where(mask, scores, torch.full_like(scores, float("-inf")))
        return scores.softmax(-1) @ self.value(x).clone()


def test_a_mask_of_attention_is_a_constant() -> None:
    program = through(Head(), torch.randn(2, 4, 8))
    called = [name for name in operators(program) if name != "view_copy"]
    assert called == ["linear", "linear", "permute_copy", "bmm", "where", "_softmax", "linear", "bmm"]


def test_no_operator_is_left_of_a_model_that_does_nothing() -> None:
    class Nothing(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x.clone().view(3, 64).view(1, 3, 8, 8) * 1.0 + 0).permute(0, 2, 3, 1).permute(0, 3, 1, 2)

    assert operators(through(Nothing(), IMAGE)) == []
