# SPDX-License-Identifier: BSD-3-Clause
"""selected_operators.yaml: ours is read by ExecuTorch's tools, theirs by us; and what other files may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight.codegen import steps
from rushlight.codegen.selection import Selection
from rushlight.codegen.selection_yaml import of_yaml
from rushlight.codegen.table import OperatorTable, load_table, load_yaml
from rushlight.errors import InvalidSelection

ROOT = Path(__file__).parents[3]
INTEROP = ROOT / "tests" / "interop"
MODELS = ["list_split_cat", "index_put_gather", "scalar0d", "optional_none", "cond_sum", "channels_last_conv"]


@pytest.fixture(scope="module")
def whole() -> OperatorTable:
    """kernels/ops.yaml."""
    return load_table(ROOT / "kernels" / "ops.yaml")


def read(text: str, table: OperatorTable, tmp_path: Path, by_dtype: bool = True) -> dict[str, set[str]]:
    """The operators that a file selects, with their dtypes."""
    path = tmp_path / "selection.yaml"
    path.write_text(text)
    selected = Selection(table, by_dtype, info=of_yaml(path, table)).resolve()
    return {row.operator.name: set(row.dtypes) for row in selected}


def test_pytorchs_reader_takes_ours(whole: OperatorTable) -> None:
    selector = pytest.importorskip("torchgen.selective_build.selector", reason="needs torch's torchgen")
    info = steps.extract([INTEROP / "softplus" / "model.pte"], whole)
    info.merge(steps.extract([INTEROP / "model_mlp" / "model_xnnpack.pte"], whole))
    info.merge(steps.merge([], whole, ops="aten::mm.out"))
    builder = selector.SelectiveBuilder.from_yaml_str(steps.exchanged(info))
    assert set(builder.operators) == set(info.needs) and not builder.include_all_operators
    assert builder.is_root_operator("aten::exp.out") and not builder.is_operator_selected("aten::exp")
    assert builder.operators["aten::mm.out"]._debug_info == ("the operator list",)
    assert builder.et_get_selected_kernels("aten::mm.out", ["default"]) == ["default"]
    keys = builder.et_kernel_metadata["aten::where.self_out"]
    assert builder.et_get_selected_kernels("aten::where.self_out", [*keys, "default"]) == keys
    assert builder.is_kernel_dtype_selected("aten::exp.out", "float32")
    assert not builder.is_kernel_dtype_selected("aten::exp.out", "float64")
    assert builder.build_features == {"backend=XnnpackBackend of model_mlp/model_xnnpack.pte"}


def test_pytorchs_reader_takes_every_operator(whole: OperatorTable) -> None:
    selector = pytest.importorskip("torchgen.selective_build.selector", reason="needs torch's torchgen")
    text = steps.exchanged(steps.merge([], whole, all_ops=True))
    assert selector.SelectiveBuilder.from_yaml_str(text).include_all_operators


@pytest.mark.parametrize("name", MODELS)
def test_models_have_the_kernel_keys_that_executorch_finds(
    name: str, whole: OperatorTable, tmp_path: Path
) -> None:
    tool = pytest.importorskip("executorch.codegen.tools.gen_oplist", reason="needs the executorch package")
    model = INTEROP / name / "model.pte"
    tool.gen_oplist(tmp_path / "theirs.yaml", model_file_path=str(model))
    (tmp_path / "ours.yaml").write_text(steps.exchanged(steps.extract([model], whole)))
    theirs, ours = load_yaml(tmp_path / "theirs.yaml"), load_yaml(tmp_path / "ours.yaml")
    assert ours["operators"].keys() == theirs["operators"].keys()
    for operator, keys in theirs["et_kernel_metadata"].items():
        assert set(ours["et_kernel_metadata"][operator]) == set(keys), operator


def test_a_selection_of_executorchs_tools_selects_what_the_model_needs(
    whole: OperatorTable, tmp_path: Path
) -> None:
    tool = pytest.importorskip("executorch.codegen.tools.gen_oplist", reason="needs the executorch package")
    model = INTEROP / "model_dscnn" / "model.pte"
    tool.gen_oplist(tmp_path / "theirs.yaml", model_file_path=str(model))
    of_theirs = Selection(whole, by_dtype=True, info=steps.merge([tmp_path / "theirs.yaml"], whole)).resolve()
    of_model = Selection(whole, by_dtype=True, info=steps.extract([model], whole)).resolve()
    assert [(r.operator.name, r.dtypes) for r in of_theirs] == [(r.operator.name, r.dtypes) for r in of_model]
    assert of_theirs[0].askers == (str(model),)


def test_kernel_keys_say_dtypes_where_these_are_selected(table: OperatorTable, tmp_path: Path) -> None:
    text = (
        "operators: {aten::mm.out: {}, aten::add.out: {}}\n"
        "et_kernel_metadata:\n  aten::mm.out: ['v1/6;0,1|6;0,1|6;0,1', 'v1/3;']\n  aten::add.out: [default]\n"
    )
    every = table.operators["aten::mm.out"].dtypes
    assert read(text, table, tmp_path)["aten::mm.out"] == {"int32", "float32"}
    assert read(text, table, tmp_path)["aten::add.out"] == table.operators["aten::add.out"].dtypes
    assert read(text, table, tmp_path, by_dtype=False)["aten::mm.out"] == every


def test_numbers_that_keys_do_not_tell_of_are_of_any_kind(table: OperatorTable, tmp_path: Path) -> None:
    text = "et_kernel_metadata: {aten::add.Scalar_out: ['v1/3;0|3;0']}"
    assert read(text, table, tmp_path) == {"aten::add.Scalar_out": {"int32", "float32"}}


def test_an_entry_for_all_overloads_takes_all(table: OperatorTable, tmp_path: Path) -> None:
    text = "operators: {aten::add: {include_all_overloads: true}}"
    assert read(text, table, tmp_path).keys() == {"aten::add.out", "aten::add.Scalar_out"}
    assert read("include_all_operators: true", table, tmp_path).keys() == set(table.operators)


@pytest.mark.parametrize("by_dtype", [True, False])
@pytest.mark.parametrize(
    "entry",
    [
        "dtypes: [Float, int64]",
        "kernels: [{dtypes: [float32], kernel_name: x}, {dtypes: [long], kernel_name: x}]",
        "type_alias: {T: [Float, Long]}\n  dim_order_alias: {D: [0, 1]}\n  kernels:\n"
        "    - arg_meta: {self: [T, D], mat2: [T, D], out: [T, D]}\n      kernel_name: x::mm_out",
    ],
)
def test_the_dtypes_of_an_entry_count(
    entry: str, by_dtype: bool, table: OperatorTable, tmp_path: Path
) -> None:
    text = f"- op: mm.out\n  {entry}\n"
    assert read(text, table, tmp_path, by_dtype) == {"aten::mm.out": {"float32", "int64"}}


def test_a_kernel_for_everything_takes_every_dtype(table: OperatorTable, tmp_path: Path) -> None:
    text = (
        "- op: mm.out\n  kernels: [{dtypes: [float32], kernel_name: x}, {arg_meta: null, kernel_name: y}]\n"
    )
    assert read(text, table, tmp_path)["aten::mm.out"] == table.operators["aten::mm.out"].dtypes


@pytest.mark.parametrize("name", ["portable/functions.yaml", "quantized/quantized.yaml"])
def test_files_of_the_executorch_package_select(name: str, whole: OperatorTable) -> None:
    executorch = pytest.importorskip("executorch", reason="needs the executorch package")
    path = Path(executorch.__path__[0]) / "kernels" / name
    if not path.is_file():
        pytest.skip(f"this executorch package has no {name}")
    assert len(Selection(whole, info=of_yaml(path, whole)).resolve()) >= 19


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("batch_size: 3", "expected a list of `- op: name` entries or an `operators` mapping"),
        ("operators: {a.out: 3}", "a.out: expected a mapping, got 3"),
        ("et_kernel_metadata: {a.out: [v1/x]}", "expected a kernel key .*, got 'v1/x'"),
        ("et_kernel_metadata: {a.out: ['v1/99;']}", "expected the integer of a dtype, got 99"),
        ("kernel_metadata: 3", "kernel_metadata: expected a mapping"),
        ("operators: {a.out: {}}\nkernel_metadata: {a.out: [reel]}", "expected a list of dtypes"),
        ("build_features: x", "build_features: expected a list"),
        ("operators: {a.out: {debug_info: [call=3]}}", "expected a call's arguments as JSON, got '3'"),
        (
            """operators: {add.out: {debug_info: ['call=[["x","other",[],[]]]']}}""",
            "add.out: expected the arguments self, other, alpha, out, got",
        ),
        ("- op: mm.out\n  dtypes: 3", "mm.out: expected a list of dtypes"),
    ],
)
def test_what_is_not_understood_is_refused(
    text: str, message: str, table: OperatorTable, tmp_path: Path
) -> None:
    with pytest.raises(InvalidSelection, match=rf"selection\.yaml: .*{message}"):
        read(text, table, tmp_path)
