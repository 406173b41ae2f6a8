# SPDX-License-Identifier: BSD-3-Clause
"""Assigns debug handles to nodes."""

from __future__ import annotations

from torch.export import ExportedProgram

from rushlight.export.graph.nodes import graph_modules
from rushlight.export.passes.base import Pass, PassContext

HANDLE = "debug_handle"
"""The key in node.meta under which backends find a node's handle."""


class NumberNodes(Pass):
    """Numbers calls from 1, including those in bodies of control flow, and keeps handles that users set. The
    instructions lowered from a node, and a backend's map of its payload, refer to its handle."""

    name = "number_nodes"
    ensures = frozenset({"debug handles"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        calls = [
            node
            for module in graph_modules(program.graph_module)
            for node in module.graph.nodes
            if node.op == "call_function"
        ]
        numbered = [node.meta[HANDLE] for node in calls if isinstance(node.meta.get(HANDLE), int)]
        new = [node for node in calls if HANDLE not in node.meta]
        for handle, node in enumerate(new, max(numbered, default=0) + 1):
            node.meta[HANDLE] = handle
        return bool(new)
