# SPDX-License-Identifier: BSD-3-Clause
"""Delegation tags on nodes: reads a partitioner's tags, and tags constants and buffers."""

from __future__ import annotations

from collections.abc import Collection
from operator import getitem

from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.errors import DelegationFailed
from rushlight.export.delegate.bodies import get_control_flow_submodules
from rushlight.export.delegate.failure import describe
from rushlight.export.delegate.lowered import LoweredBackendModule, call_delegate
from rushlight.export.graph.constants import input_specs, is_lifted, mutated_targets
from rushlight.export.graph.nodes import attribute

TAG = "delegation_tag"


def _tensors(program: ExportedProgram, *, written: bool) -> set[str]:
    """The names of the placeholders of lifted tensors: with `written` the tensors that an execution writes,
    else all others."""
    mutated = mutated_targets(program)
    lifted = {name: spec.target for name, spec in input_specs(program).items() if is_lifted(spec)}
    return {name for name, target in lifted.items() if (target in mutated) is written}


def tag_constant_data(edge_program: ExportedProgram) -> None:
    """Tags each constant that a tagged node reads, so that it moves into the delegate. A constant with
    several reading delegates is copied into each. Buffers that the program writes stay outside."""
    _tag_placeholders(edge_program, _tensors(edge_program, written=False))


def tag_mutated_buffer(edge_program: ExportedProgram) -> None:
    """Tags each written buffer that a tagged node reads: the delegate keeps its value between calls. The tag
    must cover all nodes that read the buffer and the node that computes its new value."""
    _tag_placeholders(edge_program, _tensors(edge_program, written=True))


def _tag_placeholders(program: ExportedProgram, names: Collection[str]) -> None:
    for node in program.graph.find_nodes(op="placeholder"):
        tags = {user.meta[TAG] for user in node.users if user.meta.get(TAG) is not None}
        if node.name in names and tags:
            node.meta[TAG] = min(tags)


def graphs_of(module: GraphModule) -> list[GraphModule]:
    """A graph and, recursively, the bodies of its control flow."""
    bodies = {id(body): body for _, body, _ in get_control_flow_submodules(module)}
    return [module, *(inner for body in bodies.values() for inner in graphs_of(body))]


def shape_of_graph(module: GraphModule) -> list[tuple[str, object, tuple[str, ...]]]:
    """The properties that a partitioner must not change: each node's kind, target and inputs, in order."""
    return [
        (node.op, node.target, tuple(source.name for source in node.all_input_nodes))
        for graph_module in graphs_of(module)
        for node in graph_module.graph.nodes
    ]


def take_tags(tagged: ExportedProgram, program: ExportedProgram) -> None:
    """Copies the tags from the program that a partitioner returned if it worked on a copy."""
    if tagged is program:
        return
    pairs = zip(graphs_of(tagged.graph_module), graphs_of(program.graph_module), strict=True)
    for theirs, ours in pairs:
        for source, node in zip(theirs.graph.nodes, ours.graph.nodes, strict=True):
            node.meta.update({key: source.meta[key] for key in (TAG, "no_copy") if key in source.meta})


def clear_tags(program: ExportedProgram) -> None:
    """Removes the tags from all nodes."""
    for module in graphs_of(program.graph_module):
        for node in module.graph.nodes:
            node.meta.pop(TAG, None)


def computing_nodes(module: GraphModule, known: Collection[str]) -> dict[Node, str]:
    """The tag of each node of one graph that a delegate is to compute. A `getitem` node follows the node
    whose result it reads; attributes move with their readers; nodes without effect on any result are left
    out. Errors: DelegationFailed for a tag missing from `known` and for a node that cannot be delegated."""
    tag_of: dict[Node, str] = {}
    for node in module.graph.nodes:
        tag = node.meta.get(TAG)
        if node.op == "call_function" and node.target is getitem:
            tag = tag_of.get(node.args[0])
        if not tag:
            continue
        if tag not in known:
            raise DelegationFailed(
                f"node '{node.name}': expected a tag of partition_tags, {sorted(known)}, got '{tag}'",
                tag=tag,
                nodes=describe([node]),
            )
        _check_can_be_tagged(module, node, tag)
        if node.op == "call_function":
            tag_of[node] = tag
    return _with_results(tag_of)


def _check_can_be_tagged(module: GraphModule, node: Node, tag: str) -> None:
    what = ""
    if node.op == "output":
        what = "the output of a graph"
    elif node.target is call_delegate or (
        node.op == "get_attr" and isinstance(attribute(module, str(node.target)), LoweredBackendModule)
    ):
        what = "a delegate already"
    if what:
        raise DelegationFailed(
            f"node '{node.name}': expected no tag on {what}, got '{tag}'", tag=tag, nodes=describe([node])
        )


def _with_results(tag_of: dict[Node, str]) -> dict[Node, str]:
    """Removes the nodes whose results nobody reads outside their tag, directly or through other nodes of the
    tag."""
    alive: dict[Node, str] = {}
    for node, tag in reversed(tag_of.items()):
        if any(tag_of.get(user) != tag or user in alive for user in node.users):
            alive[node] = tag
    return dict(reversed(alive.items()))
