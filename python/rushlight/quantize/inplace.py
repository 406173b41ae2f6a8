# SPDX-License-Identifier: BSD-3-Clause
"""Replaces in-place operators by functional ones, whose results can be observed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import torch
from torch.fx import GraphModule, Node

aten = torch.ops.aten
_FUNCTIONAL = {
    aten.relu_.default: aten.relu.default,
    aten.hardtanh_.default: aten.hardtanh.default,
    aten.relu6_.default: aten.relu6.default,
    aten.clamp_.default: aten.clamp.default,
    aten.clamp_min_.default: aten.clamp_min.default,
    aten.add_.Tensor: aten.add.Tensor,
    aten.sub_.Tensor: aten.sub.Tensor,
    aten.mul_.Tensor: aten.mul.Tensor,
}


def replace_inplace(model: GraphModule) -> None:
    """Replaces an in-place operator if that is not observable: the tensor that it writes was computed in the
    graph, is no view, and has no views. Later readers of the tensor read the result instead."""
    order: dict[Node, int] = {node: position for position, node in enumerate(model.graph.nodes)}
    for node in order:
        if node.op != "call_function" or node.target not in _FUNCTIONAL:
            continue
        written = node.args[0]
        if not isinstance(written, Node) or not _stands_alone(written, node):
            continue
        node.target = _FUNCTIONAL[node.target]
        written.replace_all_uses_with(node, partial(_comes_after, order, node))


def _comes_after(order: Mapping[Node, int], node: Node, user: Node) -> bool:
    return order[user] > order[node]


def _stands_alone(written: Node, writer: Node) -> bool:
    others = [user for user in written.users if user is not writer]
    computed = written.op == "call_function" and not _aliases(written)
    return (
        computed and written.meta["val"].shape == writer.meta["val"].shape and not any(map(_aliases, others))
    )


def _aliases(node: Node) -> bool:
    """True if the node's result may share memory with an argument."""
    if node.op != "call_function":
        return False
    schema = getattr(node.target, "_schema", None)
    return (
        schema is None
        or any(result.alias_info is not None for result in schema.returns)
        or (
            # These return their argument when there is nothing to do.
            node.target
            in (aten.reshape.default, aten.contiguous.default, aten.dropout.default, aten.to.dtype)
        )
    )
