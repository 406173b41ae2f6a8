# SPDX-License-Identifier: BSD-3-Clause
"""Lowers a whole method: inputs, graph, mutations, outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, OutputKind
from torch.fx import Node

from rushlight.export.frontend.operators import OperatorLibrary
from rushlight.export.graph.constants import input_specs, is_lifted, mutated_targets, stored_tensor
from rushlight.export.lower.builder import Environment, Failed
from rushlight.export.lower.lowering import Lowering
from rushlight.export.lower.operands import (
    Unbounded,
    constant_scalar,
    new_operand,
    tensor_operand,
)
from rushlight.export.lower.problems import Problem
from rushlight.export.order.orders import stored_order
from rushlight.lowered.instructions import (
    LoweredMethod,
    MemoryKind,
    Operand,
    Storage,
    TensorOperand,
)

_WRITTEN_BACK = {
    kind
    for name in ("BUFFER_MUTATION", "USER_INPUT_MUTATION", "PARAMETER_MUTATION")
    if (kind := getattr(OutputKind, name, None)) is not None
}


@dataclass(frozen=True)
class Placement:
    """The owner of the memory of inputs and outputs: the plan (True) or the caller (False). `is_external` is
    True for the name of a constant whose data goes into a data file."""

    plan_inputs: bool = True
    plan_outputs: bool = True
    is_external: Callable[[str], bool] = lambda name: False


def lower_method(
    program: ExportedProgram, library: OperatorLibrary, name: str, placement: Placement
) -> tuple[LoweredMethod, list[Problem]]:
    """The instructions of a program in edge dialect, and the problems of nodes that could not be lowered."""
    method = LoweredMethod(name)
    lowering = Lowering(program, library, method)
    environment = _inputs(lowering, placement)
    returned = lowering.lower(program.graph_module, environment)
    if not lowering.problems:
        _finish(lowering, returned, environment, placement)
    return method, lowering.problems


def _inputs(lowering: Lowering, placement: Placement) -> Environment:
    program, method = lowering.program, lowering.method
    mutated = mutated_targets(program)
    specs = input_specs(program)
    environment: Environment = {}
    for node in program.graph.nodes:
        if node.op != "placeholder":
            continue
        spec = specs[node.name]
        try:
            if is_lifted(spec):
                environment[node] = _lifted(program, node, spec, spec.target in mutated, placement)
                if spec.target in mutated:
                    method.mutable.append(environment[node])
            elif spec.kind is InputKind.USER_INPUT:
                environment[node] = _user_input(node, spec, placement)
                method.inputs.append(environment[node])
            else:
                environment[node] = None
        except Unbounded as error:
            step = "give it an upper bound: Dim(..., max=...)"
            lowering.problems.append(
                Problem(node.name, f"input '{node.name}'", "", "input", str(error), step)
            )
            environment[node] = Failed(node)
    return environment


def _lifted(
    program: ExportedProgram, node: Node, spec: InputSpec, is_mutated: bool, placement: Placement
) -> TensorOperand:
    tensor, target = stored_tensor(program, spec), spec.target or node.name
    operand = tensor_operand(tensor, target, stored_order(node))
    operand.storage.kind = MemoryKind.MUTABLE if is_mutated else MemoryKind.CONSTANT
    operand.storage.data = tensor
    operand.storage.external = not is_mutated and placement.is_external(target)
    return operand


def _user_input(node: Node, spec: InputSpec, placement: Placement) -> Operand:
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        operand = tensor_operand(value, node.name, stored_order(node))
        operand.storage.kind = MemoryKind.PLANNED if placement.plan_inputs else MemoryKind.CALLER
        return operand
    if value is None:
        return getattr(spec.arg, "value", None)
    known = constant_scalar(value)
    return known if isinstance(known, (bool, int, float, str)) else new_operand(known, node.name)


def _finish(
    lowering: Lowering, returned: list[Operand], environment: Environment, placement: Placement
) -> None:
    """Appends the writes of mutated buffers after all reads, and sets the method's outputs."""
    program = lowering.program
    outputs: list[Operand] = []
    changes: list[tuple[Operand, TensorOperand]] = []
    for operand, spec in zip(returned, program.graph_signature.output_specs, strict=True):
        if spec.kind in _WRITTEN_BACK:
            target = _target(program, spec.target, environment)
            if operand is not target:
                changes.append((operand, target))
        elif spec.kind is not OutputKind.TOKEN:
            outputs.append(operand)
    overwritten = {id(target.storage) for _, target in changes}
    outputs = [_kept(lowering, output, overwritten) for output in outputs]
    sources = [_kept(lowering, source, overwritten) for source, _ in changes]
    for source, (_, target) in zip(sources, changes, strict=True):
        lowering.emit("aten::copy_", [target, source, False], [target], None)
    lowering.method.outputs = outputs if placement.plan_outputs else _callers(lowering, outputs)


def _target(program: ExportedProgram, name: str | None, environment: Environment) -> TensorOperand:
    """The operand of a mutation's placeholder: a buffer's by target, an input's by name."""
    for node, spec in zip(environment, program.graph_signature.input_specs, strict=False):
        if node.op == "placeholder" and name in (spec.target, node.name):
            found: TensorOperand = environment[node]
            return found
    raise KeyError(name)


def _kept(lowering: Lowering, operand: Operand, overwritten: set[int]) -> Operand:
    """The operand, or a copy of it if its bytes will be overwritten."""
    if isinstance(operand, TensorOperand) and id(operand.storage) in overwritten:
        return _copied(lowering, operand)
    return operand


def _copied(
    lowering: Lowering, operand: TensorOperand, kind: MemoryKind = MemoryKind.PLANNED
) -> TensorOperand:
    storage = Storage(f"{operand.storage.name}.copy", operand.nbytes, kind)
    copy = TensorOperand(
        operand.dtype, operand.sizes, operand.dim_order, storage, operand.is_dynamic, 0, operand.symbols
    )
    lowering.copy(operand, copy, None)
    return copy


def _callers(lowering: Lowering, outputs: list[Operand]) -> list[Operand]:
    """The outputs in the caller's memory; an output that shares its storage with another tensor is copied."""
    users: dict[int, set[int]] = {}
    touched = [lowering.method.reads_and_writes(instruction) for instruction in lowering.method.code]
    for operand in (*outputs, *(operand for lists in touched for each in lists for operand in each)):
        if isinstance(operand, TensorOperand):
            users.setdefault(id(operand.storage), set()).add(id(operand))
    placed: list[Operand] = []
    for output in outputs:
        if isinstance(output, TensorOperand):
            storage = output.storage
            alone = users.get(id(storage), set()) <= {id(output)} and output not in placed
            is_own = storage.kind is MemoryKind.PLANNED and output not in lowering.method.inputs
            if alone and is_own and output.offset == 0:
                storage.kind = MemoryKind.CALLER
            else:
                output = _copied(lowering, output, MemoryKind.CALLER)
        placed.append(output)
    return placed
