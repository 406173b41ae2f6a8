# SPDX-License-Identifier: BSD-3-Clause
"""The state of lowering one method: its code, and the nodes that could not be lowered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.graph.nodes import value_of
from rushlight.export.lower.operands import constant_scalar, dtype_name, new_operand
from rushlight.export.lower.problems import Problem
from rushlight.export.order.orders import stored_order
from rushlight.export.passes.number_nodes import HANDLE
from rushlight.lowered.instructions import (
    Call,
    Instruction,
    JumpFalse,
    Label,
    LoweredMethod,
    Move,
    NumberOperand,
    Operand,
    Origin,
    TensorOperand,
)
from rushlight.program.dtypes import NUMBERS

_LAYOUTS = {torch.strided: 0}
_MEMORY_FORMATS = {
    torch.contiguous_format: 0,
    torch.preserve_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
}

Environment = dict[Node, Operand]


@dataclass(frozen=True)
class Failed:
    """The operand of a node that could not be lowered."""

    node: Node

    def __getitem__(self, index: Any) -> Failed:
        return self


@dataclass
class Builder(ABC):
    """The code of a method so far, and the problems found."""

    program: ExportedProgram
    library: OperatorLibrary
    method: LoweredMethod
    problems: list[Problem] = field(default_factory=list)

    @abstractmethod
    def lower(self, module: GraphModule, environment: Environment) -> list[Operand]:
        """Appends the code of a graph whose placeholders have their operands in `environment`; returns the
        operands of its output node."""

    def missing(self, node: Node) -> Operand:
        """Records that no kernel computes a node; returns an operand for its result, so that lowering
        continues."""
        self.problems.append(Problem.missing_operator(node, self.library))
        return new_operand(value_of(node), node.name, stored_order(node))

    def operand(self, value: Any, environment: Mapping[Node, Operand]) -> Operand:
        """The operand of a node's argument."""
        if isinstance(value, Node):
            return environment[value]
        if isinstance(value, (list, tuple)):
            return [self.operand(item, environment) for item in value]
        if isinstance(value, torch.dtype):
            return dtype_code(value)
        if isinstance(value, torch.layout):
            return _LAYOUTS.get(value, 0)
        if isinstance(value, torch.memory_format):
            return _MEMORY_FORMATS[value]
        if isinstance(value, torch.device):
            return None
        return constant_scalar(value)

    def emit(self, row: str, arguments: list[Operand], results: Sequence[Operand], node: Node | None) -> None:
        """Appends a kernel call; the row's last arguments are its results."""
        call = Call(
            row, arguments, list(self.library.schema(row).arguments), list(results), self.origin(node)
        )
        self.method.code.append(call)

    def append(self, instruction: Instruction) -> None:
        """Appends an instruction that is not a call."""
        self.method.code.append(instruction)

    def origin(self, node: Node | None) -> Origin:
        """The origin of an instruction: the node and its debug handle."""
        return Origin() if node is None else Origin(node, node.meta.get(HANDLE, 0))

    def copy(self, source: Operand, target: Operand, node: Node | None) -> None:
        """Copies the value of a tensor or scalar to another operand."""
        if isinstance(target, NumberOperand):
            self.append(Move(source, target, self.origin(node)))
        elif isinstance(target, TensorOperand) and source is not target:
            self.emit("aten::clone.out", [source, None, target], [target], node)

    def jump_if_false(self, condition: Operand, target: Label, node: Node | None) -> None:
        """Appends a conditional jump."""
        self.append(JumpFalse(condition, target, self.origin(node)))


def dtype_code(dtype: torch.dtype) -> int:
    """The integer of a dtype in the program format."""
    return NUMBERS[dtype_name(dtype)]
