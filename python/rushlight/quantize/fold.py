# SPDX-License-Identifier: BSD-3-Clause
"""Folds quantized weights in a converted graph, where convert_pt2e leaves some unfolded."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from rushlight.quantize.patterns.base import is_constant

_QUANTIZE = {torch.ops.quantized_decomposed.quantize_per_channel_group.default}


def fold_grouped_weights(model: GraphModule) -> None:
    """Evaluates the group-wise quantization of constants; the integers become buffers
    "_quantized_weight_N"."""
    graph = model.graph
    found = [node for node in graph.nodes if node.target in _QUANTIZE and is_constant(node)]
    for number, node in enumerate(found):
        name = f"_quantized_weight_{number}"
        with torch.no_grad():
            model.register_buffer(name, _value(model, node, {}))
        with graph.inserting_before(node):
            folded = graph.get_attr(name)
        folded.meta["val"] = node.meta.get("val")
        node.replace_all_uses_with(folded)
    graph.eliminate_dead_code()
    model.recompile()


def drop_unread_state(model: GraphModule) -> None:
    """Removes parameters and buffers that the graph does not read: the float originals of quantized
    weights."""
    read = {str(node.target) for node in model.graph.nodes if node.op == "get_attr"}
    names = [name for name, _ in model.named_parameters(remove_duplicate=False)]
    names += [name for name, _ in model.named_buffers(remove_duplicate=False)]
    for name in names:
        if name not in read:
            owner, _, leaf = name.rpartition(".")
            delattr(model.get_submodule(owner), leaf)


def _value(model: GraphModule, node: Node, known: dict[Node, Any]) -> Any:
    """The value of a node that depends on constants only."""
    if node not in known:
        if node.op == "get_attr":
            owner, _, leaf = str(node.target).rpartition(".")
            known[node] = getattr(model.get_submodule(owner), leaf)
        else:
            args, kwargs = map_arg((node.args, node.kwargs), lambda each: _value(model, each, known))
            assert callable(node.target)
            known[node] = node.target(*args, **kwargs)
    return known[node]
