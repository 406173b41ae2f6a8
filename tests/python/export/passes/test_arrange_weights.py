# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import rushlight
from rushlight.program import Program, Storage, TensorInfo, read_program

LAST = (0, 2, 3, 1)


def weights(
    model: nn.Module, x: torch.Tensor, rank: int = 4, **options: Any
) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The dim orders of the int8 weights of this rank, by their sizes."""
    graph = rushlight.quantize(model.eval(), (x,), [(x,)])
    program = read_program(rushlight.export(graph, (x,), **options).buffer)
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for tensor in tensors(program, rank):
        if tensor.dtype == "int8" and tensor.storage is Storage.CONSTANT:
            found[tensor.sizes] = tensor.dim_order
    return found


def tensors(program: Program, rank: int = 4) -> list[TensorInfo]:
    """The tensors of a rank."""
    (method,) = program.plans
    found = [value.data for value in method.values if isinstance(value.data, TensorInfo)]
    return [tensor for tensor in found if len(tensor.sizes) == rank]


def separable() -> nn.Module:
    return nn.Sequential(nn.Conv2d(8, 8, 3, groups=8), nn.ReLU(), nn.Conv2d(8, 16, (2, 1)))


def test_weights_lie_as_outputs_see_channels_last_inputs() -> None:
    found = weights(separable(), torch.randn(1, 8, 6, 6))
    assert found[16, 8, 2, 1] == LAST


def test_depthwise_weights_have_channels_side_by_side() -> None:
    found = weights(separable(), torch.randn(1, 8, 6, 6))
    assert found[8, 1, 3, 3] == (1, 2, 3, 0)


def test_weights_of_channels_first_inputs_stay() -> None:
    found = weights(separable(), torch.randn(1, 8, 6, 6), channels_last=False)
    assert set(found.values()) == {(0, 1, 2, 3)}


@pytest.mark.parametrize("target", ["cortex-m4", "rv32imac"])
def test_integers_run_channels_last_on_boards(target: str) -> None:
    found = weights(separable(), torch.randn(1, 8, 6, 6), target=target)
    assert found[16, 8, 2, 1] == LAST
    assert found[8, 1, 3, 3] == (1, 2, 3, 0)


def test_weights_of_linear_layers_have_inputs_side_by_side() -> None:
    assert weights(nn.Linear(6, 4), torch.randn(2, 6), rank=2, target="rv64gc") == {(4, 6): (0, 1)}


def test_floats_stay_channels_first_on_riscv_boards() -> None:
    x = torch.randn(1, 8, 6, 6)
    program = read_program(rushlight.export(separable().eval(), (x,), target="rv32imafc").buffer)
    assert {tensor.dim_order for tensor in tensors(program)} == {(0, 1, 2, 3)}
