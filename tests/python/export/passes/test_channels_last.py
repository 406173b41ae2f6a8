# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import torch
from graphs import apply, assert_same, core_aten, operators, run
from torch import nn
from torch.export import ExportedProgram

from rushlight.export.passes.channels_last import ChannelsLast
from rushlight.export.passes.dim_order import DimOrders
from rushlight.export.passes.remove_dead_code import RemoveDeadCode

LAST = (0, 2, 3, 1)
IMAGE = torch.randn(2, 3, 8, 8)


def moved(module: nn.Module, *args: Any) -> ExportedProgram:
    program = core_aten(module, args)
    apply(program, DimOrders(), ChannelsLast(), DimOrders(), RemoveDeadCode())
    assert_same(program, module, *args, atol=1e-5, rtol=1e-4)
    return program


def body() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 1), nn.Sigmoid(), nn.Conv2d(4, 4, 1)
    )


def test_a_chain_is_converted_at_its_ends_only() -> None:
    program = moved(nn.Sequential(body(), nn.Flatten(), nn.Linear(36, 2)), IMAGE)
    found = operators(program)
    assert found.count("_clone_dim_order") == 2
    assert found[0] == "_clone_dim_order"
    assert found[-3:] == ["_clone_dim_order", "view_copy", "linear"]
    orders = {n.name: n.meta["dim_order"] for n in program.graph.nodes if n.op == "call_function"}
    assert [orders[n] for n in ("convolution", "relu", "getitem", "sigmoid", "convolution_2")] == [LAST] * 5
    assert orders["max_pool2d_with_indices"] == (LAST, LAST)


def test_outputs_keep_their_order() -> None:
    program = moved(body(), IMAGE)
    assert operators(program)[-1] == "_clone_dim_order"
    assert program.graph_signature.output_specs[0].arg.name == "_clone_dim_order_1"
    (result,) = run(program, IMAGE)
    assert result.is_contiguous()


def test_channels_last_inputs_and_outputs_need_no_conversion() -> None:
    program = moved(body(), IMAGE.to(memory_format=torch.channels_last))
    assert "_clone_dim_order" not in operators(program)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.second(self.first(x).relu())


def test_branches_that_meet_share_the_conversions() -> None:
    program = moved(nn.Sequential(Residual(), Residual()), IMAGE)
    assert operators(program).count("_clone_dim_order") == 2


class Between(nn.Module):
    """A reduction in between wants row-major tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList(nn.Conv2d(3, 3, 1) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self.parts:
            x = part(x).flip(2)
        return x


def test_a_single_convolution_is_not_worth_it() -> None:
    program = moved(Between(), IMAGE)
    assert "_clone_dim_order" not in operators(program)


def test_conversions_there_and_back_cancel() -> None:
    class There(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.to(memory_format=torch.channels_last).contiguous().sin()

    program = core_aten(There(), (IMAGE,))
    apply(program, DimOrders(), RemoveDeadCode())
    assert operators(program) == ["sin"]
    assert_same(program, There(), IMAGE)


def test_constants_need_no_conversion() -> None:
    class Offset(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.offset = body(), nn.Parameter(torch.randn(2, 4, 3, 3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (self.offset + self.body(x)).flatten(1)

    program = moved(Offset(), IMAGE)
    assert operators(program).count("_clone_dim_order") == 2
    (offset,) = (n for n in program.graph.nodes if n.name == "p_offset")
    assert offset.meta["dim_order"] == LAST
