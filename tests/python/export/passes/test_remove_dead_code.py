# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import torch

from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import Fn, apply, assert_same, core_aten, operators

X = torch.randn(3)


def test_what_nobody_reads_goes_with_the_constants_it_read() -> None:
    module = Fn(lambda x, used, unused: (x * unused, x + used)[1], used=torch.ones(3), unused=torch.ones(3))
    program = core_aten(module, (X,))
    apply(program, RemoveDeadCode())
    assert operators(program) == ["add"]
    assert [spec.target for spec in program.graph_signature.input_specs if spec.target] == ["used"]
    assert_same(program, module, X)


def test_inputs_that_nobody_reads_stay() -> None:
    program = core_aten(lambda x, y: x.sin(), (X, X))
    apply(program, RemoveDeadCode())
    assert len(program.graph_signature.input_specs) == 2


def test_branches_of_control_flow_that_nobody_reads_go() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))
        return x.tan()

    program = core_aten(function, (X,))
    apply(program, RemoveDeadCode())
    assert operators(program) == ["tan"]
    assert list(program.graph_module.named_children()) == []


def test_dead_code_in_a_branch_goes() -> None:
    def branch(y: torch.Tensor) -> torch.Tensor:
        y.exp()
        return y.sin()

    program = core_aten(lambda x: torch.cond(x.sum() > 0, branch, lambda y: y.cos(), (x,)), (X,))
    inner = program.graph_module.true_graph_0.graph
    with inner.inserting_before(inner.output_node()):
        inner.call_function(torch.ops.aten.exp.default, (next(iter(inner.nodes)),))
    assert apply(program, RemoveDeadCode())
    assert [n.name for n in inner.nodes if n.op == "call_function"] == ["sin"]
