# SPDX-License-Identifier: BSD-3-Clause
"""Graphs nested in a graph: the bodies of cond, map, scan and while_loop."""

from __future__ import annotations

from torch.fx import GraphModule, Node

from rushlight.export.graph.nodes import attribute


def is_body(module: GraphModule, node: Node) -> bool:
    """True if the node is a get_attr of a graph module."""
    return node.op == "get_attr" and isinstance(attribute(module, str(node.target)), GraphModule)


def get_control_flow_submodules(graph_module: GraphModule) -> list[tuple[str, GraphModule, Node]]:
    """Each body that a node of this graph calls: its name, module and the node. Does not descend into the
    bodies."""
    return [
        (str(argument.target), attribute(graph_module, str(argument.target)), node)
        for node in graph_module.graph.nodes
        if node.op == "call_function"
        for argument in node.args
        if isinstance(argument, Node) and is_body(graph_module, argument)
    ]
