# SPDX-License-Identifier: BSD-3-Clause
"""Removes expansions before operators that broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.graph.nodes import input_of, value_of
from rushlight.export.graph.rewrite import calls, fake_mode_of, insert_before
from rushlight.export.graph.sizes import same_size
from rushlight.export.order.orders import uses_channels_last
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten

_EXPANSIONS = (aten.expand_copy.default, aten.full.default)
_BROADCASTING = frozenset(
    f"aten::{name}"
    for name in (
        *("add", "sub", "mul", "div", "pow", "where", "maximum", "minimum", "atan2", "fmod", "remainder"),
        *("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"),
        *("bitwise_and", "bitwise_or", "bitwise_xor"),
    )
)


class DropExpansions(Pass):
    """Rewrites `add(x, expand(y))` to `add(x, y)` if another operand has the sizes that y lacks. A filled
    tensor counts as the expansion of one element.

    Skips programs with channels-last tensors, whose kernels may not broadcast.
    """

    name = "drop_expansions"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"no expansions before broadcasting"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        expansions = [n for _, n in calls(program) if n.target in _EXPANSIONS]
        if not expansions or uses_channels_last(program):
            return False
        modified = False
        for node in expansions:
            users = [user for user in node.users if _broadcasts(user)]
            root = _root(node) if users else None
            for user in users:
                if root is not None and _keeps_result(user, node, root):
                    user.replace_input_with(node, root)
                    modified = True
        return modified


def _root(node: Node) -> Node | None:
    """The operand that the node expands, or a new filled tensor with one element of the same rank."""
    if node.target is aten.expand_copy.default:
        return input_of(node)
    value = value_of(node)
    if value.dim() == 0 or all(isinstance(size, int) and size == 1 for size in value.shape):
        return None
    ones = [1] * value.dim()
    with fake_mode_of(value):
        element = torch.empty(ones, dtype=value.dtype)
    return insert_before(
        node, aten.full.default, (ones, node.args[1]), {"dtype": value.dtype}, value=element, origin=node
    )


def _broadcasts(node: Node) -> bool:
    return isinstance(node.target, OpOverload) and node.target._schema.name in _BROADCASTING


def _keeps_result(user: Node, node: Node, root: Node) -> bool:
    """True if the user's result keeps its sizes and dtype when `root` replaces `node`."""
    operands = [value_of(root if n is node else n) for n in user.all_input_nodes]
    tensors = [value for value in operands if isinstance(value, torch.Tensor)]
    # A 0-dim tensor has lower priority in dtype promotion.
    if value_of(root).dim() == 0 and len({t.dtype for t in tensors}) > 1:
        return False
    shape = value_of(user).shape
    return all(_brings(tensors, len(shape) - d, size) for d, size in enumerate(shape))


def _brings(tensors: Sequence[torch.Tensor], from_last: int, size: Any) -> bool:
    """True if a tensor has the size in the dimension counted from the last, starting at 1."""
    return any(t.dim() >= from_last and same_size(t.shape[-from_last], size) for t in tensors) or (
        isinstance(size, int) and size == 1
    )
