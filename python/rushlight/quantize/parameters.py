# SPDX-License-Identifier: BSD-3-Clause
"""Inputs and parameters of a captured graph. Replacing a parameter leaves the model its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves


def parameter(graph: GraphModule, node: Any) -> Any:
    """The tensor that a get_attr node reads; None for other nodes."""
    if not isinstance(node, Node) or node.op != "get_attr":
        return None
    owner, _, leaf = str(node.target).rpartition(".")
    found = getattr(graph.get_submodule(owner), leaf, None)
    return found.detach() if isinstance(found, torch.Tensor) else None


def replace_parameter(graph: GraphModule, node: Any, value: torch.Tensor) -> None:
    """Let a get_attr node read another tensor."""
    owner, _, leaf = str(node.target).rpartition(".")
    module = graph.get_submodule(owner)
    if leaf in module._parameters:
        module._parameters[leaf] = torch.nn.Parameter(value, requires_grad=False)
    else:
        module._buffers[leaf] = value


def is_read_once(graph: GraphModule, node: Any) -> bool:
    """Whether one node reads a parameter, and no other one has its memory."""
    mine = parameter(graph, node)
    if mine is None or len(node.users) != 1:
        return False
    others = (each for each in graph.graph.nodes if each.op == "get_attr" and each is not node)
    return all(
        other is None or other.data_ptr() != mine.data_ptr()
        for other in (parameter(graph, each) for each in others)
    )


def flat_inputs(args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> tuple[Any, ...]:
    """Inputs in the order of a graph's placeholders."""
    return tuple(tree_leaves((tuple(args), dict(kwargs or {}))))
