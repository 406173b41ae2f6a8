# SPDX-License-Identifier: BSD-3-Clause
"""The operator table under ExecuTorch's C++ names."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight.codegen.official import functions_header, native_functions_header
from rushlight.codegen.table import OperatorTable, load_table

TABLE = """
dtypes: {real: [float32]}
operators:
  - schema: "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    kernel: add_out
    dtypes: real
  - schema: "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)"
    kernel: copy_
    dtypes: real
  - schema: "aten::two.out(Tensor self, int[]? dim, ScalarType? dtype, *, Tensor(a!) a, Tensor(b!) b)
      -> (Tensor(a!), Tensor(b!))"
    kernel: two_out
    dtypes: real
  - schema: "aten::track.out(Tensor self, Tensor(a!) mean, *, Tensor(c!) p, Tensor(b!) q)
      -> (Tensor(b!), Tensor(c!))"
    kernel: track_out
    dtypes: real
  - schema: "aten::fill_all(Tensor(a!) self, Tensor(b!) other) -> ()"
    kernel: fill_all
    dtypes: real
  - schema: "aten::unbind_copy.int_out(Tensor self, int dim=0, *, Tensor(a!)[] out) -> ()"
    kernel: unbind_copy_out
    dtypes: real
  - schema: "aten::sym_numel(Tensor self, *, Any(a!) out) -> Any(a!)"
    kernel: sym_numel
    dtypes: real
  - schema: "dim_order_ops::_clone.out(Tensor self, *, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)"
    kernel: clone_out
    dtypes: real
"""


@pytest.fixture
def table(tmp_path: Path) -> OperatorTable:
    path = tmp_path / "ops.yaml"
    path.write_text(TABLE)
    return load_table(path)


def test_an_out_overload_takes_the_schemas_arguments_and_returns_its_output(table: OperatorTable) -> None:
    tensor = "::executorch::aten::Tensor"
    assert (
        f"inline {tensor}& add_outf(KernelRuntimeContext& context, const {tensor}& self, "
        f"const {tensor}& other, const ::executorch::aten::Scalar& alpha, {tensor}& out) {{\n"
        "  ::rushlight::compat::call<&::rushlight::kernels::add_out>(context, self, other, alpha, out);\n"
        "  return out;\n}" in functions_header(table)
    )


def test_an_operator_in_place_keeps_its_name(table: OperatorTable) -> None:
    assert (
        "Tensor& copy_(KernelRuntimeContext& context, ::executorch::aten::Tensor& self"
        in functions_header(table)
    )


def test_several_outputs_are_a_tuple_and_a_list_is_nothing(table: OperatorTable) -> None:
    header = functions_header(table)
    assert "inline std::tuple<::executorch::aten::Tensor&, ::executorch::aten::Tensor&> two_outf(" in header
    assert "  return {a, b};\n" in header
    assert "inline void unbind_copy_outf(" in header
    assert "std::optional<::executorch::aten::ArrayRef<int64_t>> dim" in header
    assert "std::optional<::executorch::aten::ScalarType> dtype" in header


def test_only_what_the_schema_returns_is_a_result(table: OperatorTable) -> None:
    header = functions_header(table)
    results = header[: header.index(" track_outf(")].rsplit("\n", 1)[1]
    assert results.count("Tensor&") == 2
    assert "  return {q, p};\n" in header
    assert "inline void fill_all_outf(" in header


def test_results_are_those_of_pytorch_schemas() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    compared = 0
    table = load_table(Path(__file__).parents[3] / "kernels" / "ops.yaml")
    for operator in table.operators.values():
        schema = operator.schema
        name, _, overload = schema.name.partition(".")
        if not name.startswith("aten::") or any(a.is_list for a in schema.returned) or not schema.has_tensor:
            continue
        try:
            returns = torch._C._get_schema(name, overload).returns
        except RuntimeError:
            continue
        if any(a.base == "Any" and a.mutable for a in schema.arguments):
            continue  # prim operators: what PyTorch returns is written here
        assert len(schema.returned) == len(returns), schema.name
        compared += 1
    assert compared > 400


def test_operators_on_values_of_any_kind_are_left_out(table: OperatorTable) -> None:
    assert "sym_numel" not in functions_header(table)


def test_each_namespace_of_operators_is_one_of_functions(table: OperatorTable) -> None:
    header = functions_header(table)
    assert "namespace torch::executor::aten {" in header
    assert "namespace torch::executor::dim_order_ops {" in header


def test_native_functions_have_the_kernels_names(table: OperatorTable) -> None:
    header = native_functions_header(table)
    assert "namespace torch::executor::native {" in header
    assert " unbind_copy_out(KernelRuntimeContext& context" in header


def test_native_functions_abort_where_there_is_no_context(table: OperatorTable) -> None:
    header = native_functions_header(table)
    assert "Tensor& clone_out(const ::executorch::aten::Tensor& self" in header
    assert "call_or_abort<&::rushlight::kernels::clone_out>(self, dim_order, out);" in header
    assert "call_or_abort" not in functions_header(table)
