# SPDX-License-Identifier: BSD-3-Clause
"""Calls that the operator table has all for, and what is said of the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from rushlight.codegen.promise import Operand, call_problem, nearest_dtype
from rushlight.codegen.table import OperatorTable, load_table
from rushlight.sources import source_root

TABLE = load_table(source_root() / "kernels" / "ops.yaml")
INT, BOOL, DOUBLE, NONE = (Operand(kind) for kind in ("int", "bool", "double", "none"))


def tensor(dtype: str = "float32", rank: int = 2) -> Operand:
    return Operand("tensor", ((dtype, rank),))


def add(dtype: str = "float32", rank: int = 2) -> list[Operand]:
    """The operands of aten::add.out."""
    one = tensor(dtype, rank)
    return [one, one, INT, one]


def without(name: str, *dtypes: str) -> OperatorTable:
    """The table less some dtypes of a row, or less the row."""
    rows = dict(TABLE.operators)
    row = rows.pop(name)
    if dtypes:
        rows[name] = dataclasses.replace(row, dtypes=row.dtypes - set(dtypes))
    return OperatorTable(TABLE.path, rows)


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("aten::add.out", add()),
        ("aten::add.out", add("int8", 16)),
        ("aten::add.out", [*add(), tensor("float64")]),
        ("aten::add.out", [*add()[:2], DOUBLE, tensor()]),
        ("aten::mul.Scalar_out", [tensor(), BOOL, tensor()]),
        ("aten::clamp.out", [tensor(), NONE, DOUBLE, tensor()]),
        ("aten::cat.out", [Operand("tensor list", (("int8", 1), ("int8", 3))), INT, tensor("int8")]),
        (
            "aten::index.Tensor_out",
            [tensor(), Operand("optional tensor list", (("int64", 1),)), tensor()],
        ),
        ("executorch_prim::add.Scalar", [INT, INT, INT]),
        ("aten::add.out", [Operand("", (("float32", 2),))] * 4),
        ("aten::add.out", None),
    ],
)
def test_a_call_that_can_run_has_no_problem(name: str, operands: Sequence[Operand] | None) -> None:
    assert call_problem(TABLE, name, operands) is None


def test_a_missing_operator_is_told_with_those_like_it() -> None:
    problem = call_problem(TABLE, "aten::add.Tensors", add())
    assert problem is not None and problem.reason == "operator"
    assert (
        "no kernel library has aten::add.Tensors (libraries: optimized, portable, prim, quantized)"
        in problem.message
    )
    assert "aten::add.out" in problem.near
    assert "use aten::add" in problem.remedy and "rushlight new-op" in problem.remedy


def test_an_operator_like_no_other_is_to_be_decomposed_or_written() -> None:
    problem = call_problem(TABLE, "mine::frobnicate.out")
    assert problem is not None and problem.near == ()
    assert problem.remedy == "decompose it or add a kernel for it (rushlight new-op)"


@pytest.mark.parametrize("name", ["aten::add.out", "aten::convolution.out", "executorch_prim::eq.Scalar"])
def test_a_row_dropped_from_the_table_is_missed(name: str) -> None:
    assert call_problem(TABLE, name) is None
    problem = call_problem(without(name), name)
    assert problem is not None and problem.reason == "operator" and name in problem.message


def test_a_dtype_dropped_from_the_table_is_missed() -> None:
    assert call_problem(TABLE, "aten::add.out", add("float16")) is None
    problem = call_problem(without("aten::add.out", "float16", "bfloat16"), "aten::add.out", add("float16"))
    assert problem is not None and problem.reason == "dtype" and problem.dtypes == ("float16",)
    assert "aten::add.out has no float16 ('self', 'other', 'out'); it has uint8, int8" in problem.message
    assert problem.remedy == "cast float16 to float32 before it, or add the dtype to its kernel"


def test_positions_may_be_of_their_own_dtype() -> None:
    name = "aten::max_unpool2d.out"
    row = TABLE.operators[name]
    sizes = Operand("int list")
    operands = [tensor(rank=4), tensor("int64", 4), sizes, tensor(rank=4)]
    assert "int64" not in row.dtypes
    assert call_problem(TABLE, name, operands) is None
    assert call_problem(TABLE, name, operands, built={name: ["float32"]}) is None
    rows = {**TABLE.operators, name: dataclasses.replace(row, index_dtypes=frozenset())}
    problem = call_problem(OperatorTable(TABLE.path, rows), name, operands)
    assert problem is not None
    assert problem.dtypes == ("int64",)


def test_a_dtype_inside_of_a_list_is_missed() -> None:
    operands = [Operand("tensor list", (("int8", 1), ("float8_e5m2", 1))), INT, tensor("int8")]
    problem = call_problem(TABLE, "aten::cat.out", operands)
    assert problem is not None and "has no float8_e5m2 ('tensors')" in problem.message


@pytest.mark.parametrize(
    ("operands", "says"),
    [
        (add()[:3], "expected 4 arguments, got 3"),
        (
            [*add()[:2], Operand("string"), tensor()],
            "argument 2, 'alpha': expected int or bool or double, got str",
        ),
        ([NONE, *add()[1:]], "argument 0, 'self': expected tensor, got none"),
    ],
)
def test_arguments_that_the_schema_does_not_take_are_told(operands: list[Operand], says: str) -> None:
    problem = call_problem(TABLE, "aten::add.out", operands)
    assert problem is not None and problem.reason == "arguments" and says in problem.message


def test_more_dimensions_than_tensors_have_are_told() -> None:
    problem = call_problem(TABLE, "aten::add.out", add("float32", 17))
    assert problem is not None and problem.reason == "rank"
    assert "'self': expected at most 16 dimensions, got 17" in problem.message


def test_the_limit_of_dimensions_is_the_runtimes() -> None:
    header = (source_root() / "runtime" / "tensor" / "tensor.h").read_text()
    assert "kTensorDimensionLimit = 16;" in header


def test_a_build_has_only_what_it_selected() -> None:
    built = {"aten::add.out": ["float32", "int64"]}
    assert call_problem(TABLE, "aten::add.out", add(), built=built) is None
    problem = call_problem(TABLE, "aten::mul.out", add(), built=built)
    assert problem is not None and problem.reason == "selection"
    assert problem.message == "aten::mul.out is not selected in this build"
    problem = call_problem(TABLE, "aten::add.out", add("int8"), built=built)
    assert problem is not None and (problem.reason, problem.dtypes) == ("selection", ("int8",))
    assert "is built for int64, float32, not for int8" in problem.message
    problem = call_problem(TABLE, "aten::add.out", add("qint8"), built=built)
    assert problem is not None and problem.reason == "dtype"


@pytest.mark.parametrize(
    ("dtype", "available", "nearest"),
    [
        ("float16", ("float32", "float64", "int64"), "float32"),
        ("bfloat16", ("float64", "float32"), "float32"),
        ("float64", ("float32", "float16"), "float32"),
        ("int8", ("float32", "int64", "int16"), "int16"),
        ("int32", ("float32", "int8"), "float32"),
        ("uint8", ("int8", "int16"), "int16"),
        ("bool", ("int64", "uint8", "bool"), "uint8"),
        ("complex32", ("complex64", "complex128"), "complex64"),
        ("complex64", ("float32",), None),
        ("qint8", ("float32", "int8"), None),
        ("float32", (), None),
    ],
)
def test_the_nearest_dtype_holds_the_values_if_any_does(
    dtype: str, available: tuple[str, ...], nearest: str | None
) -> None:
    assert nearest_dtype(dtype, available) == nearest


def test_every_row_takes_operands_that_are_not_known_yet() -> None:
    for name, row in TABLE.operators.items():
        kinds = [Operand("")] * len(row.schema.arguments)
        assert call_problem(TABLE, name, kinds) is None
