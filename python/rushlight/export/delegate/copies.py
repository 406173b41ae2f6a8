# SPDX-License-Identifier: BSD-3-Clause
"""Copies programs without copying their weights."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry
from torch.fx import Graph, GraphModule, Node


def copy_graph_module(module: GraphModule) -> GraphModule:
    """Copies a module's graph, including the bodies of control flow. Tensors and the nodes' values are
    shared."""
    return _copy_graph_module(module, {})


def _copy_graph_module(module: GraphModule, copied_nodes: dict[Node, Node]) -> GraphModule:
    """As copy_graph_module; `copied_nodes` receives the copy of each node of the top graph."""
    graph = Graph()
    value, old_output = cast(Any, graph.graph_copy(module.graph, copied_nodes, return_output_node=True))
    graph.output(value).meta = copy.copy(old_output.meta)
    copied = GraphModule(module, graph)
    copied.meta = copy.copy(module.meta)
    for name, child in module.named_children():
        if isinstance(child, GraphModule):
            setattr(copied, name, copy_graph_module(child))
    return copied


def copy_program(program: ExportedProgram) -> ExportedProgram:
    """Copies a program so that changes to the copy's graph and signature leave `program` alone. Tensors are
    shared."""
    nodes: dict[Node, Node] = {}
    module = _copy_graph_module(program.graph_module, nodes)
    names = {old.name: new.name for old, new in nodes.items()}
    signature = copy.deepcopy(program.graph_signature)
    for spec in (*signature.input_specs, *signature.output_specs):
        _rename(spec.arg, names)
    return ExportedProgram(
        root=module,
        graph=module.graph,
        graph_signature=signature,
        state_dict=dict(program.state_dict),
        range_constraints=dict(program.range_constraints),
        module_call_graph=[_copy_entry(entry, names) for entry in program.module_call_graph],
        example_inputs=program.example_inputs,
        constants=dict(program.constants),
        verifiers=list(program.verifiers),
    )


def _rename(argument: Any, names: Mapping[str, str]) -> None:
    """Renames an argument to its copied node: a copy may get another name, such as "input_1" for "input"."""
    if getattr(argument, "name", None) in names:
        argument.name = names[argument.name]


def _copy_entry(entry: ModuleCallEntry, names: Mapping[str, str]) -> ModuleCallEntry:
    """Copies the argument names of an entry; the tree specs are shared."""
    signature = entry.signature
    if signature is not None:
        inputs, outputs = copy.deepcopy((signature.inputs, signature.outputs))
        for argument in (*inputs, *outputs):
            _rename(argument, names)
        signature = dataclasses.replace(signature, inputs=inputs, outputs=outputs)
    return ModuleCallEntry(entry.fqn, signature)
