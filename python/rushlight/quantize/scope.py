# SPDX-License-Identifier: BSD-3-Clause
"""Finds the module of the model that a node comes from."""

from __future__ import annotations

from torch.fx import GraphModule, Node


def module_stack(node: Node) -> list[tuple[str, str]]:
    """The modules around a node, outermost first: each one's path ("encoder.0") and full type name.

    A module that is not called but whose parameters the node uses comes last, with an empty type: for
    example the output projection of attention.
    """
    stack = []
    for path, kind in (node.meta.get("nn_module_stack") or {}).values():
        path = path.removeprefix("L['self']").removeprefix(".")
        stack.append((path, kind if isinstance(kind, str) else type_name(kind)))
    around = stack[-1][0] if stack else ""
    for source in node.all_input_nodes:
        owner = str(source.target).rpartition(".")[0] if source.op == "get_attr" else ""
        if owner != around and owner.startswith(f"{around}." if around else ""):
            return [*stack, (owner, "")]
    return stack


def type_name(kind: type) -> str:
    """A module's type as graphs name it."""
    return f"{kind.__module__}.{kind.__qualname__}"


def module_paths(model: GraphModule) -> set[str]:
    """The paths of all modules that contribute operators to the graph."""
    return {path for node in model.graph.nodes for path, _ in module_stack(node) if path}
