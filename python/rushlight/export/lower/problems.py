# SPDX-License-Identifier: BSD-3-Clause
"""Reasons why a node cannot run, with its line in the model and a remedy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from rushlight.errors import NotExportable
from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.frontend.served import served_row
from rushlight.export.graph.nodes import module_path, source_line


@dataclass(frozen=True)
class Problem:
    """One node that cannot run. `where` is its source line, `operator` the name in the runtime or in
    PyTorch."""

    node: str
    where: str
    module: str
    operator: str
    reason: str
    remedy: str

    @classmethod
    def of_node(cls, node: Node, operator: str, reason: str, remedy: str) -> Problem:
        """A problem of a node, with the node's origin."""
        return cls(
            node.name, str(source_line(node) or "no source line"), module_path(node), operator, reason, remedy
        )

    @classmethod
    def missing_operator(cls, node: Node, library: OperatorLibrary) -> Problem:
        """The problem that no row of the table computes a node's operator."""
        dtypes = sorted(
            {_dtype(v) for n in (*node.all_input_nodes, node) for v in [n.meta.get("val")]} - {""}
        )
        reason = f"{library.label} has no kernel for it ({', '.join(dtypes) or 'no tensors'})"
        remedy = "write it with other operators, give a decomposition, or add a kernel"
        if isinstance(node.target, torch._ops.OpOverload) and served_row(node.target) is not None:
            remedy += ', or let PyTorch compute it: fallback="aten" in export and load'
        return cls.of_node(node, str(node.target), reason, remedy)

    def __str__(self) -> str:
        module = f" in {self.module}" if self.module else ""
        return f"{self.where}{module}: {self.operator}: {self.reason}; {self.remedy}"


def _dtype(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.") if isinstance(value, torch.Tensor) else ""


def raise_if_any(problems: Sequence[Problem], method: str) -> None:
    """Errors: NotExportable with one line per problem."""
    if problems:
        lines = "\n".join(f"  {problem}" for problem in dict.fromkeys(problems))
        raise NotExportable(
            f"method '{method}': {len(problems)} node{'s' if len(problems) > 1 else ''} cannot run:\n{lines}",
            problems=list(problems),
            next_step="Change these lines of the model, or add the missing kernels or decompositions.",
        )
