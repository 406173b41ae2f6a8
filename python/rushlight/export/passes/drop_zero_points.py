# SPDX-License-Identifier: BSD-3-Clause
"""Leaves out zero points that are all zero: a weight's channels need their scales only."""

from __future__ import annotations

from torch.export import ExportedProgram

from rushlight.export.dialect import quantized
from rushlight.export.graph.constants import Constants
from rushlight.export.graph.rewrite import calls
from rushlight.export.passes.base import Pass, PassContext

# Where they are among the arguments.
_ZERO_POINTS = 2


class DropZeroPoints(Pass):
    """`dequantize_per_channel(w, scales, zeros, ...)` gets None in place of the zeros."""

    name = "drop_zero_points"
    ensures = frozenset({"no zero points of zeros"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        constants = Constants(program)
        modified = False
        for _, node in calls(program):
            if not quantized.calls(node, "dequantize_per_channel"):
                continue
            points = constants.get(node.args[_ZERO_POINTS])
            if points is not None and not points.any():
                node.update_arg(_ZERO_POINTS, None)
                modified = True
        return constants.remove_unused() or modified
