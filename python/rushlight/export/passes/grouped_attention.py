# SPDX-License-Identifier: BSD-3-Clause
"""Removes the repetition of keys and values before grouped-query attention."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.graph.nodes import arguments_of, input_of, value_of
from rushlight.export.graph.rewrite import calls
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten


class GroupedAttention(Pass):
    """Rewrites `sdpa(q, repeat(k), repeat(v))` to `sdpa(q, k, v, enable_gqa=True)` if each head of keys and
    values was repeated for consecutive query heads."""

    name = "grouped_attention"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"heads are shared"})
    breaks = frozenset({"dim orders"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        for _, node in calls(program):
            if node.target is not aten.scaled_dot_product_attention.default:
                continue
            shared = [_shared(part, context.library) for part in arguments_of(node)[1:3]]
            if None in shared or node.kwargs.get("enable_gqa"):
                continue
            heads = [value_of(part).shape[1] for part in shared]
            if heads[0] != heads[1]:
                continue
            node.args = (node.args[0], *shared, *node.args[3:])
            node.kwargs = {**node.kwargs, "enable_gqa": True}
            modified = True
        return modified


def _shared(node: Node, library: OperatorLibrary) -> Node | None:
    """The tensor [batch, groups, rows, columns] that a tensor [batch, heads, rows, columns] repeats; None if
    it repeats none."""
    if node.target is not aten.view_copy.default or value_of(node).dim() != 4:
        return None
    repeated = input_of(node)
    if repeated.target is not aten.expand_copy.default or value_of(repeated).dim() != 5:
        return None
    source = input_of(repeated)
    if not library.changes_sizes(source.target):
        return None
    single, several, merged = (value_of(each).shape for each in (source, repeated, node))
    batch, groups, times, rows, columns = several
    one = isinstance(single[2], int) and single[2] == 1 and isinstance(groups, int) and isinstance(times, int)
    if not one or not same_sizes(single, (batch, groups, 1, rows, columns)):
        return None
    own = input_of(source)
    whole = same_sizes(merged, (batch, groups * times, rows, columns))
    return own if whole and same_sizes(value_of(own).shape, (batch, groups, rows, columns)) else None
