# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites torch.fx graphs: the basic steps of passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.export.graph.nodes import copy_meta, graph_modules

_NAMESPACES_OF_PURE = frozenset(
    {"aten", "prims", "quantized_decomposed", "torchao", "rushlight", "rushlight_dim_order"}
)


def replace(program: ExportedProgram, node: Node, other: Node) -> None:
    """Replaces all uses of `node` by `other`, including those in the signature, and erases `node`.

    An output may become the same node as an input or another output; lowering inserts copies where two
    such values need separate memory.
    """
    if node.graph is program.graph and any(user.op == "output" for user in node.users):
        program.graph_signature.replace_all_uses(node.name, other.name)
    node.replace_all_uses_with(other)
    node.graph.erase_node(node)


def insert_before(
    before: Node,
    target: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    value: Any,
    origin: Node | None = None,
) -> Node:
    """Inserts a call in front of `before`; `value` becomes its meta["val"]. Its source line is that of
    `origin`, by default that of `before`."""
    with before.graph.inserting_before(before):
        made = before.graph.create_node(
            "call_function", target, tuple(args), dict(kwargs or {}), name=_name(target)
        )
    made.meta["val"] = value
    copy_meta(origin or before, made)
    return made


def _name(target: Any) -> str:
    return target._schema.name.partition("::")[2] if isinstance(target, OpOverload) else target.__name__


def calls(program: ExportedProgram) -> Iterator[tuple[GraphModule, Node]]:
    """Each call node with its module, those in bodies of control flow first. The caller may erase nodes while
    it iterates."""
    for module in graph_modules(program.graph_module):
        for node in list(module.graph.nodes):
            if node.op == "call_function" and not node._erased:
                yield module, node


@cache
def is_pure(target: Any) -> bool:
    """True if the operator is deterministic and has no side effects: equal arguments give equal results."""
    return (
        isinstance(target, OpOverload)
        and target.namespace in _NAMESPACES_OF_PURE
        and not target._schema.is_mutable
        and torch.Tag.nondeterministic_seeded not in target.tags
        and "empty" not in target._schema.name
    )


@cache
def tensor_arguments(function: OpOverload) -> tuple[tuple[int, str, bool], ...]:
    """The tensor and tensor-list arguments of an operator: (index, name, True for a list)."""
    found = []
    for index, argument in enumerate(function._schema.arguments):
        kind = str(argument.type)
        if kind in ("Tensor", "Optional[Tensor]"):
            found.append((index, argument.name, False))
        elif kind.startswith(("List[Tensor", "List[Optional[Tensor")):
            found.append((index, argument.name, True))
    return tuple(found)


def written_nodes(nodes: Iterable[Node]) -> set[Node]:
    """The input nodes of operators that write their arguments."""
    written: set[Node] = set()
    for node in nodes:
        if isinstance(node.target, OpOverload) and node.target._schema.is_mutable:
            written.update(node.all_input_nodes)
    return written


def fake_mode_of(value: Any) -> AbstractContextManager[Any]:
    """The fake mode of a node's value, in which to create further tensors."""
    first = value[0] if isinstance(value, (tuple, list)) else value
    mode: AbstractContextManager[Any] = first.fake_mode
    return mode
