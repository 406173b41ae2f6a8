# SPDX-License-Identifier: BSD-3-Clause
"""The interface of passes: an in-place change of an ExportedProgram, with preconditions and guarantees."""

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
    """The context of a pass: the operators of the runtime, the method's name, and the passes that ran before
    (`history`). For the report, `remarks` collects reasons for refused rewrites, and `arithmetic` which
    operators of a quantized graph compute in integers."""

    library: OperatorLibrary
    method: str = "forward"
    remarks: list[str] = field(default_factory=list)
    history: list[str] = field(default_factory=list)
    arithmetic: list[Arithmetic] = field(default_factory=list)


class Pass(ABC):
    """A change of a program.

    `requires` are properties that earlier passes must have ensured, `ensures` properties that hold
    afterwards, `breaks` properties that may no longer hold.
    """

    name: ClassVar[str] = ""
    requires: ClassVar[frozenset[str]] = frozenset()
    ensures: ClassVar[frozenset[str]] = frozenset()
    breaks: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """Changes the program in place. Returns True if it changed anything.

        A pass keeps each node's meta["val"] correct; it may leave dead nodes behind.
        """

    def __str__(self) -> str:
        return self.name or type(self).__name__


class FunctionPass(Pass):
    """A user's pass: a callable that takes a GraphModule, or with `takes_program` an ExportedProgram.

    It may change its argument in place, and may return nothing, a PassResult of torch.fx, or a new
    GraphModule or ExportedProgram.
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
