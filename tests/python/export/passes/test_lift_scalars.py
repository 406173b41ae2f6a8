# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import torch
from torch.export import ExportedProgram

from rushlight.export.graph.constants import Constants, is_lifted, stored_tensor
from rushlight.export.passes import PassContext
from rushlight.export.passes.lift_scalars import LiftScalars
from support.graphs import LIBRARY, apply, assert_same, core_aten, operators

X = torch.randn(3)


def scalars(program: ExportedProgram) -> list[torch.Tensor]:
    return [stored_tensor(program, s) for s in program.graph_signature.input_specs if is_lifted(s)]


def targets(program: ExportedProgram) -> list[str]:
    return [str(n.target) for n in program.graph.nodes if n.op == "call_function"]


def test_an_overload_for_numbers_takes_the_place() -> None:
    program = core_aten(lambda x: x + 2, (X,))
    assert apply(program, LiftScalars())
    assert targets(program) == ["aten.add.Scalar"]
    assert_same(program, lambda x: x + 2, X)


def test_without_one_the_number_becomes_a_constant_of_the_dtype_beside() -> None:
    program = core_aten(lambda x: x.atan2(torch.sin(x)) + x * 2, (X,))
    context = PassContext(LIBRARY.without("aten::mul.Scalar_out"))
    assert LiftScalars().run(program, context)
    assert [(t.dtype, t.shape, float(t)) for t in scalars(program)] == [(torch.float32, torch.Size([]), 2.0)]


def test_a_number_is_stored_once() -> None:
    program = core_aten(lambda x, n: (x * 2, x.sin() * 2, n * 2), (X, torch.tensor([1])))
    LiftScalars().run(program, PassContext(LIBRARY.without("aten::mul.Scalar_out")))
    assert sorted(str(t.dtype) for t in scalars(program)) == ["torch.float32", "torch.int64"]


def test_a_number_beside_integers_keeps_its_kind() -> None:
    program = core_aten(lambda n: n * 0.5, (torch.tensor([3]),))
    LiftScalars().run(program, PassContext(LIBRARY.without("aten::mul.Scalar_out")))
    assert [t.dtype for t in scalars(program)] == [torch.float32]
    assert_same(program, lambda n: n * 0.5, torch.tensor([3]))


def test_branches_make_the_tensor_themselves() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y * 2, lambda y: y * 3, (x,))

    program = core_aten(function, (X,))
    LiftScalars().run(program, PassContext(LIBRARY.without("aten::mul.Scalar_out")))
    inner = program.graph_module.true_graph_0.graph
    assert [n.name for n in inner.nodes if n.op == "call_function"] == ["scalar_tensor", "mul"]
    assert_same(program, function, X)


def test_a_symbol_becomes_a_tensor_when_it_runs() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x * x.shape[0]

    program = core_aten(function, (X,), ({0: torch.export.Dim("n", min=2, max=8)},))
    LiftScalars().run(program, PassContext(LIBRARY.without("aten::mul.Scalar_out")))
    assert "scalar_tensor" in operators(program)
    assert_same(program, function, torch.randn(5))


def test_new_constants_go_behind_the_others_and_have_names_of_their_own() -> None:
    program = core_aten(torch.nn.Linear(3, 3), (X,))
    constants = Constants(program)
    added = [constants.add(torch.tensor(float(i)), "weight") for i in range(2)]
    names = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    assert names == ["p_weight", "p_bias", *(node.name for node in added), "input"]
    assert [constants.name_of(node) for node in added] == ["weight_1", "weight_2"]
    assert [float(constants.get(node)) for node in added] == [0.0, 1.0]
    assert constants.remove_unused()
    assert [spec.arg.name for spec in program.graph_signature.input_specs] == ["p_weight", "p_bias", "input"]
