# SPDX-License-Identifier: BSD-3-Clause
"""Reads torch.fx graphs: modules of control flow, values of nodes, source lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Node

from rushlight.program.debug import Frame, Module

_FRAME = re.compile(
    r'File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?(?:\n\s*(?P<code>.+))?'
)
# Frames to skip: PyTorch's own code and generated code locate a node less well than the model's line.
_INNER = re.compile(r"(^|/)torch/(nn/|fx/|_|export/|utils/|functional|_higher_order_ops)|^<eval_with_key>")


def graph_modules(module: GraphModule) -> Iterator[GraphModule]:
    """The module and the modules that its control flow calls, innermost first."""
    for node in module.graph.nodes:
        if node.op == "get_attr":
            inner = attribute(module, str(node.target))
            if isinstance(inner, GraphModule):
                yield from graph_modules(inner)
    yield module


def attribute(module: torch.nn.Module, path: str) -> Any:
    """The attribute at the dotted path of a get_attr node's target; None if it is missing."""
    found: Any = module
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def frames(node: Node) -> list[Frame]:
    """The Python frames that created a node, outermost first, without PyTorch's own unless there are no
    others; empty if no source line is known."""
    trace = node.meta.get("stack_trace") or ""
    found = [
        Frame(m["file"], int(m["line"]), m["function"] or "", (m["code"] or "").strip())
        for m in _FRAME.finditer(trace)
    ]
    return [frame for frame in found if not _INNER.search(frame.file)] or found


def source_line(node: Node) -> Frame | None:
    """The line of the model that created a node."""
    found = frames(node)
    return found[-1] if found else None


def modules(node: Node) -> list[Module]:
    """The modules whose call created the node, outermost first."""
    found = []
    for path, kind in (node.meta.get("nn_module_stack") or {}).values():
        name = kind if isinstance(kind, str) else kind.__name__
        path = path.replace("L['self'].", "").replace("L['self']", "")
        if not path.startswith("_empty"):
            found.append(Module(path, name.rpartition(".")[2]))
    return found


def module_path(node: Node) -> str:
    """The innermost module that created the node, as text; empty at the top level."""
    found = modules(node)
    return str(found[-1]) if found and found[-1].path else ""


def arguments_of(node: Node) -> tuple[Any, ...]:
    """A call's arguments, typed Any: the operator's schema defines their kinds, torch.fx only knows their
    union."""
    return node.args


def permutation_of(node: Node) -> list[int]:
    """The dimensions of a `permute` or `permute_copy` call, non-negative: dimension i of the result is
    dimension dims[i] of the input."""
    rank = value_of(node).dim()
    return [dim % rank for dim in arguments_of(node)[1]]


def input_of(node: Node, position: int = 0) -> Node:
    """The argument at index `position` of a call, which must be a node."""
    found = node.args[position]
    assert isinstance(found, Node), f"{node.name}: expected a node as argument {position}, got {found!r}"
    return found


def named_argument(node: Node, name: str) -> Any:
    """The value of a call's argument by name, or the argument's default; None if the operator has no such
    argument."""
    for position, argument in enumerate(overload_of(node)._schema.arguments):
        if argument.name == name:
            if position < len(node.args):
                return node.args[position]
            return node.kwargs.get(name, argument.default_value)
    return None


def overload_of(node: Node) -> OpOverload:
    """The operator overload that a node calls."""
    assert isinstance(node.target, OpOverload), f"{node.name}: expected an operator, got {node.target!r}"
    return node.target


def value_of(node: Any) -> Any:
    """A node's value during export: FakeTensor, SymInt, int, float or bool, or a tuple of them; a value that
    is no node is returned as it is."""
    return node.meta.get("val") if isinstance(node, Node) else node


def copy_meta(source: Node, target: Node) -> None:
    """Copies the origin (source line, modules) to a node that replaces `source`."""
    for key in ("stack_trace", "nn_module_stack", "torch_fn", "source_fn_stack", "debug_handle"):
        if key in source.meta:
            target.meta.setdefault(key, source.meta[key])
