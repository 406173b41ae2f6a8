# SPDX-License-Identifier: BSD-3-Clause
"""Makes operators that take tensors get tensors: numbers in their place become another overload, which
takes numbers, or constants of no dimensions."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.export.constants import Constants
from rushlight.export.graph import copy_meta, graph_modules, value_of
from rushlight.export.passes.base import Pass, PassContext

_NUMBERS = (bool, int, float)
_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)


class LiftScalars(Pass):
    """`add.Tensor(x, 2)` becomes `add.Scalar(x, 2)` where the runtime has that, else `add.Tensor(x, c)`."""

    name = "lift_scalars"
    ensures = frozenset({"tensors where tensors are expected"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        constants = Constants(program)
        modified = False
        for module in graph_modules(program.graph_module):
            for node in list(module.graph.nodes):
                if node.op == "call_function" and isinstance(node.target, OpOverload):
                    modified |= self._lift(node, module, program, constants, context)
        return modified

    def _lift(
        self,
        node: Node,
        module: GraphModule,
        program: ExportedProgram,
        constants: Constants,
        context: PassContext,
    ) -> bool:
        places = [index for index, _ in _numbers_for_tensors(node)]
        if not places:
            return False
        other = _overload_with_scalar(node.target, places, context)
        if other is not None:
            node.target = other
            return True
        for index, number in _numbers_for_tensors(node):
            lifted = self._tensor(node, number, module, program, constants)
            node.update_arg(index, lifted)
        return True

    def _tensor(
        self, node: Node, number: Any, module: GraphModule, program: ExportedProgram, constants: Constants
    ) -> Node:
        dtype = _dtype_beside(node, number)
        if module is program.graph_module and not isinstance(number, Node):
            return constants.add(torch.tensor(number, dtype=dtype), "scalar")
        with module.graph.inserting_before(node):
            made = module.graph.call_function(
                torch.ops.aten.scalar_tensor.default, (number,), {"dtype": dtype}
            )
        with _fake_mode(node):
            made.meta["val"] = torch.empty((), dtype=dtype)
        copy_meta(node, made)
        return made


def _numbers_for_tensors(node: Node) -> list[tuple[int, Any]]:
    """Positions among the arguments that are to be tensors and are numbers."""
    found = []
    for index, (argument, value) in enumerate(zip(node.target._schema.arguments, node.args, strict=False)):
        if str(argument.type) not in ("Tensor", "Optional[Tensor]"):
            continue
        known = value_of(value)
        if isinstance(known, (*_NUMBERS, *_SYMBOLS)):
            found.append((index, value))
    return found


def _overload_with_scalar(function: OpOverload, places: list[int], context: PassContext) -> OpOverload | None:
    """The overload that takes a number in the only place, if the runtime has it."""
    if len(places) != 1:
        return None
    packet = function.overloadpacket
    wanted = [(a.name, str(a.type)) for a in function._schema.arguments]
    place = places[0]
    wanted[place] = (wanted[place][0], "number")
    for name in packet.overloads():
        other = getattr(packet, name)
        kinds = [(a.name, str(a.type)) for a in other._schema.arguments]
        if kinds[: len(wanted)] == wanted and len(kinds) == len(wanted) and context.library.find(other):
            return other
    return None


def _dtype_beside(node: Node, number: Any) -> torch.dtype:
    """The dtype that a number takes beside the node's tensors: theirs, unless it is of a higher kind."""
    tensors = [value_of(a) for a in node.args if isinstance(value_of(a), torch.Tensor)]
    known = value_of(number)
    kind = bool if isinstance(known, (bool, torch.SymBool)) else None
    kind = kind or (int if isinstance(known, (int, torch.SymInt)) else float)
    own = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}[kind]
    if not tensors:
        return own
    beside = tensors[0].dtype
    promoted = torch.result_type(torch.empty((1,), dtype=beside), kind(1))
    return promoted if promoted != torch.bool or kind is bool else own


def _fake_mode(node: Node) -> Any:
    value = value_of(node)
    value = value[0] if isinstance(value, (tuple, list)) else value
    return value.fake_mode
