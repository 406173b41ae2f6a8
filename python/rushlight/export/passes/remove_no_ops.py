# SPDX-License-Identifier: BSD-3-Clause
"""Removes operators whose result equals their input: copies, dropout, views that change nothing."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.graph.nodes import arguments_of, input_of, permutation_of, value_of
from rushlight.export.graph.rewrite import calls, replace, written_nodes
from rushlight.export.graph.sizes import same_sizes
from rushlight.export.order.orders import uses_channels_last
from rushlight.export.passes.base import Pass, PassContext
from rushlight.program.dim_order import is_row_major

aten = torch.ops.aten


class RemoveNoOps(Pass):
    """Graph values are immutable, so a copy can be replaced by its source.

    Afterwards an output may be the same node as an input or another output; lowering inserts copies where
    two values need separate memory. Copies read or written by a mutating operator stay. Copies to a memory
    format stay if the program has channels-last tensors.
    """

    name = "remove_no_ops"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"no no-ops"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        mixed = uses_channels_last(program)
        written = {node for _, call in calls(program) for node in written_nodes([call])}
        for _, node in calls(program):
            is_view = context.library.changes_sizes(node.target)
            rule = _same_sizes if is_view else _RULES.get(node.target)
            source = rule(node, mixed) if rule is not None else None
            if source is not None and not written & {node, source}:
                replace(program, node, source)
                modified = True
        return modified


def _argument(node: Node, index: int, name: str, default: Any = None) -> Any:
    return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)


def _as(node: Node, source: Any) -> Node | None:
    """`source` if it has the node's dtype, layout and sizes; else None."""
    if not isinstance(source, Node):
        return None
    own, other = value_of(node), value_of(source)
    same = own.dtype == other.dtype and own.layout == other.layout and same_sizes(own.shape, other.shape)
    return source if same else None


def _copy(node: Node, mixed: bool) -> Node | None:
    wanted = node.kwargs.get("memory_format")
    if mixed and wanted not in (None, torch.preserve_format):
        return None
    return _as(node, node.args[0])


def _same_sizes(node: Node, mixed: bool) -> Node | None:
    return _as(node, node.args[0])


def _permute(node: Node, mixed: bool) -> Node | None:
    return input_of(node) if is_row_major(permutation_of(node)) else None


def _transpose(node: Node, mixed: bool) -> Node | None:
    rank = max(value_of(node).dim(), 1)
    _, a, b = arguments_of(node)
    return input_of(node) if a % rank == b % rank else None


def _pad(node: Node, mixed: bool) -> Node | None:
    padding = arguments_of(node)[1]
    return input_of(node) if all(isinstance(p, int) and p == 0 for p in padding) else None


def _cat(node: Node, mixed: bool) -> Node | None:
    tensors = arguments_of(node)[0]
    return _as(node, tensors[0]) if len(tensors) == 1 else None


def _dropout(node: Node, mixed: bool) -> Node | None:
    return input_of(node) if node.args[2] is False else None


def _part_of_dropout(node: Node, mixed: bool) -> Node | None:
    source, index = arguments_of(node)
    if index != 0 or source.target is not aten.native_dropout.default or source.args[2] is not False:
        return None
    return input_of(source)


def _written_source(node: Node, mixed: bool) -> Node | None:
    return _as(node, node.args[1])


def _flip(node: Node, mixed: bool) -> Node | None:
    return input_of(node) if not node.args[1] else None


def _roll(node: Node, mixed: bool) -> Node | None:
    shifts = arguments_of(node)[1]
    return input_of(node) if all(isinstance(s, int) and s == 0 for s in shifts) else None


_Rule = Callable[[Node, bool], "Node | None"]
_RULES: dict[Any, _Rule] = {
    **dict.fromkeys(
        (
            aten.clone.default,
            aten.contiguous.default,
            aten.alias_copy.default,
            aten.detach_copy.default,
            aten.lift_fresh_copy.default,
            aten.lift_fresh.default,
            aten._to_copy.default,
        ),
        _copy,
    ),
    **dict.fromkeys(
        (
            aten.view_copy.dtype,
            aten.expand_copy.default,
            aten.slice_copy.Tensor,
            aten.repeat.default,
        ),
        _same_sizes,
    ),
    aten.permute_copy.default: _permute,
    aten.transpose_copy.int: _transpose,
    aten.constant_pad_nd.default: _pad,
    aten.cat.default: _cat,
    aten.dropout.default: _dropout,
    operator.getitem: _part_of_dropout,
    aten.copy.default: _written_source,
    aten.slice_scatter.default: _written_source,
    aten.flip.default: _flip,
    aten.roll.default: _roll,
}
