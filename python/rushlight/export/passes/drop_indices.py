# SPDX-License-Identifier: BSD-3-Clause
"""Replaces max pools whose indices nobody reads by the operator without indices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.dialect.fused import max_pool2d
from rushlight.export.graph.nodes import arguments_of, input_of, value_of
from rushlight.export.graph.rewrite import calls, insert_before, replace
from rushlight.export.graph.sizes import is_static
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten


class DropIndices(Pass):
    """Takes `max_pool2d_with_indices`, and `adaptive_max_pool2d` whose windows have one size, if only their
    first result has readers. Computing an index costs more than the maximum, and its memory twice as much.
    """

    name = "drop_indices"
    requires = frozenset({"views are copies"})
    breaks = frozenset({"dim orders"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        row = context.library.find(max_pool2d)
        dtypes = context.library.operators[row].dtypes if row is not None else frozenset()
        modified = False
        for _, node in calls(program):
            arguments = _window(node)
            if arguments is None:
                continue
            read = [user for user in node.users if user.users]
            largest = value_of(node)[0]
            if any(user.target is not operator.getitem or user.args[1] != 0 for user in read):
                continue
            if str(largest.dtype).removeprefix("torch.") not in dtypes:
                continue
            args = (input_of(node), *arguments)
            made = insert_before(node, max_pool2d, args, node.kwargs, value=largest, origin=node)
            for user in list(node.users):
                if user in read:
                    replace(program, user, made)
                else:
                    node.graph.erase_node(user)
            node.graph.erase_node(node)
            modified = True
        return modified


def _window(node: Node) -> Sequence[Any] | None:
    """The arguments of the pool after its input; None for other operators."""
    if node.target is aten.max_pool2d_with_indices.default:
        return arguments_of(node)[1:]
    if node.target is not aten.adaptive_max_pool2d.default:
        return None
    sizes, results = value_of(input_of(node)).shape[-2:], arguments_of(node)[1]
    if not is_static([*sizes, *results]) or any(out == 0 for out in results):
        return None
    if any(size % out != 0 for size, out in zip(sizes, results, strict=True)):
        return None
    steps = [int(size) // int(out) for size, out in zip(sizes, results, strict=True)]
    return [steps, steps, [0, 0], [1, 1], False]
