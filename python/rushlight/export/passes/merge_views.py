# SPDX-License-Identifier: BSD-3-Clause
"""Merges chains of views, permutations, expansions and casts.

Each rule merges a node with its producer. Nodes are visited in graph order, so one pass collapses a whole
chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.graph.nodes import arguments_of, input_of, permutation_of, value_of
from rushlight.export.graph.rewrite import calls, replace
from rushlight.export.graph.sizes import is_static, same_sizes
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten

_PERMUTATIONS = {aten.permute_copy.default, aten.transpose_copy.int, aten.t_copy.default}
# Bits of an integer that each floating dtype represents exactly.
_EXACT_BITS = {torch.float16: 11, torch.bfloat16: 8, torch.float32: 24, torch.float64: 53}


class MergeViews(Pass):
    """Lets `view(view(x))` and `permute(permute(x))` read x; converts a permutation that only moves
    dimensions of size 1 to a view; removes a lossless intermediate cast."""

    name = "merge_views"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"no chains of views"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        modified = False
        for _, node in calls(program):
            is_view = context.library.changes_sizes(node.target)
            rule = _merge_view if is_view else _RULES.get(node.target)
            if rule is not None:
                modified |= rule(program, node, context.library)
        return modified


def _source(node: Node, targets: set[OpOverload]) -> Node | None:
    """The node's input, if one of these operators computes it."""
    source = node.args[0]
    return source if isinstance(source, Node) and source.target in targets else None


def _merge_view(program: ExportedProgram, node: Node, library: OperatorLibrary) -> bool:
    inner = input_of(node)
    if not library.changes_sizes(inner.target):
        return False
    root, own = input_of(inner), value_of(node)
    if same_sizes(own.shape, value_of(root).shape):
        replace(program, node, root)
        return True
    if node.target is not aten.view_copy.default:
        return _become_view(node, root)
    node.replace_input_with(inner, root)
    return True


def _become_view(node: Node, root: Node) -> bool:
    """Converts the node to a view of `root` with the node's sizes; False if several sizes are symbolic."""
    sizes = _written(value_of(node).shape)
    if sizes is None:
        return False
    node.target, node.args, node.kwargs = aten.view_copy.default, (root, sizes), {}
    return True


def _written(shape: Sequence[Any]) -> list[int] | None:
    """The sizes as ints, -1 for a single symbolic one; None otherwise."""
    if is_static(shape):
        return list(shape)
    sizes = [-1 if isinstance(size, torch.SymInt) else size for size in shape]
    return sizes if sizes.count(-1) == 1 and 0 not in sizes else None


def _merge_permutation(program: ExportedProgram, node: Node, library: OperatorLibrary) -> bool:
    inner = _source(node, _PERMUTATIONS)
    dims = _dims(node)
    root = input_of(node)
    if inner is not None:
        first = _dims(inner)
        dims, root = [first[d] for d in dims], input_of(inner)
        if dims == sorted(dims):
            replace(program, node, root)
            return True
        node.target, node.args, node.kwargs = aten.permute_copy.default, (root, dims), {}
    shape = value_of(root).shape
    moved = [d for d in dims if isinstance(shape[d], torch.SymInt) or shape[d] != 1]
    became_view = moved == sorted(moved) and _become_view(node, root)
    if became_view:
        _merge_view(program, node, library)
    return became_view or inner is not None


def _dims(node: Node) -> list[int]:
    if node.target is aten.permute_copy.default:
        return permutation_of(node)
    rank = value_of(node).dim()
    dims = list(range(rank))
    given = (0, -1) if node.target is aten.t_copy.default else arguments_of(node)[1:3]
    a, b = (d % max(rank, 1) for d in given)
    if rank:
        dims[a], dims[b] = dims[b], dims[a]
    return dims


def _merge_expansion(program: ExportedProgram, node: Node, library: OperatorLibrary) -> bool:
    inner = _source(node, {aten.expand_copy.default})
    if inner is None or not is_static(value_of(node).shape):
        return False
    node.args = (inner.args[0], list(value_of(node).shape))
    return True


def _merge_cast(program: ExportedProgram, node: Node, library: OperatorLibrary) -> bool:
    inner = _source(node, {aten._to_copy.default})
    if inner is None or _format(inner) is not None:
        return False
    root = input_of(inner)
    if not _keeps_values(value_of(root).dtype, value_of(inner).dtype):
        return False
    if value_of(root).dtype == value_of(node).dtype and _format(node) is None:
        replace(program, node, root)
    else:
        node.replace_input_with(inner, root)
    return True


def _merge_cast_and_clone(program: ExportedProgram, node: Node, library: OperatorLibrary) -> bool:
    """Merges a cast into the copy to a memory format that follows, if nothing else reads the cast."""
    inner = _source(node, {aten._to_copy.default})
    if inner is None or len(inner.users) > 1 or _format(inner) is not None:
        return False
    options = {"dtype": value_of(inner).dtype}
    if _format(node) is not None:
        options["memory_format"] = _format(node)
    node.target, node.args, node.kwargs = aten._to_copy.default, inner.args, options
    return True


def _format(node: Node) -> Any:
    wanted = node.kwargs.get("memory_format")
    return None if wanted is torch.preserve_format else wanted


def _keeps_values(given: torch.dtype, through: torch.dtype) -> bool:
    """True if dtype `through` represents every value of dtype `given`."""
    if given == through or given == torch.bool:
        return True
    if given.is_complex or through.is_complex or through == torch.bool:
        return False
    if not given.is_floating_point and not through.is_floating_point:
        a, b = torch.iinfo(given), torch.iinfo(through)
        return b.min <= a.min and a.max <= b.max
    if not given.is_floating_point:
        return torch.iinfo(given).bits <= _EXACT_BITS.get(through, 0)
    return given in _EXACT_BITS and (
        through == torch.float64 or (through == torch.float32 and given != torch.float64)
    )


_RULES: dict[Any, Callable[[ExportedProgram, Node, OperatorLibrary], bool]] = {
    **dict.fromkeys(_PERMUTATIONS, _merge_permutation),
    aten.expand_copy.default: _merge_expansion,
    aten._to_copy.default: _merge_cast,
    aten.clone.default: _merge_cast_and_clone,
}
