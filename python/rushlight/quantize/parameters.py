# SPDX-License-Identifier: BSD-3-Clause
"""Reads and replaces parameters of a captured graph without changing the original model."""

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
    """Makes a get_attr node read another tensor."""
    owner, _, leaf = str(node.target).rpartition(".")
    module = graph.get_submodule(owner)
    if leaf in module._parameters:
        module._parameters[leaf] = torch.nn.Parameter(value, requires_grad=False)
    else:
        module._buffers[leaf] = value


def is_read_once(graph: GraphModule, node: Any) -> bool:
    """True if exactly one node reads the parameter and no other parameter shares its memory."""
    mine = parameter(graph, node)
    if mine is None or len(node.users) != 1:
        return False
    others = (each for each in graph.graph.nodes if each.op == "get_attr" and each is not node)
    return all(
        other is None or other.data_ptr() != mine.data_ptr()
        for other in (parameter(graph, each) for each in others)
    )


def flat_inputs(args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> tuple[Any, ...]:
    """The inputs in the order of a graph's placeholders."""
    return tuple(tree_leaves((tuple(args), dict(kwargs or {}))))
