# SPDX-License-Identifier: BSD-3-Clause
"""The check of a call at export and the check of the runtime when it loads the program agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight
from rushlight.codegen.promise import Operand, call_problem
from rushlight.codegen.table import load_table
from rushlight.errors import InvalidProgram, OperatorNotFound
from rushlight.program import Method, ProgramParts, Storage, TensorInfo, Value, write_program
from rushlight.program.model import Dynamism, KernelCall, Kind
from rushlight.runtime import Runtime
from rushlight.sources import source_root

pytestmark = pytest.mark.conformance

TABLE = load_table(source_root() / "kernels" / "ops.yaml")
# Operators that write through Any may be refused for the values of their arguments, whatever their kinds.
NAMES = sorted(
    name
    for name, row in TABLE.operators.items()
    if not any(argument.base == "Any" and argument.mutable for argument in row.schema.arguments)
)


def tensor(at: int) -> Value:
    info = TensorInfo("float32", (2,), (0,), Dynamism.STATIC, Storage.PLANNED, memory_id=1, memory_offset=at)
    return Value(Kind.TENSOR, info)


# One value of each kind; the lists hold the first tensor and scalar.
VALUES = (
    tensor(0),
    Value(Kind.INT, 1),
    Value(Kind.NONE),
    Value(Kind.BOOL, True),
    Value(Kind.DOUBLE, 1.5),
    Value(Kind.STRING, "mean"),
    Value(Kind.INT_LIST, (1,)),
    Value(Kind.DOUBLE_LIST, (0.5,)),
    Value(Kind.BOOL_LIST, (True,)),
    Value(Kind.TENSOR_LIST, (0,)),
    Value(Kind.OPTIONAL_TENSOR_LIST, (0, -1)),
)


def operand(value: Value) -> Operand:
    """The operand as `rushlight check` describes a value."""
    is_or_holds = value.kind in (Kind.TENSOR, Kind.TENSOR_LIST, Kind.OPTIONAL_TENSOR_LIST)
    return Operand(value.kind.name.lower().replace("_", " "), (("float32", 1),) if is_or_holds else ())


def is_loaded(name: str, arguments: tuple[int, ...]) -> bool:
    """True if the runtime accepts the kinds of a call's arguments."""
    method = Method("forward", VALUES, (), (), ((KernelCall(0, arguments),),), (name,), (), (0, 64))
    try:
        rushlight.load(write_program(ProgramParts((method,))).tobytes()).load_method("forward")
    except InvalidProgram as error:
        if ", expected '" in error.message or "arguments, got" in error.message:
            return False
        # Kernels whose requirements are queried then check shapes and scalars, too.
        if ", preparing: " not in error.message:
            raise
    return True


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_kinds_of_arguments_are_refused_by_both_or_by_neither(data: st.DataObject) -> None:
    linked = Runtime.get().operator_registry.operator_names
    name = data.draw(st.sampled_from([name for name in NAMES if name in linked]))
    count = len(TABLE.operators[name].schema.arguments)
    choices = [range(len(VALUES))] * count
    if data.draw(st.booleans()):  # else nearly every call is wrong
        choices = [fitting(name, index) for index in range(count)]
    arguments = [data.draw(st.sampled_from(choice)) for choice in choices]
    arguments = arguments[: data.draw(st.sampled_from([count, count, count, max(count - 1, 0)]))]
    problem = call_problem(TABLE, name, [operand(VALUES[index]) for index in arguments])
    expected = problem is None or problem.reason != "arguments"
    assert is_loaded(name, tuple(arguments)) is expected, problem


def fitting(name: str, position: int) -> list[int]:
    """The values that an argument accepts, by the check at export."""
    count = len(TABLE.operators[name].schema.arguments)
    found = []
    for index, value in enumerate(VALUES):
        operands = [Operand("")] * count
        operands[position] = operand(value)
        problem = call_problem(TABLE, name, operands)
        if problem is None or problem.reason != "arguments":
            found.append(index)
    return found


def test_an_operator_that_the_table_has_not_is_not_loaded_either(tmp_path: Path) -> None:
    assert call_problem(TABLE, "aten::no_such.out") is not None
    with pytest.raises(OperatorNotFound):
        is_loaded("aten::no_such.out", ())
