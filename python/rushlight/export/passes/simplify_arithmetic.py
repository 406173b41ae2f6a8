# SPDX-License-Identifier: BSD-3-Clause
"""Removes neutral arithmetic: times one, plus zero, to the power of one."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.graph.nodes import value_of
from rushlight.export.graph.rewrite import calls, replace
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten

# The neutral second operand of each operator.
_NEUTRAL: dict[Any, int] = {
    aten.mul.Tensor: 1,
    aten.mul.Scalar: 1,
    aten.div.Tensor: 1,
    aten.div.Scalar: 1,
    aten.pow.Tensor_Scalar: 1,
    aten.add.Tensor: 0,
    aten.add.Scalar: 0,
    aten.sub.Tensor: 0,
    aten.sub.Scalar: 0,
}
_COMMUTING = {aten.mul.Tensor, aten.add.Tensor}


class SimplifyArithmetic(Pass):
    """Applies only if the result has the operand's dtype: `int_tensor * 1.0` casts. A -0.0 keeps its sign
    where PyTorch would return 0.0."""

    name = "simplify_arithmetic"
    ensures = frozenset({"no neutral arithmetic"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        for _, node in calls(program):
            operand = _unchanged_operand(node)
            if operand is not None:
                replace(program, node, operand)
                modified = True
        return modified


def _unchanged_operand(node: Node) -> Node | None:
    if not isinstance(node.target, OpOverload) or node.target not in _NEUTRAL or len(node.args) < 2:
        return None
    a, b = node.args[:2]
    if node.target in _COMMUTING and not isinstance(a, Node) and not node.kwargs:
        a, b = b, a
    if not isinstance(a, Node) or isinstance(b, (Node, bool)) or b != _NEUTRAL[node.target]:
        return None
    own, operand = value_of(node), value_of(a)
    if not isinstance(operand, torch.Tensor) or own.dtype != operand.dtype:
        return None
    return a if same_sizes(own.shape, operand.shape) else None
