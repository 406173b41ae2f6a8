# SPDX-License-Identifier: BSD-3-Clause
"""Checks each call against the operator table before the program is written, so that an exported program can
run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from rushlight.codegen import promise
from rushlight.codegen.table import OperatorTable
from rushlight.export.lower.problems import Problem
from rushlight.lowered.instructions import (
    Call,
    DelegateCall,
    LoweredMethod,
    NumberOperand,
    Operand,
    TensorOperand,
)

_NUMBER_KINDS = {bool: "bool", int: "int", float: "double", str: "string"}
_LIST_KINDS = {"float": "double list", "bool": "bool list"}


def broken_promises(
    method: LoweredMethod,
    table: OperatorTable,
    built: Mapping[str, Collection[str]] | None = None,
    backends: Collection[str] | None = None,
) -> list[Problem]:
    """The calls without a kernel in the table for their operator, dtypes or ranks. With `built` (the
    operators of a build with their dtypes), also the calls that the build lacks; with `backends` (the ids
    in the build), also the delegates of other backends."""
    problems = []
    seen: dict[object, promise.Problem | None] = {}
    for instruction in method.code:
        if isinstance(instruction, DelegateCall) and backends is not None:
            problems += _missing_backend(instruction, backends)
        if not isinstance(instruction, Call):
            continue
        operands = [
            described(argument, kind)
            for argument, kind in zip(instruction.arguments, instruction.kinds, strict=True)
        ]
        key = (instruction.row, *operands)
        if key not in seen:
            seen[key] = promise.call_problem(table, instruction.row, operands, built=built)
        found = seen[key]
        if found is not None:
            problems.append(_reported(instruction, found))
    return problems


def _missing_backend(call: DelegateCall, backends: Collection[str]) -> list[Problem]:
    name = call.module.backend_id
    if name in backends:
        return []
    reason = f"expected a backend of the build ({', '.join(sorted(backends)) or 'none'}), got '{name}'"
    remedy = "build with the backend, or export without its partitioner"
    assert call.origin.node is not None
    return [Problem.of_node(call.origin.node, f"delegate '{name}'", reason, remedy)]


def described(operand: Operand, argument: Any) -> promise.Operand:
    """A call's argument in the terms of the check."""
    if operand is None:
        return promise.Operand("none")
    if isinstance(operand, TensorOperand):
        return promise.Operand("tensor", ((operand.dtype, len(operand.sizes)),))
    if isinstance(operand, NumberOperand):
        return promise.Operand(_NUMBER_KINDS[operand.kind])
    if isinstance(operand, list):
        if argument.base != "Tensor":
            return promise.Operand(_LIST_KINDS.get(argument.base, "int list"))
        kind = "optional tensor list" if argument.optional_items else "tensor list"
        tensors = [item for item in operand if isinstance(item, TensorOperand)]
        return promise.Operand(kind, tuple((tensor.dtype, len(tensor.sizes)) for tensor in tensors))
    return promise.Operand(_NUMBER_KINDS.get(type(operand), ""))


def _reported(call: Call, found: promise.Problem) -> Problem:
    node = call.origin.node
    if node is None:
        return Problem("", "the end of the method", "", call.row, found.message, found.remedy)
    return Problem.of_node(node, call.row, found.message, found.remedy)
