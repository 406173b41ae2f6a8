# SPDX-License-Identifier: BSD-3-Clause
"""Leaves out zero points that are all zero: a weight's channels need their scales only."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram

from rushlight.export.constants import Constants
from rushlight.export.passes.base import Pass, PassContext
from rushlight.export.rewrite import calls

_ZERO_POINTS = {torch.ops.quantized_decomposed.dequantize_per_channel.default: 2}


class DropZeroPoints(Pass):
    """`dequantize_per_channel(w, scales, zeros, ...)` gets None in place of the zeros."""

    name = "drop_zero_points"
    ensures = frozenset({"no zero points of zeros"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        constants = Constants(program)
        modified = False
        for _, node in calls(program):
            place = _ZERO_POINTS.get(node.target)
            points = None if place is None else constants.get(node.args[place])
            if points is not None and not points.any():
                node.update_arg(place, None)
                modified = True
        return constants.remove_unused() or modified
