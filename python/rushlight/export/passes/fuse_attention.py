# SPDX-License-Identifier: BSD-3-Clause
"""Fuses attention that a model writes as two products and a softmax between them.

    softmax(scale * (query @ key^T) + mask) @ value    ->    scaled_dot_product_attention

The fused kernel stores no scores, and reads queries, keys and values as heads of any layout: permutations in
front of the products go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import arguments_of, input_of, permutation_of, value_of
from rushlight.export.graph.rewrite import calls, fake_mode_of, insert_before, replace
from rushlight.export.graph.sizes import is_static, same_size, same_sizes
from rushlight.export.passes.base import Pass, PassContext

aten = torch.ops.aten

_PRODUCTS = (aten.mul.Tensor, aten.mul.Scalar)
_DIVISIONS = (aten.div.Tensor, aten.div.Scalar)
_ATTENTION = aten.scaled_dot_product_attention.default
# A score of at most this, in place of a masked one, has the probability 0.
_MASKED = -1e4


@dataclass
class _Scores:
    """Scores that a softmax reads: `scale` times the product of two operands of rank 3, `added` to it. Where
    `kept`, a bool tensor, is false, a large negative number replaces them."""

    product: Node
    batch: Sequence[Any]
    scale: float = 1.0
    added: list[Node] = field(default_factory=list)
    kept: Node | None = None


class FuseAttention(Pass):
    """Applies if nothing else reads the intermediate results. A mask of `where` has to be constant and to
    leave a key to each query: without one, the softmax gives all keys the same probability, and the fused
    operator 0."""

    name = "fuse_attention"
    requires = frozenset({"views are copies"})
    ensures = frozenset({"attention is fused"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        row = context.library.find(_ATTENTION)
        if row is None:
            return False
        constants, modified = Constants(program), False
        dtypes = context.library.operators[row].dtypes
        for module, node in calls(program):
            is_known = node.target is aten.bmm.default and _dtype(node) in dtypes
            if is_known and module is program.graph_module:
                modified |= _fuse(program, node, constants)
        return modified


def _dtype(node: Node) -> str:
    return str(value_of(node).dtype).removeprefix("torch.")


def _fuse(program: ExportedProgram, node: Node, constants: Constants) -> bool:
    probabilities = input_of(node)
    softmax = _only_read(_behind_view(probabilities))
    if softmax is None or softmax.target is not aten._softmax.default:
        return False
    scores, dim, widens = arguments_of(softmax)
    is_last = dim in (-1, value_of(scores).dim() - 1)
    found = _scores(scores, constants) if is_last and not widens else None
    if found is None or (found.kept is not None and (found.added or not _keeps_a_key(found, constants))):
        return False
    parts = [_in_batch(part, found.batch) for part in (*found.product.args, node.args[1])]
    if None in parts or not all(_broadcasts(each, value_of(softmax)) for each in found.added):
        return False
    query, key, value = (_made(part, found.batch, node) for part in parts)
    query, scale = _unscaled(query, constants)
    key = _swapped(key, node)
    options: dict[str, Any] = {"scale": scale * found.scale}
    if found.kept is not None and _is_causal(found.kept, value_of(softmax), constants):
        options["is_causal"] = True
    elif found.kept is not None or found.added:
        options["attn_mask"] = found.kept or _sum(found.added, node)
    sizes = [*found.batch, *value_of(node).shape[1:]]
    with fake_mode_of(value_of(node)):
        result = value_of(node).new_empty(sizes)
    fused = insert_before(node, _ATTENTION, (query, key, value), options, value=result)
    last = _viewed(node, sizes)
    if last is None:  # the result stays a view of rank 3
        shape = list(value_of(node).shape)
        fused = insert_before(node, aten.view_copy.default, (fused, shape), value=value_of(node))
    replace(program, last or node, fused)
    _erase_unread(node if last is not None else probabilities)
    return True


def _viewed(node: Node, sizes: Sequence[Any]) -> Node | None:
    """The node, or the view of it that alone reads it, with these sizes; None if there is none."""
    if same_sizes(value_of(node).shape, sizes):
        return node
    reader = next(iter(node.users))
    is_view = len(node.users) == 1 and reader.target is aten.view_copy.default
    return reader if is_view and same_sizes(value_of(reader).shape, sizes) else None


def _erase_unread(node: Node) -> None:
    """Erases a call that nothing reads, and then the calls that only it read: other passes count readers."""
    if node.op != "call_function" or node.users or node._erased:
        return
    sources = node.all_input_nodes
    node.graph.erase_node(node)
    for source in sources:
        _erase_unread(source)


def _behind_view(node: Node) -> Node:
    """The source of a view that only one node reads, else the node."""
    return input_of(node) if node.target is aten.view_copy.default and len(node.users) == 1 else node


def _only_read(node: Any) -> Node | None:
    is_call = isinstance(node, Node) and node.op == "call_function" and len(node.users) == 1
    return node if is_call else None


def _scores(node: Any, constants: Constants) -> _Scores | None:
    """The node as scores; None if it is something else."""
    read = _only_read(node)
    if read is None or read.kwargs:
        return None
    inner = _behind_view(read)
    if inner.target is aten.bmm.default and len(inner.users) == 1:
        shape = value_of(read).shape
        keeps = same_sizes(shape[-2:], value_of(inner).shape[-2:])
        return _Scores(inner, shape[:-2]) if keeps else None
    arguments: Sequence[Any] = arguments_of(read)
    if read.target in (*_PRODUCTS, *_DIVISIONS):
        factor, found = _factor(read, constants), _scores(arguments[0], constants)
        if found is None or factor is None or found.added or found.kept is not None:
            return None
        found.scale *= factor
        return found
    if read.target is aten.add.Tensor:
        for own, other in (arguments[:2], arguments[1::-1]):
            found = _scores(own, constants)
            if found is not None and isinstance(other, Node) and found.kept is None:
                found.added.append(other)
                return found
    if read.target in (aten.where.self, aten.where.ScalarOther):
        kept, own, other = arguments
        found = _scores(own, constants)
        low = _number(other, constants)
        is_low = low is not None and low <= _MASKED
        if found is not None and is_low and not found.added and found.kept is None:
            found.kept = kept
            return found
    return None


def _number(value: Any, constants: Constants) -> float | None:
    """A number, or a constant of one element that a number became; else None."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    tensor = constants.get(value)
    return float(tensor) if tensor is not None and tensor.dim() == 0 else None


def _factor(node: Node, constants: Constants) -> float | None:
    """The number that a node multiplies a tensor by; None if it does something else."""
    if (
        node.target not in (*_PRODUCTS, *_DIVISIONS)
        or node.kwargs
        or value_of(node).dtype != _own_dtype(node)
    ):
        return None
    number = _number(node.args[1], constants)
    if node.target in _PRODUCTS or not number:
        return number
    return 1 / number


def _own_dtype(node: Node) -> Any:
    value = value_of(node.args[0])
    return value.dtype if isinstance(value, torch.Tensor) else None


def _unscaled(node: Node, constants: Constants) -> tuple[Node, float]:
    """The source of queries or keys that are scaled before their product, and the scale."""
    factor = _factor(node, constants) if len(node.users) == 1 and node.op == "call_function" else None
    return (node, 1.0) if factor is None else (input_of(node), factor)


def _keeps_a_key(scores: _Scores, constants: Constants) -> bool:
    kept = constants.get(scores.kept)
    return kept is not None and kept.dim() >= 2 and bool(kept.any(-1).all())


def _is_causal(kept: Node, scores: torch.Tensor, constants: Constants) -> bool:
    """True if query i sees the keys up to i."""
    mask, (queries, keys) = constants.get(kept), scores.shape[-2:]
    if mask is None or not same_size(queries, keys) or not same_sizes(mask.shape[-2:], (queries, keys)):
        return False
    return bool((mask == torch.ones(mask.shape[-2:], dtype=torch.bool).tril()).all())


def _broadcasts(node: Node, scores: torch.Tensor) -> bool:
    """True if a mask has the scores' dtype, and sizes that broadcast to theirs."""
    value = value_of(node)
    if not isinstance(value, torch.Tensor) or value.dtype != scores.dtype:
        return False
    own = scores.shape[-value.dim() :]
    sizes = zip(value.shape, own, strict=False)
    return 2 <= value.dim() <= scores.dim() and all(same_size(a, 1) or same_size(a, b) for a, b in sizes)


def _in_batch(node: Any, batch: Sequence[Any]) -> Node | None:
    """The source of [*batch, rows, columns], if the node is a view of such; the node itself if its sizes
    allow such a view; else None."""
    if not isinstance(node, Node):
        return None
    wanted = (*batch, *value_of(node).shape[1:])
    if node.target is aten.view_copy.default and same_sizes(value_of(input_of(node)).shape, wanted):
        return input_of(node)
    return node if len(batch) == 1 or is_static(wanted) else None


def _made(node: Node | None, batch: Sequence[Any], before: Node) -> Node:
    """The node viewed as [*batch, rows, columns]."""
    assert node is not None
    value = value_of(node)
    sizes = [*batch, *value.shape[-2:]]
    if value.dim() == len(sizes):
        return node
    with fake_mode_of(value):
        viewed = aten.view_copy.default(value, sizes)
    return insert_before(before, aten.view_copy.default, (node, sizes), value=viewed)


def _swapped(node: Node, before: Node) -> Node:
    """The node with its last two dimensions swapped; one permutation, if it is one itself."""
    rank = value_of(node).dim()
    dims = [*range(rank - 2), rank - 1, rank - 2]
    if node.target is aten.permute_copy.default:
        first = permutation_of(node)
        dims, node = [first[dim] for dim in dims], input_of(node)
    if dims == sorted(dims):
        return node
    with fake_mode_of(value_of(node)):
        value = aten.permute_copy.default(value_of(node), dims)
    return insert_before(before, aten.permute_copy.default, (node, dims), value=value)


def _sum(nodes: Sequence[Node], before: Node) -> Node:
    total = nodes[0]
    for node in nodes[1:]:
        with fake_mode_of(value_of(node)):
            value = value_of(total) + value_of(node)
        total = insert_before(before, aten.add.Tensor, (total, node), value=value)
    return total
