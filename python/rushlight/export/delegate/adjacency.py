# SPDX-License-Identifier: BSD-3-Clause
"""Orders a graph's nodes so that the nodes of each tag are adjacent.

Method: Kahn's topological sort over units, where a unit is all nodes of one tag or one untagged node; a
heap prefers the original position. Such an order exists exactly if the graph of units has no cycle. Cost:
O(E + N log N).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from itertools import pairwise

from torch.fx import Graph, Node

from rushlight.errors import DelegationFailed
from rushlight.export.delegate.failure import describe


class _Units:
    """The graph with the nodes of each tag contracted to one unit, a list of nodes."""

    def __init__(self, graph: Graph, tag_of: Mapping[Node, str]) -> None:
        self.members: list[list[Node]] = []
        self.last: list[int] = []  # the position of each unit's last node
        self.unit_of: dict[Node, int] = {}
        unit_of_tag: dict[str, int] = {}
        for position, node in enumerate(graph.nodes):
            tag = tag_of.get(node)
            unit = len(self.members) if tag is None else unit_of_tag.setdefault(tag, len(self.members))
            if unit == len(self.members):
                self.members.append([])
                self.last.append(position)
            self.members[unit].append(node)
            self.last[unit] = position
            self.unit_of[node] = unit

    def inputs(self, unit: int) -> set[int]:
        """The indices of the units that this unit reads."""
        read = {self.unit_of[source] for node in self.members[unit] for source in node.all_input_nodes}
        return read - {unit}


def adjacent_order(graph: Graph, tag_of: Mapping[Node, str]) -> list[Node]:
    """All nodes in topological order with the nodes of each tag adjacent, as close to the graph's order as
    the tags allow. Errors: DelegationFailed with the tags and nodes of a cycle."""
    units = _Units(graph, tag_of)
    waits = [units.inputs(unit) for unit in range(len(units.members))]
    readers: list[list[int]] = [[] for _ in waits]
    for unit, read in enumerate(waits):
        for source in read:
            readers[source].append(unit)
    ready = [(units.last[unit], unit) for unit, read in enumerate(waits) if not read]
    heapq.heapify(ready)
    order: list[Node] = []
    while ready:
        _, unit = heapq.heappop(ready)
        order += units.members[unit]
        for reader in readers[unit]:
            waits[reader].discard(unit)
            if not waits[reader]:
                heapq.heappush(ready, (units.last[reader], reader))
    if len(order) < len(units.unit_of):
        raise _cycle(units, waits, tag_of)
    return order


def _cycle(units: _Units, waits: Sequence[set[int]], tag_of: Mapping[Node, str]) -> DelegationFailed:
    """The error for one cycle among the units that still wait for inputs."""
    unit = next(unit for unit, read in enumerate(waits) if read)
    path: list[int] = []
    while unit not in path:
        path.append(unit)
        unit = min(waits[unit])
    path = [*path[path.index(unit) :], unit][::-1]
    tags = [tag_of.get(units.members[unit][0]) for unit in path]
    names = [
        units.members[unit][0].name if tag is None else f"'{tag}'"
        for unit, tag in zip(path, tags, strict=True)
    ]
    tag = next(tag for tag in tags if tag is not None)
    return DelegationFailed(
        f"tag '{tag}': expected nodes without a cycle through others, got {' -> '.join(names)}",
        tag=tag,
        nodes=describe(node for unit in path[1:] for node in units.members[unit]),
        next_step="Split the tag, or leave one of these nodes out of it.",
    )


def reorder(graph: Graph, order: Sequence[Node]) -> None:
    """Moves the nodes of a graph into the given order."""
    if list(graph.nodes) == list(order):
        return
    for before, after in pairwise(order):
        before.append(after)
