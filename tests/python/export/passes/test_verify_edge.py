# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.errors import ExportFailed
from rushlight.export.passes import PassContext
from rushlight.export.pipeline import PassRunner, core_aten_passes, delegated_passes
from support.graphs import LIBRARY, core_aten

aten = torch.ops.aten


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sin(self.linear(x)).max(1)[0]


def prepared() -> tuple[ExportedProgram, PassRunner]:
    program = core_aten(Model(), (torch.randn(2, 4),))
    runner = PassRunner(PassContext(LIBRARY, "score"))
    runner.run(core_aten_passes(), program)
    return program, runner


def node_of(program: ExportedProgram, name: str) -> Node:
    return next(node for node in program.graph.nodes if node.name == name)


def number_for_tensor(program: ExportedProgram) -> None:
    node = node_of(program, "sin")
    node.target, node.args = aten.mul.Tensor, (node.args[0], 2.0)


def packet(program: ExportedProgram) -> None:
    node_of(program, "sin").target = aten.sin


def python_function(program: ExportedProgram) -> None:
    node_of(program, "sin").target = torch.sin


def in_place(program: ExportedProgram) -> None:
    node_of(program, "sin").target = aten.sin_.default


def no_value(program: ExportedProgram) -> None:
    del node_of(program, "sin").meta["val"]


def unknown_dtype(program: ExportedProgram) -> None:
    node = node_of(program, "sin")
    with node.meta["val"].fake_mode:
        node.meta["val"] = torch.empty(2, 4, dtype=torch.float8_e8m0fnu)


def memory_format(program: ExportedProgram) -> None:
    node = node_of(program, "sin")
    node.target, node.kwargs = aten.clone.default, {"memory_format": torch.channels_last}


def other_constant(program: ExportedProgram) -> None:
    program.state_dict["linear.weight"] = torch.zeros(3, 4)


def missing_constant(program: ExportedProgram) -> None:
    del program.state_dict["linear.weight"]


def other_name(program: ExportedProgram) -> None:
    node_of(program, "x").name = "y"


def other_output(program: ExportedProgram) -> None:
    program.graph.output_node().args = ((node_of(program, "sin"),),)


def module_call(program: ExportedProgram) -> None:
    program.graph_module.add_module("inner", torch.nn.Identity())
    node = node_of(program, "sin")
    with program.graph.inserting_after(node):
        program.graph.call_module("inner", (node,))


BREAKS: dict[str, tuple[Callable[[ExportedProgram], None], str]] = {
    "a number for a tensor": (number_for_tensor, "expected a tensor for 'other' of aten.mul.Tensor, got the"),
    "a packet of overloads": (packet, "expected an operator's overload, control flow or arithmetic"),
    "a function of Python": (python_function, "expected an operator's overload, control flow or arithmetic"),
    "an operator that writes": (
        in_place,
        "expected an operator that writes no argument, got aten.sin_.default",
    ),
    "no value": (no_value, 'expected meta["val"], got none'),
    "an unknown dtype": (unknown_dtype, "expected a dtype of the program format, got torch.float8_e8m0fnu"),
    "a memory format": (memory_format, "got memory_format=torch.channels_last"),
    "a constant of another size": (
        other_constant,
        "constant 'linear.weight': expected torch.float32 [4, 4], got torch.float32 [3, 4]",
    ),
    "a missing constant": (missing_constant, "constant 'linear.weight': expected a tensor"),
    "an input of another name": (other_name, "signature: expected inputs"),
    "an output that the signature does not name": (other_output, "signature: expected outputs"),
    "the call of a module": (module_call, "expected the call of an operator, got call_module 'inner'"),
}


def test_what_the_passes_make_is_of_the_edge_dialect() -> None:
    program, runner = prepared()
    runner.run(delegated_passes(), program)
    assert "edge dialect" in runner.holds


@pytest.mark.parametrize("name", BREAKS)
def test_an_error_says_what_is_wrong_and_who_was_there_before(name: str) -> None:
    program, runner = prepared()
    change, expected = BREAKS[name]
    change(program)
    with pytest.raises(ExportFailed) as caught:
        runner.run(delegated_passes()[-1:], program)
    message = str(caught.value)
    assert expected in message
    assert "method 'score': expected the edge dialect" in message
    assert "passes before: remove_effect_tokens, remove_assertions" in message
    if change in (number_for_tensor, in_place, no_value):
        assert "node 'sin'" in message and "test_verify_edge.py:" in message


@pytest.mark.parametrize("order", [None, (0,), (0, 0), [0, 1]])
def test_a_dim_order_has_each_dimension_once(order: object) -> None:
    program, runner = prepared()
    node_of(program, "sin").meta["dim_order"] = order
    with pytest.raises(ExportFailed, match=r"expected the order of 2 dimensions"):
        runner.run(delegated_passes()[-1:], program)


def test_results_of_several_tensors_have_as_many_dim_orders() -> None:
    program, runner = prepared()
    node_of(program, "max_1").meta["dim_order"] = ((0,),)
    with pytest.raises(ExportFailed, match=r"expected 2 dim orders"):
        runner.run(delegated_passes()[-1:], program)
