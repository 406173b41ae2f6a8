# SPDX-License-Identifier: BSD-3-Clause
"""Describes nodes for error messages."""

from __future__ import annotations

from collections.abc import Iterable

from torch.fx import Node

from rushlight.export.graph.nodes import source_line


def describe(nodes: Iterable[Node], limit: int = 8) -> list[str]:
    """One line per node: its name, operator, and the Python line that created it, if known."""
    nodes = list(nodes)
    lines = [_line(node) for node in nodes[:limit]]
    return lines + ([f"and {len(nodes) - limit} more"] if len(nodes) > limit else [])


def _line(node: Node) -> str:
    line = source_line(node)
    what = node.target if node.op == "call_function" else node.op
    return f"{node.name}: {what}" + (f", {line}" if line else "")
