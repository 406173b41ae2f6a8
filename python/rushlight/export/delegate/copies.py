# SPDX-License-Identifier: BSD-3-Clause
"""Copies of programs that share the weights."""

from __future__ import annotations

import copy
import dataclasses

from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry
from torch.fx import Graph, GraphModule


def copy_graph_module(module: GraphModule) -> GraphModule:
    """A module with a graph of its own, down into the bodies of control flow. Tensors and the nodes' values
    are shared."""
    graph = Graph()
    result = graph.graph_copy(module.graph, {}, return_output_node=True)
    assert result is not None
    value, old_output = result
    graph.output(value).meta = copy.copy(old_output.meta)
    copied = GraphModule(module, graph)
    copied.meta = copy.copy(module.meta)
    for name, child in module.named_children():
        if isinstance(child, GraphModule):
            setattr(copied, name, copy_graph_module(child))
    return copied


def copy_program(program: ExportedProgram) -> ExportedProgram:
    """A program whose graph and signature can be changed without changing `program`'s. Tensors are shared."""
    module = copy_graph_module(program.graph_module)
    return ExportedProgram(
        root=module,
        graph=module.graph,
        graph_signature=copy.deepcopy(program.graph_signature),
        state_dict=dict(program.state_dict),
        range_constraints=dict(program.range_constraints),
        module_call_graph=[_copy_entry(entry) for entry in program.module_call_graph],
        example_inputs=program.example_inputs,
        constants=dict(program.constants),
        verifiers=list(program.verifiers),
    )


def _copy_entry(entry: ModuleCallEntry) -> ModuleCallEntry:
    """The names of the arguments can be changed; the tree specs are shared."""
    signature = entry.signature
    if signature is not None:
        inputs, outputs = copy.deepcopy((signature.inputs, signature.outputs))
        signature = dataclasses.replace(signature, inputs=inputs, outputs=outputs)
    return ModuleCallEntry(entry.fqn, signature)
