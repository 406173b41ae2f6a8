# SPDX-License-Identifier: BSD-3-Clause
"""Graphs for tests of passes: exported from modules, run with PyTorch, listed by operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from rushlight.export.frontend.decompositions import decomposition_table
from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.graph.constants import is_lifted, stored_tensor
from rushlight.export.passes import Pass, PassContext
from rushlight.export.passes.remove_assertions import RemoveAssertions
from rushlight.export.passes.views_to_copies import ViewsToCopies

LIBRARY = OperatorLibrary.default()


class Fn(torch.nn.Module):
    """A function as a module, with given tensors as buffers."""

    def __init__(self, function: Callable[..., Any], **tensors: torch.Tensor) -> None:
        super().__init__()
        self.function = function
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)

    def forward(self, *args: Any) -> Any:
        return self.function(*args, **dict(self.named_buffers()))


def core_aten(module: Any, args: Sequence[Any], dynamic_shapes: Any = None) -> ExportedProgram:
    """The program as passes get it: decomposed, without assertions, views as copies."""
    if not isinstance(module, torch.nn.Module):
        module = Fn(module)
        dynamic_shapes = None if dynamic_shapes is None else (dynamic_shapes,)
    exported = torch.export.export(module.eval(), tuple(args), dynamic_shapes=dynamic_shapes, strict=False)
    program = exported.run_decompositions(decomposition_table(LIBRARY))
    apply(program, RemoveAssertions(), ViewsToCopies())
    return program


def apply(program: ExportedProgram, *passes: Pass) -> bool:
    """Runs passes; returns True if any reports a change. The graph stays valid."""
    context = PassContext(LIBRARY)
    modified = [each.run(program, context) for each in passes]
    _recompile(program)
    names = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    assert [spec.arg.name for spec in program.graph_signature.input_specs] == names
    results = program.graph.output_node().args[0]
    told = [getattr(spec.arg, "name", None) for spec in program.graph_signature.output_specs]
    assert told == [getattr(result, "name", None) for result in results]
    return any(modified)


def _recompile(program: ExportedProgram) -> None:
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            module.graph.lint()
            module.recompile()


def run(program: ExportedProgram, *args: Any) -> list[Any]:
    """The user outputs of the graph as it stands, without the written-back buffers."""
    given = iter(pytree.tree_leaves(args))
    values = [
        stored_tensor(program, spec) if is_lifted(spec) else next(given)
        for spec in program.graph_signature.input_specs
        if spec.kind is not InputKind.TOKEN
    ]
    _recompile(program)
    results = program.graph_module(*values)
    specs = program.graph_signature.output_specs
    return [r for r, spec in zip(results, specs, strict=True) if spec.kind is OutputKind.USER_OUTPUT]


def operators(program: ExportedProgram) -> list[str]:
    """Names of the called operators in order, without namespace and overload."""
    return [_name(node.target) for node in program.graph.nodes if node.op == "call_function"]


def _name(target: Any) -> str:
    return target._schema.name.partition("::")[2] if isinstance(target, OpOverload) else target.__name__


def assert_same(program: ExportedProgram, module: Any, *args: Any, **tolerance: float) -> None:
    """Checks that the graph's outputs equal the module's."""
    module = module if isinstance(module, torch.nn.Module) else Fn(module)
    expected = pytree.tree_leaves(module.eval()(*args))
    torch.testing.assert_close(run(program, *args), expected, equal_nan=True, **tolerance)
