# SPDX-License-Identifier: BSD-3-Clause
"""Removes zero points that are all zero: per-channel weights then store only their scales."""

from __future__ import annotations

from torch.export import ExportedProgram

from rushlight.export.dialect import quantized
from rushlight.export.graph.constants import Constants
from rushlight.export.graph.rewrite import calls
from rushlight.export.passes.base import Pass, PassContext

# The index of the zero points among the arguments.
_ZERO_POINTS = 2


class DropZeroPoints(Pass):
    """Rewrites `dequantize_per_channel(w, scales, zeros, ...)` to take None for the zeros."""

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
