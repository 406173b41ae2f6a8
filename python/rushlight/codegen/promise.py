# SPDX-License-Identifier: BSD-3-Clause
"""Checks a call against the operator table: the operator, the kinds of its arguments, and the dtypes and
ranks of its tensors. Kinds are checked as the loader does; a dtype passes if the row has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rushlight.codegen.schema import Argument
from rushlight.codegen.table import Operator, OperatorTable
from rushlight.errors import near_operators
from rushlight.program.arrays import MAX_RANK
from rushlight.program.dtypes import COMPLEX, FLOATING, INTEGRAL, NUMBERS, element_size, promote

_NUMBERS = ("int", "bool", "double")
_WHOLE = ("int", "bool")

# The value kinds that the loader accepts for an argument of a base type, alone and in a list. Other bases are
# integers or, for Any, accept everything.
_KINDS = {
    "Tensor": (("tensor",), ("tensor list",)),
    "Scalar": (_NUMBERS, ()),
    "float": (_NUMBERS, ("double list",)),
    "bool": (_WHOLE, ("bool list",)),
    "str": (("string",), ()),
}
_WHOLE_KINDS = (_WHOLE, ("int list",))
_ANY = ("Any", "Generator")


@dataclass(frozen=True)
class Operand:
    """A call's value for one argument.

    `kind` is the kind of a program's value: "none", "int", "bool", "double", "string", "tensor", "int
    list", "double list", "bool list", "tensor list" or "optional tensor list"; empty if unknown. `tensors`
    has the dtype and rank of each tensor that it is or holds.
    """

    kind: str
    tensors: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Problem:
    """The reason why a call cannot run. `reason` is "operator" (unknown), "selection" (not in the build),
    "arguments", "rank" or "dtype"; `dtypes` are the missing ones, `near` operators with similar names,
    `remedy` states what would help."""

    reason: str
    operator: str
    message: str
    remedy: str
    dtypes: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}"


def call_problem(
    table: OperatorTable,
    name: str,
    operands: Sequence[Operand] | None = None,
    *,
    built: Mapping[str, Collection[str]] | None = None,
) -> Problem | None:
    """The problem that keeps a call of the operator from running; None if it can run.

    `operands` are the arguments in schema order, outs included; operands after them (return values) are
    ignored, and None checks the operator alone. `built` restricts the table to the operators of a build
    and their dtypes.
    """
    row = table.operators.get(name)
    if row is None:
        return _missing(table, name)
    dtypes: Collection[str] = row.dtypes
    if built is not None:
        if name not in built:
            return Problem("selection", name, f"{name} is not selected in this build", "build for this model")
        dtypes = [dtype for dtype in built[name] if dtype in row.dtypes]
    dtypes = [*dtypes, *row.index_dtypes]
    if operands is None:
        return None
    operands = operands[: len(row.schema.arguments)]
    return (
        _wrong_arguments(row, operands)
        or _wrong_rank(row, operands)
        or _wrong_dtype(row, operands, dtypes, built is not None)
    )


def nearest_dtype(dtype: str, available: Iterable[str]) -> str | None:
    """The closest dtype in `available` that represents all values of `dtype`; else the widest of the same
    kind; None if there is neither."""
    if _class(dtype) == dtype != "bool":
        return None  # quantized and packed values cannot be cast
    holding, alike = [], []
    for other in available:
        if _class(other) == _class(dtype):
            alike.append(other)
        if other != "bool" and promote(dtype, other) == other:
            holding.append(other)
    if holding:
        return min(holding, key=lambda d: (_class(d) != _class(dtype), element_size(d), NUMBERS[d]))
    return max(alike, key=element_size, default=None)


def _class(dtype: str) -> str:
    kinds = {"integral": INTEGRAL, "floating": FLOATING, "complex": COMPLEX}
    return next((name for name, members in kinds.items() if dtype in members), dtype)


def _missing(table: OperatorTable, name: str) -> Problem:
    near = tuple(near_operators(name, table.operators))
    remedies = [f"use {' or '.join(near)}"] if near else []
    remedies += ["decompose it", "add a kernel for it (rushlight new-op)"]
    return Problem(
        "operator",
        name,
        f"no kernel library has {name} (libraries: {', '.join(table.libraries) or 'none'})",
        ", ".join(remedies[:-1]) + f" or {remedies[-1]}",
        near=near,
    )


def _wrong_arguments(row: Operator, operands: Sequence[Operand]) -> Problem | None:
    arguments = row.schema.arguments
    if len(operands) < len(arguments):
        return _arguments(row, f"expected {len(arguments)} arguments, got {len(operands)}")
    for index, (argument, operand) in enumerate(zip(arguments, operands, strict=True)):
        taken = _taken(argument)
        if operand.kind and taken and operand.kind not in taken:
            kinds = " or ".join(taken)
            return _arguments(
                row, f"argument {index}, '{argument.name}': expected {kinds}, got {operand.kind}"
            )
    return None


def _arguments(row: Operator, what: str) -> Problem:
    return Problem("arguments", row.name, f"{row.name}: {what}", "export the model again for this schema")


def _taken(argument: Argument) -> tuple[str, ...]:
    """The value kinds that the loader accepts for an argument; empty means all."""
    if argument.base in _ANY:
        return ()
    one, many = _KINDS.get(argument.base, _WHOLE_KINDS)
    kinds = many if argument.is_list else one
    if argument.optional_items:
        kinds = ("optional tensor list",)
    return (*kinds, "none") if argument.optional else kinds


def _wrong_rank(row: Operator, operands: Sequence[Operand]) -> Problem | None:
    for argument, operand in zip(row.schema.arguments, operands, strict=True):
        for _, rank in operand.tensors:
            if rank > MAX_RANK:
                message = f"{row.name}: '{argument.name}': expected at most {MAX_RANK} dimensions, got {rank}"
                return Problem("rank", row.name, message, "reshape it to fewer dimensions")
    return None


def _wrong_dtype(
    row: Operator, operands: Sequence[Operand], dtypes: Collection[str], is_build: bool
) -> Problem | None:
    lacking: dict[str, list[str]] = {}
    for argument, operand in zip(row.schema.arguments, operands, strict=True):
        for dtype, _ in operand.tensors:
            if argument.base not in _ANY and dtype not in dtypes:
                names = lacking.setdefault(dtype, [])
                names += [] if argument.name in names else [argument.name]
    if not lacking:
        return None
    told = ", ".join(f"{dtype} ({', '.join(map(repr, names))})" for dtype, names in lacking.items())
    has = ", ".join(sorted(dtypes, key=NUMBERS.__getitem__)) or "none"
    if is_build and all(dtype in row.dtypes for dtype in lacking):
        message = f"{row.name} is built for {has}, not for {told}"
        return Problem("selection", row.name, message, "build for this model", tuple(lacking))
    casts = {dtype: nearest_dtype(dtype, dtypes) for dtype in lacking}
    remedies = [f"cast {dtype} to {near} before it" for dtype, near in casts.items() if near]
    remedy = ", ".join(
        [*remedies, "or add the dtype to its kernel"] if remedies else ["add the dtype to its kernel"]
    )
    return Problem("dtype", row.name, f"{row.name} has no {told}; it has {has}", remedy, tuple(lacking))
