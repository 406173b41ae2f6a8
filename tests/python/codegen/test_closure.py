# SPDX-License-Identifier: BSD-3-Clause
"""Which dtypes a model makes its operators need."""

from __future__ import annotations

import pytest

from rushlight.codegen.closure import model_dtypes
from rushlight.codegen.table import OperatorTable
from rushlight.program import read_program
from support.programs import Build, Plan, program, scalar, tensor, value
from support.programs import table as fb_table


def dtypes(table: OperatorTable, name: str, *arguments: Build) -> set[str]:
    """The dtypes that one call of the operator needs; the last argument is returned, too."""
    namespace_and_name, _, overload = name.partition(".")
    plan = Plan(
        values=list(arguments),
        operators=[(namespace_and_name, overload)],
        calls=[(0, [*range(len(arguments)), len(arguments) - 1])],
    )
    return set(model_dtypes(read_program(program(plan)), table)[name])


@pytest.mark.parametrize(
    ("tensors", "number", "expected"),
    [
        (["float32"], 1, {"float32"}),
        (["float32"], 0.5, {"float32"}),
        (["float16"], 0.5, {"float16"}),
        (["float64"], 0.5, {"float64"}),
        (["int32"], 2, {"int32"}),
        (["int32"], 0.5, {"int32", "float32"}),
        (["bool"], 2, {"bool", "int64"}),
        (["bool"], True, {"bool", "int64"}),  # for alpha, an integer
        (["bool"], 0.5, {"bool", "float32", "int64"}),
        (["int8"], None, {"int8"}),
        (["bool"], None, {"bool", "int64"}),
    ],
)
def test_a_number_brings_the_type_that_it_promotes_to(
    table: OperatorTable, tensors: list[str], number: float | None, expected: set[str]
) -> None:
    (dtype,) = tensors
    arguments = [tensor(dtype), scalar(number), scalar(1), tensor(dtype)]
    assert dtypes(table, "aten::add.Scalar_out", *arguments) == expected


def test_a_result_takes_no_part_in_promotion(table: OperatorTable) -> None:
    arguments = [tensor("float32"), scalar(2), scalar(1), tensor("bool")]
    assert dtypes(table, "aten::add.Scalar_out", *arguments) == {"float32", "bool"}


def test_tensors_bring_what_they_promote_to(table: OperatorTable) -> None:
    arguments = [tensor("uint8"), tensor("int8"), scalar(1), tensor("int16")]
    assert dtypes(table, "aten::add.out", *arguments) == {"uint8", "int8", "int16"}
    arguments = [tensor("float16"), tensor("bfloat16"), scalar(1), tensor("float64")]
    assert dtypes(table, "aten::add.out", *arguments) == {"float16", "bfloat16", "float32", "float64"}


def test_integers_that_give_fractions_are_computed_in_the_default_float(table: OperatorTable) -> None:
    assert dtypes(table, "aten::mm.out", tensor("int32"), tensor("int32"), tensor("float64")) == {
        "int32",
        "float32",
        "float64",
    }


def test_a_dtype_argument_names_one_more(table: OperatorTable) -> None:
    arguments = [tensor("float32"), scalar(7), tensor("float32")]
    assert dtypes(table, "aten::_to_copy.out", *arguments) == {"float32", "float64"}
    arguments = [tensor("float32"), scalar(None), tensor("float32")]
    assert dtypes(table, "aten::_to_copy.out", *arguments) == {"float32"}


def test_an_operator_outside_the_table_has_the_dtypes_of_its_tensors(table: OperatorTable) -> None:
    assert dtypes(table, "my::own", tensor("int8"), tensor("bool")) == {"int8", "bool"}


def test_a_number_of_another_kind_counts_as_fractional(table: OperatorTable) -> None:
    text = value(6, lambda b: fb_table(b, 1, {0: ("Offset", b.CreateString("x"))}))
    arguments = [tensor("int32"), text, scalar(1), tensor("int32")]
    assert dtypes(table, "aten::add.Scalar_out", *arguments) == {"int32", "float32"}


@pytest.mark.parametrize(
    ("writer", "first", "expected"),
    [
        ("executorch_prim::add.Scalar", 3, {"int32"}),
        ("executorch_prim::add.Scalar", 0.5, {"int32", "float32"}),
        ("executorch_prim::truediv.Scalar", 3, {"int32", "float32"}),
        ("executorch_prim::gt.Scalar", 0.5, {"int32"}),
    ],
)
def test_a_number_that_is_computed_may_be_fractional_though_the_file_has_an_int(
    writer: str, first: float, expected: set[str], table: OperatorTable
) -> None:
    name, _, overload = writer.partition(".")
    plan = Plan(
        values=[scalar(first), scalar(2), scalar(0), scalar(0), tensor("int32"), scalar(1), tensor("int32")],
        operators=[(name, overload), ("aten::add", "Scalar_out")],
        # The second sum is made of the first one.
        calls=[(0, [0, 1, 2]), (0, [1, 2, 3]), (1, [4, 3, 5, 6, 6])],
    )
    assert model_dtypes(read_program(program(plan)), table)["aten::add.Scalar_out"] == expected
