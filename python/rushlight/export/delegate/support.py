# SPDX-License-Identifier: BSD-3-Clause
"""Proposes partitions by operator support, so that no partition depends on its own result.

Method: each node has a level, the largest number of times that a path from an input to it leaves the
supported nodes. Nodes of the same level can share a partition: a path that leaves a partition and returns
would have raised the level. Cost: linear in edges, plus union-find for connected partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import getitem

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.partitioner import Partition
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

from rushlight.export.delegate.lowered import call_delegate


def propose_partitions(
    graph_module: GraphModule,
    operator_support: OperatorSupportBase,
    *,
    allows_single_node_partition: bool = True,
    skip_horizontal_fusion: bool = False,
) -> list[Partition]:
    """Groups the supported nodes into as few partitions as their dependencies allow. With
    `skip_horizontal_fusion` the nodes of a partition are connected within it. Without
    `allows_single_node_partition` partitions of one operator are dropped. Bodies of control flow are
    separate graphs: call it for each."""
    submodules = dict(graph_module.named_modules())
    supported = {
        node for node in graph_module.graph.nodes if _is_supported(node, operator_support, submodules)
    }
    supported = _with_items(graph_module.graph, supported)
    groups = _grouped(graph_module.graph, supported, connected=skip_horizontal_fusion)
    if not allows_single_node_partition:
        groups = [group for group in groups if sum(node.target is not getitem for node in group) > 1]
    return [Partition(id=index, nodes=group) for index, group in enumerate(groups)]


def _is_supported(
    node: Node, support: OperatorSupportBase, submodules: Mapping[str, torch.nn.Module]
) -> bool:
    if node.op != "call_function" or node.target is call_delegate or node.target is getitem:
        return False
    return support.is_node_supported(submodules, node)


def _with_items(graph: Graph, supported: set[Node]) -> set[Node]:
    """Adds the getitem nodes of supported nodes."""
    result: set[Node] = set()
    for node in graph.nodes:
        if node in supported or (node.target is getitem and node.args[0] in result):
            result.add(node)
    return result


def _grouped(graph: Graph, supported: set[Node], *, connected: bool) -> list[list[Node]]:
    level = _levels(graph, supported)
    if not connected:
        by_level: dict[int, list[Node]] = {}
        for node in graph.nodes:
            if node in supported:
                by_level.setdefault(level[node], []).append(node)
        return [by_level[key] for key in sorted(by_level)]
    groups = _components(graph, supported, level)
    for group in reversed(groups):
        _raise(group, supported, level)
    return _components(graph, supported, level)


def _levels(graph: Graph, supported: set[Node]) -> dict[Node, int]:
    level: dict[Node, int] = {}
    for node in graph.nodes:
        steps = [
            level[source] + (source in supported and node not in supported) for source in node.all_input_nodes
        ]
        level[node] = max(steps, default=0)
    return level


def _components(graph: Graph, supported: set[Node], level: dict[Node, int]) -> list[list[Node]]:
    """Connected components of the supported nodes within a level, in the order of the graph."""
    parent: dict[Node, Node] = {node: node for node in graph.nodes if node in supported}

    def root(node: Node) -> Node:
        while parent[node] is not node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for node in parent:
        for source in node.all_input_nodes:
            if source in supported and level[source] == level[node]:
                parent[root(source)] = root(node)
    groups: dict[Node, list[Node]] = {}
    for node in parent:
        groups.setdefault(root(node), []).append(node)
    return list(groups.values())


def _raise(group: Iterable[Node], supported: set[Node], level: dict[Node, int]) -> None:
    """Raises a component to the level of a component that reads it, if all its readers allow that."""
    members = set(group)
    readers = {user for node in members for user in node.users} - members
    limit = min((level[user] - (user not in supported) for user in readers), default=0)
    if any(user in supported and level[user] == limit for user in readers):
        level.update(dict.fromkeys(members, limit))


class _Among(OperatorSupportBase):
    """Supports the listed nodes and all nodes that `other` supports."""

    def __init__(self, nodes: Iterable[Node], other: OperatorSupportBase | None) -> None:
        self._nodes = set(nodes)
        self._other = other

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:
        return node in self._nodes or (
            self._other is not None and self._other.is_node_supported(submodules, node)
        )


def generate_partitions_from_list_of_nodes(
    graph_module: GraphModule,
    pattern_list: Sequence[Sequence[Node]] | None = None,
    op_support: OperatorSupportBase | None = None,
) -> list[Partition]:
    """Partitions of the listed nodes and of the nodes that `op_support` supports."""
    nodes = [node for listed in pattern_list or () for node in listed]
    return propose_partitions(graph_module, _Among(nodes, op_support))


def generate_pattern_op_partitions(
    graph_module: GraphModule,
    patterns: Sequence[Graph] | None = None,
    partitions_list: Sequence[Sequence[Node]] | None = None,
    op_support: OperatorSupportBase | None = None,
    ignore_literals: bool = False,
) -> list[Partition]:
    """As generate_partitions_from_list_of_nodes, plus the nodes that the patterns match."""
    matched = [
        found
        for pattern in patterns or ()
        for match in SubgraphMatcher(pattern, ignore_literals=ignore_literals).match(graph_module.graph)
        for wanted, found in match.nodes_map.items()
        if wanted.op != "placeholder" and found.op != "placeholder"
    ]
    return generate_partitions_from_list_of_nodes(
        graph_module, [matched, *(partitions_list or ())], op_support
    )
