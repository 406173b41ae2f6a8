# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import torch
import torch.ao.quantization.fx._decomposed  # registers the operators

from rushlight.export.graph.constants import Constants
from rushlight.export.passes.drop_zero_points import DropZeroPoints
from support.graphs import Fn, apply, assert_same, core_aten

dequantize = torch.ops.quantized_decomposed.dequantize_per_channel.default


def program_of(points: list[int]):
    tensors = {
        "w": torch.randint(-127, 128, (3, 4), dtype=torch.int8),
        "scales": torch.rand(3),
        "points": torch.tensor(points),
    }

    def run(x, w, scales, points):
        return x @ dequantize(w, scales, points, 0, -127, 127, torch.int8).t()

    module, x = Fn(run, **tensors), torch.randn(2, 4)
    program = core_aten(module, (x,))
    modified = apply(program, DropZeroPoints())
    assert_same(program, module, x)
    node = next(n for n in program.graph.nodes if n.target is dequantize)
    return modified, node.args[2], [Constants(program).get(n) for n in program.graph.nodes]


def test_zero_points_of_zeros_are_not_stored() -> None:
    modified, argument, constants = program_of([0, 0, 0])
    assert modified
    assert argument is None
    assert not any(c is not None and c.dtype == torch.int64 for c in constants)


def test_other_zero_points_stay() -> None:
    modified, argument, _ = program_of([0, 1, 0])
    assert not modified
    assert argument is not None
