# SPDX-License-Identifier: BSD-3-Clause
"""Replaces views by the equivalent operators with a separate result."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram

from rushlight.export.graph.rewrite import calls
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten
_RESHAPES = {"_unsafe_view", "reshape", "_reshape_alias", "_reshape_copy"}


class ViewsToCopies(Pass):
    """Rewrites `view(x, [4])` to `view_copy(x, [4])`, so that later passes can ignore strides.

    Lowering converts it back to an alias if it can (`lower/views.py`).
    """

    name = "views_to_copies"
    ensures = frozenset({"views are copies"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        for _, node in calls(program):
            copy = copy_of_view(node.target)
            if copy is not None:
                node.target = copy
                node.args = node.args[: len(copy._schema.arguments)]
                modified = True
        return modified


@cache
def copy_of_view(target: Any) -> OpOverload | None:
    """The copying operator for the view operator `target`; None if it is no view or has no copying form."""
    if not isinstance(target, OpOverload) or target.namespace != "aten":
        return None
    base, overload = target._schema.name.partition("::")[2], target._overloadname
    if base in _RESHAPES:
        return aten.view_copy.default
    if not target.is_view:
        return None
    packet = getattr(aten, f"{base}_copy", None)
    if packet is None or overload not in packet.overloads():
        return None
    copy: OpOverload = getattr(packet, overload)
    return copy
