# SPDX-License-Identifier: BSD-3-Clause
"""What keeps a node from running, with its line in the model and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from rushlight.errors import NotExportable
from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.graph.nodes import module_path, source_line


@dataclass(frozen=True)
class Problem:
    """One node that cannot run. `where` is its source line; `operator` as the runtime or PyTorch names it."""

    node: str
    where: str
    module: str
    operator: str
    reason: str
    remedy: str

    @classmethod
    def of_node(cls, node: Node, operator: str, reason: str, remedy: str) -> Problem:
        """A problem of a node."""
        return cls(
            node.name, str(source_line(node) or "no source line"), module_path(node), operator, reason, remedy
        )

    @classmethod
    def missing_operator(cls, node: Node, library: OperatorLibrary) -> Problem:
        """No row computes what the node calls."""
        dtypes = sorted(
            {_dtype(v) for n in (*node.all_input_nodes, node) for v in [n.meta.get("val")]} - {""}
        )
        reason = f"{library.label} has no kernel for it ({', '.join(dtypes) or 'no tensors'})"
        remedy = "write it with other operators, give a decomposition, or add a kernel"
        return cls.of_node(node, str(node.target), reason, remedy)

    def __str__(self) -> str:
        module = f" in {self.module}" if self.module else ""
        return f"{self.where}{module}: {self.operator}: {self.reason}; {self.remedy}"


def _dtype(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.") if isinstance(value, torch.Tensor) else ""


def raise_if_any(problems: Sequence[Problem], method: str) -> None:
    """Errors: NotExportable with a line for each problem."""
    if problems:
        lines = "\n".join(f"  {problem}" for problem in dict.fromkeys(problems))
        raise NotExportable(
            f"method '{method}': {len(problems)} nodes cannot run:\n{lines}",
            problems=list(problems),
            next_step="Change these lines of the model, or give export() what is missing.",
        )
