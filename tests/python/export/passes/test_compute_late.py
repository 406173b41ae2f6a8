# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import torch
import torch.ao.quantization.fx._decomposed  # defines quantized_decomposed

from rushlight.export import export
from rushlight.export.passes.compute_late import ComputeLate
from support.graphs import Fn, apply, assert_same, core_aten, operators

X = torch.randn(4, 4)


class EarlyWeights(torch.nn.Module):
    """Makes all its weights before it uses the first one, as a converted quantized model does."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(4, 4), requires_grad=False)
        for index in range(4):
            self.register_buffer(f"w{index}", torch.randint(-9, 9, (4, 4), dtype=torch.int8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        qdq = torch.ops.quantized_decomposed.dequantize_per_tensor
        weights = [qdq(getattr(self, f"w{i}"), 0.1, 0, -128, 127, torch.int8) for i in range(4)]
        for weight in weights:
            x = torch.relu(x @ weight)
        return x


def test_a_weight_is_made_where_it_is_read() -> None:
    program = core_aten(EarlyWeights(), (X,))
    assert operators(program)[:4] == ["dequantize_per_tensor"] * 4
    assert apply(program, ComputeLate())
    assert operators(program) == ["dequantize_per_tensor", "mm", "relu"] * 4


def test_numbers_stay_the_same() -> None:
    module = EarlyWeights()
    program = core_aten(module, (X,))
    apply(program, ComputeLate())
    assert_same(program, module, X)


def test_less_memory_is_planned_for_it() -> None:
    assert export(EarlyWeights(), (X,)).report.methods[0].plan.peak == 3 * X.nbytes


def test_a_chain_of_constants_moves_together() -> None:
    def function(x: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        made = (c + 1).exp()
        y = x * 2
        return y.relu() @ made

    program = core_aten(Fn(function, c=torch.randn(4, 4)), (X,))
    apply(program, ComputeLate())
    assert operators(program) == ["mul", "relu", "add", "exp", "mm"]


def test_what_depends_on_an_input_stays() -> None:
    program = core_aten(lambda x: (x.exp(), x.relu() @ x)[1] + x.exp(), (X,))
    before = operators(program)
    assert not apply(program, ComputeLate())
    assert operators(program) == before
