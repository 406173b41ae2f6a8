# SPDX-License-Identifier: BSD-3-Clause
"""Removes nodes without users and constants without readers."""

from __future__ import annotations

from typing import Any

from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.export.delegate import call_delegate
from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import graph_modules
from rushlight.export.passes.base import Pass, PassContext


class RemoveDeadCode(Pass):
    """Keeps nodes that write an argument, even without users."""

    name = "remove_dead_code"
    ensures = frozenset({"no dead code"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        for module in graph_modules(program.graph_module):
            for node in reversed(list(module.graph.nodes)):
                if not node.users and _is_removable(node):
                    module.graph.erase_node(node)
                    modified = True
            _forget_modules(module)
        return Constants(program).remove_unused() or modified


def _is_removable(node: Node) -> bool:
    if node.op == "get_attr":
        return True
    return node.op == "call_function" and not _writes(node.target)


def _writes(target: Any) -> bool:
    """True if a call has side effects: it writes, it is a check without result, or it is a delegate, which
    may keep state."""
    if isinstance(target, OpOverload):
        return target._schema.is_mutable or not target._schema.returns
    return target is call_delegate


def _forget_modules(module: GraphModule) -> None:
    """Removes control-flow modules that no node calls any more."""
    used = {
        str(n.target).partition(".")[0] for n in module.graph.nodes if n.op in ("get_attr", "call_module")
    }
    for name, _ in list(module.named_children()):
        if name not in used:
            delattr(module, name)
