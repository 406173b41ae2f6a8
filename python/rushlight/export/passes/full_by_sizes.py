# SPDX-License-Identifier: BSD-3-Clause
"""Creates filled tensors from static sizes instead of from another tensor."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram

from rushlight.export.graph.nodes import value_of
from rushlight.export.graph.rewrite import calls
from rushlight.export.graph.sizes import is_static
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten


class FullBySizes(Pass):
    """Rewrites `full_like(x, 0)` to `full([2, 3], 0)`, which no longer depends on x and can be folded."""

    name = "full_by_sizes"
    ensures = frozenset({"static tensors are filled by their sizes"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        for _, node in calls(program):
            value = value_of(node)
            if node.target is aten.full_like.default and is_static(value.shape):
                number = node.args[1] if len(node.args) > 1 else node.kwargs["fill_value"]
                node.target = aten.full.default
                node.args, node.kwargs = (list(value.shape), number), {"dtype": value.dtype}
                modified = True
        return modified
