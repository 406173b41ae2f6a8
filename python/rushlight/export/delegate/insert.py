# SPDX-License-Identifier: BSD-3-Clause
"""Replaces the nodes of lowered parts by calls of their delegates."""

from __future__ import annotations

from collections.abc import Sequence
from operator import getitem

from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.export.delegate.cut import Part
from rushlight.export.delegate.lowered import LoweredBackendModule, call_delegate
from rushlight.export.graph.constants import Constants
from rushlight.export.order.orders import stored_order

# The metadata that a result keeps from the node that computed it.
_KEPT = ("val", "stack_trace", "nn_module_stack", "dim_order")


def insert(program: ExportedProgram, parts: Sequence[tuple[Part, LoweredBackendModule]]) -> None:
    """Replaces each part's nodes by a delegate call and removes the constants and buffer writes that moved
    into it. The nodes of each part must be adjacent in their graph."""
    replaced: dict[Node, Node] = {}
    for part, lowered in parts:
        top = part.module is program.graph_module
        if top:
            _drop_mutations(program, part)
        for old, new in _call(part, lowered, replaced).items():
            replaced[old] = new
            if top:
                _rename(program, old, new)
            old.replace_all_uses_with(new)
        for node in reversed(part.nodes):
            part.module.graph.erase_node(node)
    for module in {id(part.module): part.module for part, _ in parts}.values():
        _drop_bodies(module)
    Constants(program).remove_unused()
    for part, _ in parts:
        part.module.recompile()


def _call(part: Part, lowered: LoweredBackendModule, replaced: dict[Node, Node]) -> dict[Node, Node]:
    """Adds the call after the part's last node; returns the replacement of each output."""
    graph = part.module.graph
    name = _free_name(part.module)
    part.module.add_module(name, lowered)
    inputs = [replaced.get(node, node) for node in part.inputs]
    with graph.inserting_before(part.nodes[-1].next):
        attribute = graph.get_attr(name)
        call = graph.call_function(call_delegate, (attribute, *inputs))
        call.meta["val"] = tuple(node.meta["val"] for node in part.outputs)
        call.meta["dim_order"] = tuple(stored_order(node) for node in part.outputs)
        trace = next((node.meta["stack_trace"] for node in part.nodes if node.meta.get("stack_trace")), None)
        if trace is not None:
            call.meta["stack_trace"] = trace
        results = {}
        for index, node in enumerate(part.outputs):
            results[node] = graph.call_function(getitem, (call, index))
            results[node].meta = {key: node.meta[key] for key in _KEPT if key in node.meta}
    return results


def _free_name(module: GraphModule) -> str:
    index = 0
    while hasattr(module, f"lowered_module_{index}"):
        index += 1
    return f"lowered_module_{index}"


def _rename(program: ExportedProgram, old: Node, new: Node) -> None:
    """Renames a node in the program's signature."""
    program.graph_signature.replace_all_uses(old.name, new.name)
    for entry in program.module_call_graph:
        if entry.signature is not None:
            entry.signature.replace_all_uses_with(old, new)


def _drop_mutations(program: ExportedProgram, part: Part) -> None:
    """Removes the writes of buffers that the part owns from the program's outputs."""
    if not part.mutations:
        return
    specs = program.graph_signature.output_specs
    output = program.graph.output_node()
    kept = [
        (spec, value) for spec, value in zip(specs, output.args[0], strict=True) if spec not in part.mutations
    ]
    output.args = (tuple(value for _, value in kept),)
    program.graph_signature.output_specs = [spec for spec, _ in kept]


def _drop_bodies(module: GraphModule) -> None:
    """Removes get_attr nodes without users, and the child modules that nothing reads any more."""
    for node in module.graph.find_nodes(op="get_attr"):
        if not node.users:
            module.graph.erase_node(node)
    used = {str(node.target).partition(".")[0] for node in module.graph.find_nodes(op="get_attr")}
    for name, _ in list(module.named_children()):
        if name not in used:
            delattr(module, name)
