# SPDX-License-Identifier: BSD-3-Clause
"""What a pass is: a change of an ExportedProgram in place, with what it requires and ensures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.export import ExportedProgram

from rushlight.export.arithmetic import Arithmetic

if TYPE_CHECKING:
    from rushlight.export.frontend.operators import OperatorLibrary


@dataclass
class PassContext:
    """What passes may ask about: the operators of the runtime that the program is made for, the method's
    name, and which passes ran before. `remarks` collects why rewrites were refused, and `arithmetic` which
    operators of a quantized graph compute in integers, for the report."""

    library: OperatorLibrary
    method: str = "forward"
    remarks: list[str] = field(default_factory=list)
    history: list[str] = field(default_factory=list)
    arithmetic: list[Arithmetic] = field(default_factory=list)


class Pass(ABC):
    """One change of a program.

    `requires` are properties of the program that passes before must have ensured; `ensures` those that
    hold afterwards; `breaks` those that no longer need to hold.
    """

    name: ClassVar[str] = ""
    requires: ClassVar[frozenset[str]] = frozenset()
    ensures: ClassVar[frozenset[str]] = frozenset()
    breaks: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """Change the program in place; True when anything was changed.

        The pass keeps each node's meta["val"] right; dead nodes may be left behind.
        """

    def __str__(self) -> str:
        return self.name or type(self).__name__


class FunctionPass(Pass):
    """A user's pass: any callable that takes a GraphModule or an ExportedProgram.

    It may change its argument in place, and return nothing, a PassResult of torch.fx, or a GraphModule or
    ExportedProgram in place of the one it got.
    """

    def __init__(self, function: Callable[[Any], Any], *, takes_program: bool = False) -> None:
        self.function, self.takes_program = function, takes_program

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        result = self.function(program if self.takes_program else program.graph_module)
        module = getattr(result, "graph_module", result)
        if isinstance(module, torch.fx.GraphModule) and module is not program.graph_module:
            program._graph_module = module
        return getattr(result, "modified", True)

    def __str__(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)
