# SPDX-License-Identifier: BSD-3-Clause
"""Schemas, and the C++ types that kernels take."""

from __future__ import annotations

import pytest

from rushlight.codegen.schema import parse_schema
from rushlight.errors import InvalidSelection


@pytest.mark.parametrize(
    ("type_", "cpp"),
    [
        ("Tensor", "const Tensor&"),
        ("Tensor(a!)", "Tensor&"),
        ("Tensor?", "const std::optional<Tensor>&"),
        ("Tensor[]", "Span<const Tensor>"),
        ("Tensor(a!)[]", "Span<Tensor>"),
        ("Tensor?[]", "Span<const std::optional<Tensor>>"),
        ("Scalar", "const Scalar&"),
        ("Scalar?", "const std::optional<Scalar>&"),
        ("int", "int64_t"),
        ("SymInt?", "std::optional<int64_t>"),
        ("int[2]", "Span<const int64_t>"),
        ("SymInt[]", "Span<const int64_t>"),
        ("int[1]?", "std::optional<Span<const int64_t>>"),
        ("float", "double"),
        ("float?", "std::optional<double>"),
        ("float[]?", "std::optional<Span<const double>>"),
        ("bool", "bool"),
        ("bool?", "std::optional<bool>"),
        ("bool[3]", "Span<const bool>"),
        ("str", "std::string_view"),
        ("str?", "std::optional<std::string_view>"),
        ("ScalarType", "int64_t"),
        ("ScalarType?", "std::optional<int64_t>"),
        ("MemoryFormat?", "std::optional<int64_t>"),
        ("Any", "const EValue&"),
        ("Any(a!)", "EValue&"),
        ("Generator?", "const EValue&"),
    ],
)
def test_each_schema_type_has_its_cpp_type(type_: str, cpp: str) -> None:
    (argument,) = parse_schema(f"ns::op.out({type_} x) -> Tensor").arguments
    assert argument.cpp_type == cpp


def test_defaults_with_commas_and_quotes_do_not_split_arguments() -> None:
    schema = parse_schema(
        'aten::f.out(Tensor self, int[2] pad=[0, 1], str mode="a,b", *, float eps=1e-05, Tensor(a!) out) '
        "-> Tensor(a!)"
    )
    assert [argument.name for argument in schema.arguments] == ["self", "pad", "mode", "eps", "out"]


def test_a_declaration_is_the_context_and_the_arguments() -> None:
    schema = parse_schema("aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)")
    assert schema.cpp_declaration("mm_out") == (
        "Error mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out)"
    )


def test_an_operator_without_overload_has_no_dot() -> None:
    schema = parse_schema("aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)")
    assert (schema.name, schema.base_name) == ("aten::copy_", "copy_")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add.out(Tensor self) -> Tensor", "expected namespace::name.overload"),
        ("aten::add.out(Tensor self", r"expected a '\)' that closes"),
        ("aten::add.out(Tensor self)", "expected '->'"),
        ("aten::add.out(Tensor) -> Tensor", "expected 'Type name', got 'Tensor'"),
        ("aten::add.out(Storage s) -> Tensor", "expected a type of .*, got 'Storage'"),
        ("aten::add.out(int[][] s) -> Tensor", "expected an optional or a single list"),
    ],
)
def test_a_wrong_schema_is_refused_with_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InvalidSelection, match=message):
        parse_schema(text)


def test_every_out_schema_of_pytorch_is_understood() -> None:
    torch = pytest.importorskip("torch", reason="needs torch for its schemas")
    schemas = [str(schema) for schema in torch._C._jit_get_all_schemas()]
    outs = [
        text for text in schemas if text.startswith("aten::") and "(a!) out" in text and "Storage" not in text
    ]
    assert len(outs) > 900
    for text in outs:
        parse_schema(text)
