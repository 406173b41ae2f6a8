# SPDX-License-Identifier: BSD-3-Clause
"""Selections by list, file, model and all; their union; and what they generate."""

from __future__ import annotations

import os
import re
from itertools import permutations
from pathlib import Path

import pytest

from rushlight import process
from rushlight.codegen.__main__ import main
from rushlight.codegen.emit import operator_table, selection_headers, write_all
from rushlight.codegen.opinfo import OpInfo, shown
from rushlight.codegen.selection import Selection, dtype_set
from rushlight.codegen.table import OperatorTable, load_table, load_yaml
from rushlight.errors import InvalidArgument, InvalidSelection, OperatorNotFound
from rushlight.program.dtypes import mask
from support.programs import Plan, program, scalar, tensor

ROOT = Path(__file__).parents[3]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A program that adds two float32 tensors."""
    values = [tensor("float32"), tensor("float32"), scalar(1), tensor("float32")]
    plan = Plan(values=values, operators=[("aten::add", "out")], calls=[(0, [0, 1, 2, 3, 3])])
    path = tmp_path / "models" / "m.pte"
    path.parent.mkdir()
    path.write_bytes(program(plan))
    return path


def names(selection: Selection) -> list[str]:
    return [selected.operator.name for selected in selection.resolve()]


def test_a_list_takes_commas_semicolons_spaces_and_short_names(table: OperatorTable) -> None:
    selection = Selection(table)
    selection.add_list("aten::mm.out, add.out;executorch_prim::add.Scalar")
    assert names(selection) == ["aten::add.out", "aten::mm.out", "executorch_prim::add.Scalar"]


def test_nothing_asked_for_is_an_empty_selection(table: OperatorTable) -> None:
    assert names(Selection(table)) == []


def test_all_is_every_row(table: OperatorTable) -> None:
    selection = Selection(table)
    selection.add_all()
    assert names(selection) == sorted(table.operators)


@pytest.mark.parametrize(
    "text",
    [
        "- op: add.out\n  kernels:\n    - arg_meta: null\n      kernel_name: x::add_out\n- op: mm.out",
        "- func: aten::add.out(Tensor self, Tensor other) -> Tensor\n- func: mm.out(Tensor a) -> Tensor",
        "- aten::add.out\n- mm.out",
        "operators:\n  aten::add.out: {is_root_operator: true}\n  aten::mm.out:",
    ],
)
def test_each_form_of_a_selection_file_is_read(text: str, table: OperatorTable, tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(text)
    selection = Selection(table)
    selection.add_yaml(path)
    assert names(selection) == ["aten::add.out", "aten::mm.out"]
    assert selection.depends == [path]


@pytest.mark.parametrize(
    "text", ["3", "- 3", "- kernels: []", "- op: 'a b'", "operators: {add.out: {dtypes: [reel]}}"]
)
def test_a_selection_file_that_says_nothing_known_is_refused(
    text: str, table: OperatorTable, tmp_path: Path
) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(text)
    with pytest.raises(InvalidSelection, match=r"ops\.yaml"):
        Selection(table).add_yaml(path)


def test_a_model_asks_for_its_operators_with_their_dtypes(table: OperatorTable, model: Path) -> None:
    selection = Selection(table, by_dtype=True)
    selection.add_model(model)
    (selected,) = selection.resolve()
    assert selected.operator.name == "aten::add.out"
    assert selected.dtypes == {"float32"}
    assert selected.askers == ("models/m.pte",)


def test_without_dtype_selection_a_model_gets_every_dtype(table: OperatorTable, model: Path) -> None:
    selection = Selection(table)
    selection.add_model(model)
    assert selection.resolve()[0].dtypes == table.operators["aten::add.out"].dtypes


def test_a_list_beside_a_model_widens_the_dtypes(table: OperatorTable, model: Path) -> None:
    selection = Selection(table, by_dtype=True)
    selection.add_model(model)
    selection.add_list("add.out,mm.out")
    add, mm = selection.resolve()
    assert add.dtypes == table.operators["aten::add.out"].dtypes
    assert add.askers == ("models/m.pte", "the operator list")
    assert mm.dtypes == table.operators["aten::mm.out"].dtypes


def two_models(folder: Path) -> list[Path]:
    """Programs that add, the first float64 and the second int32 tensors."""
    made = []
    for name, dtype in (("first", "float64"), ("second", "int32")):
        values = [tensor(dtype), tensor(dtype), scalar(1), tensor(dtype)]
        plan = Plan(values=values, operators=[("aten::add", "out")], calls=[(0, [0, 1, 2, 3, 3])])
        made.append(folder / f"{name}.pte")
        made[-1].write_bytes(program(plan))
    return made


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("with_list", [False, True], ids=["models", "models and a list"])
def test_a_union_loses_nothing_whatever_comes_first(
    order: tuple[int, ...], with_list: bool, table: OperatorTable, tmp_path: Path
) -> None:
    models = two_models(tmp_path)
    selection = Selection(table, by_dtype=True)
    for index in order:
        if index < 2:
            selection.add_model(models[index])
        elif with_list:
            selection.add_list("add.out")
    (add,) = selection.resolve()
    assert add.dtypes == (table.operators["aten::add.out"].dtypes if with_list else {"float64", "int32"})
    assert add.askers == (*sorted(shown(model) for model in models), *(["the operator list"] * with_list))
    assert selection.info.needs["aten::add.out"].keys == {"v1/7;0|7;0|7;0|7;0", "v1/3;0|3;0|3;0|3;0"}


def test_a_union_takes_who_hands_work_to_a_backend_from_each_part() -> None:
    info = OpInfo(delegates={"A": {"one"}, "B": {"one"}})
    info.merge(OpInfo(delegates={"A": {"two"}}, all_askers={"x"}))
    info.merge(OpInfo(all_askers={"y"}))
    assert info.delegates == {"A": {"one", "two"}, "B": {"one"}} and info.all_askers == {"x", "y"}


def test_operators_get_only_the_dtypes_that_are_wanted(table: OperatorTable) -> None:
    selection = Selection(table, only=dtype_set("float;int64, bool"))
    selection.add_all()
    for row in selection.resolve():
        assert row.dtypes == row.operator.dtypes & {"float32", "int64", "bool"}
        assert row.tensor_dtypes <= {"float32", "int64", "bool"}


@pytest.mark.parametrize("by_dtype", [True, False])
def test_a_model_keeps_the_dtypes_that_it_needs(by_dtype: bool, table: OperatorTable, model: Path) -> None:
    selection = Selection(table, by_dtype, only=dtype_set("int64"))
    selection.add_model(model)
    selection.add_list("mm.out")
    add, mm = selection.resolve()
    assert add.dtypes == ({"float32"} if by_dtype else {"float32", "int64"})
    assert mm.dtypes == mm.operator.dtypes & {"int64"}


def test_an_unknown_dtype_is_refused() -> None:
    assert dtype_set(" ; ") is None
    with pytest.raises(InvalidSelection, match="got 'float33'"):
        dtype_set("float32,float33")


def test_all_that_is_missing_is_named_with_who_asked(table: OperatorTable, tmp_path: Path) -> None:
    path = tmp_path / "x" / "m.pte"
    path.parent.mkdir()
    path.write_bytes(program(Plan(operators=[("my::first", ""), ("aten::adds", "out")])))
    selection = Selection(table)
    selection.add_model(path)
    selection.add_list("my::second")
    with pytest.raises(OperatorNotFound) as error:
        selection.resolve()
    assert "my::first, asked for by x/m.pte" in str(error.value)
    assert "my::second, asked for by the operator list" in str(error.value)
    assert "did you mean aten::add" in str(error.value)
    assert "portable, prim" in str(error.value)


def test_a_row_without_its_source_is_refused(table: OperatorTable) -> None:
    table.source_path(table.operators["aten::mm.out"]).unlink()
    selection = Selection(table)
    selection.add_all()
    with pytest.raises(
        InvalidSelection, match=r"aten::mm\.out, from library portable: expected its source .*op_mm\.cpp"
    ):
        selection.resolve()


def test_the_dtype_header_has_a_mask_for_every_row(table: OperatorTable, model: Path) -> None:
    selection = Selection(table, by_dtype=True)
    selection.add_model(model)
    header = selection_headers(table, selection.resolve())["rushlight/selected_dtypes.h"]
    assert f'{{"aten::add.out", {mask({"float32"}):#010x}u}}' in header
    assert '{"aten::mm.out", 0x00000000u}' in header
    assert f"kAnySelectedType = {mask({'float32'}):#010x}u" in header


def test_a_source_sees_its_own_rows_only(table: OperatorTable) -> None:
    selection = Selection(table)
    selection.add_list("add.out,mm.out")
    headers = selection_headers(table, selection.resolve())
    own = headers["sources/operators/op_mm/rushlight/selected_dtypes.h"]
    assert "aten::mm.out" in own and "aten::add.out" not in own
    assert "aten::" not in headers["sources/shared/rushlight/selected_dtypes.h"]


def test_the_operator_table_is_sorted_and_declares_each_kernel(table: OperatorTable) -> None:
    selection = Selection(table)
    selection.add_list("mm.out,executorch_prim::add.Scalar,add.out")
    text = operator_table(selection.resolve())
    assert text.index('{"aten::add.out"') < text.index('{"aten::mm.out"') < text.index('{"executorch_prim')
    assert "Error prim_add(KernelContext& context, const EValue& a, const EValue& b, EValue& out);" in text
    named = "{entries_of_executorch_kernels, 3, nullptr, nullptr, order_of_executorch_kernels}"
    assert f"selected_operators = {named}" in text


def test_the_operator_table_names_what_keeps_the_programs_order() -> None:
    selection = Selection(load_table(ROOT / "kernels" / "ops.yaml"))
    selection.add_list("mm.out,rand.out,bernoulli.out")
    text = operator_table(selection.resolve())
    order = text[text.index("order_of_executorch_kernels[] = {") :].split("}")[0]
    assert re.findall(r'"(.*)"', order) == ["aten::bernoulli.out", "aten::rand.out"]


def test_only_a_table_whose_kernels_prepare_names_what_does() -> None:
    selection = Selection(load_table(ROOT / "kernels" / "ops.yaml"))
    selection.add_list("mm.out,convolution.out")
    rows = selection.resolve()
    text = operator_table(rows)
    assert '#include "runtime/executor/prepare_support.h"' in text
    assert "_kernels, 2, nullptr, kPrepareSupport, order_of_executorch_kernels}" in text
    text = operator_table(rows, prepares=False)
    assert "runtime/executor" not in text and "_kernels, 2, nullptr, nullptr, order_of" in text


def test_files_that_stay_the_same_keep_their_time_stamp(table: OperatorTable, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for operators, changed in (("add.out", True), ("add.out", False), ("add.out,mm.out", True)):
        for path in out.rglob("*.*"):
            os.utime(path, (1, 1))
        selection = Selection(table)
        selection.add_list(operators)
        write_all(selection, out)
        assert ((out / "operator_table.cpp").stat().st_mtime != 1) is changed
    assert not list(out.rglob("*.partial"))


def test_a_generated_selection_selects_itself_again(
    table: OperatorTable, model: Path, tmp_path: Path
) -> None:
    selection = Selection(table, by_dtype=True)
    selection.add_model(model)
    write_all(selection, tmp_path / "out")
    again = Selection(table, by_dtype=True)
    again.add_yaml(tmp_path / "out" / "selected_operators.yaml")
    assert [(s.operator.name, s.dtypes) for s in again.resolve()] == [("aten::add.out", {"float32"})]
    listed = load_yaml(tmp_path / "out" / "selected_operators.yaml")
    assert listed["operators"]["aten::add.out"]["debug_info"] == [
        "models/m.pte",
        "library=portable",
        "source=operators/op_add",
        'call=[["self","tensor",[2],[1]],["other","tensor",[2],[1]],["alpha","numbers",[1],[]],'
        '["out","tensor",[2],[1]]]',
    ]
    assert listed["kernel_metadata"] == {"aten::add.out": ["float32"]}
    assert listed["et_kernel_metadata"] == {"aten::add.out": ["v1/6;0|6;0|6;0|6;0"]}
    assert again.resolve()[0].askers == ("models/m.pte",)


def test_the_command_reports_errors_with_their_exit_code(
    table: OperatorTable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--ops-table", str(table.path), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--ops", "aten::add.out,aten::mm.out"]) == 0
    assert capsys.readouterr().out == "2 operators from 2 kernel sources of portable\n"
    assert main([*arguments, "--ops", "aten::none.out"]) == OperatorNotFound.exit_code
    assert "aten::none.out" in capsys.readouterr().err
    assert main([*arguments, "--model", str(tmp_path / "no.pte")]) == InvalidArgument.exit_code
    assert "no.pte" in capsys.readouterr().err


def test_a_build_with_pytorchs_kernels_leaves_other_operators_to_them(
    table: OperatorTable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--ops-table", str(table.path), "--out", str(tmp_path / "out"), "--aten"]
    assert main([*arguments, "--ops", "aten::add.out,aten::none.out"]) == 0
    assert capsys.readouterr().out == "1 operators from 1 kernel sources of portable\n"
    listed = load_yaml(tmp_path / "out" / "selected_operators.yaml")
    assert list(listed["operators"]) == ["aten::add.out"]


def test_nothing_heavy_is_imported() -> None:
    import sys

    script = (
        "import sys, rushlight.codegen.__main__ as m; "
        "m.table_of(m._parser().parse_args(['--out', 'x', '--ops-table', sys.argv[1]]));"
        "print(sorted({'numpy', 'torch', 'flatbuffers', 'click', 'rich'} & set(sys.modules)))"
    )
    table = str(ROOT / "kernels" / "ops.yaml")
    environment = {"PYTHONPATH": str(ROOT / "python")}
    result = process.run([sys.executable, "-c", script, table], env=environment, check=True)
    assert result.stdout == "[]\n"


@pytest.mark.parametrize("operators", ["", "aten::add.out,aten::mm.out"])
def test_the_generated_code_compiles(operators: str, tmp_path: Path) -> None:
    arguments = ["--ops-table", str(ROOT / "kernels" / "ops.yaml"), "--out", str(tmp_path)]
    assert main([*arguments, "--ops", operators]) == 0
    compile_ = ["g++", "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", f"-I{ROOT}", f"-I{tmp_path}"]
    process.run([*compile_, tmp_path / "operator_table.cpp"], check=True)
    user = tmp_path / "user.cpp"
    user.write_text(
        '#include "kernels/checks/selection.h"\n'
        "using namespace rushlight::kernels;\n"
        f'static_assert((selected_types("aten::mm.out") != 0) == {str("mm" in operators).lower()});\n'
    )
    process.run([*compile_, user], check=True)
