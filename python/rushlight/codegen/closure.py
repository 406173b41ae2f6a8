# SPDX-License-Identifier: BSD-3-Clause
"""The dtypes that an operator's kernel needs to execute a given model.

A kernel needs more than the dtypes of its tensors: it computes in the type to which its arguments promote,
in the default float if integers meet a fractional scalar, and in the dtype that an argument names. A dtype
too many costs bytes, one too few breaks the model, so every uncertainty adds dtypes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from rushlight.codegen.calls import CallFacts, call_facts, changing_values
from rushlight.codegen.kernel_keys import key_of
from rushlight.codegen.numbers import fractional_scalars
from rushlight.codegen.schema import Argument, Schema
from rushlight.codegen.table import OperatorTable
from rushlight.program import Method, Program, Value
from rushlight.program.dtypes import COMPLEX, FLOATING, INTEGRAL, NAMES, promotion_closure
from rushlight.program.model import KernelCall, Kind

DEFAULT_FLOAT = "float32"


@dataclass
class Calls:
    """The needs of an operator's calls: dtypes, and the kernel key and the facts of each call; None if a call
    changes from one execution to the next."""

    dtypes: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    facts: set[CallFacts] | None = field(default_factory=set)


def program_calls(program: Program, table: OperatorTable) -> dict[str, Calls]:
    """All operators of a program, including those missing in the table, with the needs of their calls."""
    needs: dict[str, Calls] = {}
    for method in program.plans:
        fractional = fractional_scalars(method)
        changing = changing_values(method)
        for name in method.operators:
            needs.setdefault(name, Calls())
        for instruction in method.instructions:
            if not isinstance(instruction, KernelCall):
                continue
            name, indices = method.operators[instruction.operator], instruction.arguments
            operator = table.operators.get(name)
            arguments = operator.schema.arguments if operator else ()
            needs[name].dtypes |= call_dtypes(method, arguments, indices, fractional)
            needs[name].keys.add(call_key(method, [method.values[index] for index in indices]))
            facts = call_facts(method, arguments, indices, changing) if operator else None
            held = needs[name].facts
            needs[name].facts = None if facts is None or held is None else held | {facts}
    return needs


def model_dtypes(program: Program, table: OperatorTable) -> dict[str, frozenset[str]]:
    """All operators of a program, including those missing in the table, with their dtypes."""
    return {name: frozenset(calls.dtypes) for name, calls in program_calls(program, table).items()}


def call_key(method: Method, values: Sequence[Value]) -> str:
    """The kernel key of a call, over all its values, in the form of ExecuTorch's tools: a list counts as its
    first tensor."""
    tensors = [held[0] for value in values if (held := method.tensors_of(value))]
    return key_of((tensor.dtype, tensor.dim_order) for tensor in tensors)


def schema_dtypes(schema: Schema | None, dtypes: Iterable[str]) -> frozenset[str]:
    """The dtypes of a call of which only the tensors' dtypes are known; its scalars may be of any kind."""
    taken = set(dtypes)
    if schema is None or any(argument.base == "Scalar" for argument in schema.arguments):
        if "bool" in taken:
            taken.add("int64")
        if "bool" in taken or taken & INTEGRAL:
            taken.add(DEFAULT_FLOAT)
    elif taken & (FLOATING | COMPLEX) and ("bool" in taken or taken & INTEGRAL):
        taken.add(DEFAULT_FLOAT)
    return promotion_closure(taken)


def call_dtypes(
    method: Method, arguments: Sequence[Argument], indices: Sequence[int], fractional: Collection[int]
) -> frozenset[str]:
    """The dtypes of one call. `indices` are the values of its arguments in the order of the schema's
    `arguments`; `fractional` has the indices of values that may be fractional."""
    values = [method.values[index] for index in indices]
    present = _dtypes(method, values)
    outs = _count_outs(arguments)
    taken = _dtypes(method, values[: len(arguments) - outs]) or set(present)
    promotes = bool(present & (FLOATING | COMPLEX))
    for argument, value, index in zip(arguments, values, indices, strict=False):
        if argument.base == "ScalarType":
            taken |= _named_dtype(value)
        elif argument.base == "Scalar" and value.kind not in (Kind.BOOL, Kind.NONE):
            # A scalar takes the width of the tensors it meets but may raise their kind: an integer promotes
            # bool to int64.
            promotes |= value.kind is not Kind.INT or index in fractional
            if "bool" in taken:
                taken.add("int64")
    if promotes and ("bool" in taken or taken & INTEGRAL):
        taken.add(DEFAULT_FLOAT)
    return promotion_closure(taken) | present


def _dtypes(method: Method, values: Sequence[Value]) -> set[str]:
    return {tensor.dtype for value in values for tensor in method.tensors_of(value)}


def _count_outs(arguments: Sequence[Argument]) -> int:
    """The number of trailing arguments that are only written; results take no part in promotion."""
    count = 0
    while count < len(arguments) and arguments[-1 - count].mutable:
        count += 1
    return count


def _named_dtype(value: Value) -> frozenset[str]:
    """The dtype that an argument names; an absent argument adds none."""
    if value.kind is Kind.INT and value.data in NAMES:
        assert isinstance(value.data, int)
        return frozenset({NAMES[value.data]})
    return frozenset()
