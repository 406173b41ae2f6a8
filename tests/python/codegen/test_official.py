# SPDX-License-Identifier: BSD-3-Clause
"""The operator table under ExecuTorch's C++ names."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight.codegen.official import functions_header, native_functions_header, selected_functions
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
  - schema: "aten::two.out(Tensor self, int[]? dim, ScalarType? dtype, *, Tensor(a!) a, Tensor(b!) b) -> ()"
    kernel: two_out
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


def test_a_build_without_operators_still_has_a_table() -> None:
    assert "    nullptr,\n" in selected_functions(0)
    assert "    &selected<1>,\n" in selected_functions(2)
