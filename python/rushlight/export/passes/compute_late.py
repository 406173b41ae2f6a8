# SPDX-License-Identifier: BSD-3-Clause
"""Moves computations that depend on constants alone before their first reader: dequantized weights then need
memory for one layer at a time, instead of for all from the start."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Graph, Node

from rushlight.export.graph.constants import input_specs, is_lifted
from rushlight.export.graph.nodes import graph_modules
from rushlight.export.graph.rewrite import is_pure
from rushlight.export.passes.base import Pass, PassContext


class ComputeLate(Pass):
    """Moves constant computations only; all other nodes keep their order."""

    name = "compute_late"

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        specs = input_specs(program)
        constants = {n for n in program.graph.nodes if n.op == "placeholder" and is_lifted(specs[n.name])}
        moved = 0
        for module in graph_modules(program.graph_module):
            moved += _sink(module.graph, constants)
        return moved > 0


def _sink(graph: Graph, constants: set[Node]) -> int:
    """Moves the nodes of one graph; returns their number."""
    known = set(constants)
    for node in graph.nodes:
        is_call = node.op == "call_function" and is_pure(node.target)
        if is_call and all(source in known for source in node.all_input_nodes):
            known.add(node)
    moved = 0
    for node in reversed(list(graph.nodes)):
        if node in known and node not in constants and node.users:
            first = min(node.users)
            if first.op != "output" and first.prev is not node:
                first.prepend(node)
                moved += 1
    return moved
