# SPDX-License-Identifier: BSD-3-Clause
"""Looking at torch.fx graphs: the modules of control flow, values of nodes, source lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

_FRAME = re.compile(
    r'File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?(?:\n\s*(?P<code>.+))?'
)
# Frames of PyTorch itself say less than the line of the model that got there.
_INNER = re.compile(r"(^|/)torch/(nn/|fx/|_|export/|utils/|functional|_higher_order_ops)")


@dataclass(frozen=True)
class SourceLine:
    """A line of Python that made a node."""

    file: str
    line: int
    function: str = ""
    code: str = ""

    def __str__(self) -> str:
        code = f": {self.code}" if self.code else ""
        return f"{self.file}:{self.line}{code}"


def graph_modules(module: GraphModule) -> Iterator[GraphModule]:
    """The module and, inside first, those that its control flow calls."""
    for node in module.graph.nodes:
        if node.op == "get_attr":
            inner = attribute(module, str(node.target))
            if isinstance(inner, GraphModule):
                yield from graph_modules(inner)
    yield module


def attribute(module: torch.nn.Module, path: str) -> Any:
    """What a get_attr node's target names; None where there is no such thing."""
    found: Any = module
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def frames(node: Node) -> list[SourceLine]:
    """The Python frames that made a node, outermost first; empty when it was made by none."""
    trace = node.meta.get("stack_trace") or ""
    return [
        SourceLine(m["file"], int(m["line"]), m["function"] or "", (m["code"] or "").strip())
        for m in _FRAME.finditer(trace)
    ]


def source_line(node: Node) -> SourceLine | None:
    """The innermost line outside of PyTorch that made a node, or else the innermost one."""
    found = frames(node)
    outside = [frame for frame in found if not _INNER.search(frame.file)]
    return (outside or found or [None])[-1]


def module_path(node: Node) -> str:
    """The modules that the node was made in: "encoder.layers.0 (Linear)"; empty at the top."""
    stack = node.meta.get("nn_module_stack") or {}
    if not stack:
        return ""
    path, kind = list(stack.values())[-1]
    name = kind if isinstance(kind, str) else kind.__name__
    path = path.replace("L['self'].", "").replace("L['self']", "")
    return f"{path} ({name.rpartition('.')[2]})" if path and not path.startswith("_empty") else ""


def value_of(node: Any) -> Any:
    """A node's value while exporting: FakeTensor, SymInt, number, or a tuple of such; numbers are their
    own."""
    return node.meta.get("val") if isinstance(node, Node) else node


def copy_meta(source: Node, target: Node) -> None:
    """Give a node that takes the place of another one its origin: source line, modules."""
    for key in ("stack_trace", "nn_module_stack", "torch_fn", "source_fn_stack"):
        if key in source.meta:
            target.meta.setdefault(key, source.meta[key])
