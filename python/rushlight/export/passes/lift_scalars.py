# SPDX-License-Identifier: BSD-3-Clause
"""Replaces scalars passed for tensor arguments: by an overload that takes a scalar, or by a constant without
dimensions."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from rushlight.export.graph.constants import Constants
from rushlight.export.graph.nodes import overload_of, value_of
from rushlight.export.graph.rewrite import calls, fake_mode_of, insert_before, tensor_arguments
from rushlight.export.passes.base import Pass, PassContext

_NUMBERS = (bool, int, float, complex)
_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)


class LiftScalars(Pass):
    """Rewrites `add.Tensor(x, 2)` to `add.Scalar(x, 2)` if the runtime has that, else to `add.Tensor(x,
    c)`."""

    name = "lift_scalars"
    ensures = frozenset({"tensors where tensors are expected"})

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        lifting = _Lifting(program, context)
        modified = False
        for module, node in calls(program):
            if isinstance(node.target, OpOverload):
                modified |= lifting.lift(node, module)
        return modified


class _Lifting:
    """The state for one program: each scalar becomes one constant per dtype."""

    def __init__(self, program: ExportedProgram, context: PassContext) -> None:
        self.program, self.context = program, context
        self.constants = Constants(program)
        self.made: dict[tuple[str, torch.dtype], Node] = {}

    def lift(self, node: Node, module: GraphModule) -> bool:
        """Replaces the node's scalars. Returns True if there were any."""
        numbers = _scalars_for_tensors(node)
        if not numbers:
            return False
        is_complex = any(isinstance(number, complex) for _, number in numbers)  # programs have none
        positions = [] if is_complex else [index for index, _ in numbers]
        other = _overload_with_scalar(overload_of(node), positions, self.context)
        if other is not None:
            node.target = other
            return True
        for index, number in numbers:
            node.update_arg(index, self._tensor(node, number, module))
        return True

    def _tensor(self, node: Node, number: Any, module: GraphModule) -> Node:
        dtype = _dtype_beside(node, number)
        if module is not self.program.graph_module or isinstance(number, Node):
            return _computed(node, number, dtype)
        key = repr(number), dtype
        if key not in self.made:
            self.made[key] = self.constants.add(torch.tensor(number, dtype=dtype), "scalar")
        return self.made[key]


def _computed(node: Node, number: Any, dtype: torch.dtype) -> Node:
    """A tensor created at run time: from a symbol, or in a body of control flow."""
    with fake_mode_of(value_of(node)):
        value = torch.empty((), dtype=dtype)
    return insert_before(node, torch.ops.aten.scalar_tensor.default, (number,), {"dtype": dtype}, value=value)


def _scalars_for_tensors(node: Node) -> list[tuple[int, Any]]:
    """(index, value) of the tensor arguments that are scalars."""
    found = []
    for index, _, is_list in tensor_arguments(overload_of(node)):
        if not is_list and index < len(node.args):
            known = value_of(node.args[index])
            if isinstance(known, (_NUMBERS, _SYMBOLS)):
                found.append((index, node.args[index]))
    return found


def _overload_with_scalar(
    function: OpOverload, positions: list[int], context: PassContext
) -> OpOverload | None:
    """The overload with a scalar at the only index in `positions`, if the runtime has it."""
    if len(positions) != 1:
        return None
    packet = function.overloadpacket
    wanted = [(a.name, str(a.type)) for a in function._schema.arguments]
    position = positions[0]
    wanted[position] = (wanted[position][0], "number")
    for name in packet.overloads():
        other: OpOverload = getattr(packet, name)
        kinds = [(a.name, str(a.type)) for a in other._schema.arguments]
        if kinds[: len(wanted)] == wanted and len(kinds) == len(wanted) and context.library.find(other):
            return other
    return None


def _dtype_beside(node: Node, number: Any) -> torch.dtype:
    """The dtype of a scalar in an operation with the node's tensors: theirs, unless the scalar's kind is
    higher."""
    tensors = [value_of(a) for a in node.args if isinstance(value_of(a), torch.Tensor)]
    kind = _kind(value_of(number))
    own = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype(), complex: torch.complex64}[
        kind
    ]
    if not tensors:
        return own
    beside = tensors[0].dtype
    promoted = torch.result_type(torch.empty((1,), dtype=beside), kind(1))
    return promoted if promoted != torch.bool or kind is bool else own


def _kind(number: Any) -> type:
    """The kind of a value: bool, int, float or complex."""
    kinds = {bool: (bool, torch.SymBool), int: (int, torch.SymInt), complex: (complex,)}
    return next((kind for kind, types in kinds.items() if isinstance(number, types)), float)
