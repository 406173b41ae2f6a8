# SPDX-License-Identifier: BSD-3-Clause
"""The operator table as it stands, and tables that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight.codegen.emit import operator_table
from rushlight.codegen.schema import parse_schema
from rushlight.codegen.selection import Selected, Selection
from rushlight.codegen.table import Operator, OperatorTable, by_priority, for_small_targets, load_table
from rushlight.errors import InvalidSelection

ROOT = Path(__file__).parents[3]
SCHEMA = "aten::{}.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
FAST = "kernel: k, dtypes: real, optimized: {dtypes: float32}"


@pytest.fixture(scope="module")
def table() -> OperatorTable:
    return load_table(ROOT / "kernels" / "ops.yaml")


def write(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "ops.yaml"
    body = "\n".join(f"  - {{{row}}}" for row in rows)
    path.write_text(f"dtypes:\n  real: [int32, float32]\noperators:\n{body}\n")
    return path


def row(name: str, rest: str = "kernel: k, dtypes: real") -> str:
    return f'schema: "{SCHEMA.format(name)}", {rest}'


def test_rows_are_sorted_by_name(table: OperatorTable) -> None:
    names = [name.encode() for name in table.operators]
    assert names == sorted(names)


def test_every_row_has_its_source(table: OperatorTable) -> None:
    missing = {o.name: o.source for o in table.operators.values() if not table.source_path(o).is_file()}
    assert not missing


def test_every_kernel_is_defined_in_its_source(table: OperatorTable) -> None:
    def is_defined(operator: Operator) -> bool:
        text = table.source_path(operator).read_text()
        # A family of one signature may be made by a macro, which has the operator's name as an argument.
        by_macro = f"({operator.schema.base_name.removeprefix('special_')}, "
        named = f'("{operator.name}", {operator.kernel}, '
        return f"Error {operator.kernel}(KernelContext&" in text or (
            "#define RL_" in text and (by_macro in text or named in text)
        )

    rows = [*table.rows(), *for_small_targets(table).rows()]
    undefined = [f"{row.source}: {row.name}" for row in rows if not is_defined(row)]
    assert not undefined


def test_every_source_of_a_library_is_named(table: OperatorTable) -> None:
    named = {table.source_path(row) for row in [*table.rows(), *for_small_targets(table).rows()]}
    libraries = [ROOT / "kernels" / library for library in table.libraries]
    found = {path for library in libraries for path in library.rglob("op_*.cpp")}
    assert found <= named


def test_an_optimized_kernel_is_another_librarys_offer(tmp_path: Path) -> None:
    table = load_table(write(tmp_path, row("relu", FAST)))
    taken, portable = table.rows()
    assert (taken.library, taken.source, taken.function) == (
        "optimized",
        "optimized/op_relu",
        "rushlight::kernels::optimized::k",
    )
    assert table.operators["aten::relu.out"] == taken and taken.portable == portable
    assert (taken.fast, taken.dtypes) == ({"float32"}, {"float32", "int32"})
    assert by_priority(table, table.rows(), lambda row: row.library == "optimized").operators == {
        "aten::relu.out": portable
    }


@pytest.mark.parametrize(
    ("dtypes", "compiled"),
    [
        (["float32"], [("optimized", {"float32"})]),
        (["int32"], [("portable", {"int32"})]),
        (["float32", "int32"], [("optimized", {"float32"}), ("portable", {"float32", "int32"})]),
    ],
)
def test_the_portable_kernel_is_compiled_where_the_optimized_one_needs_it(
    tmp_path: Path, dtypes: list[str], compiled: list[tuple[str, set[str]]]
) -> None:
    table = load_table(write(tmp_path, row("relu", FAST)))
    for each in table.rows():
        table.source_path(each).parent.mkdir(exist_ok=True)
        table.source_path(each).touch()
    selection = Selection(table, by_dtype=True)
    selection.add("aten::relu.out", "a test", dtypes)
    (selected,) = selection.resolve()
    assert [(each.operator.library, set(each.dtypes)) for each in selected.compiled] == compiled


@pytest.mark.parametrize(
    ("optimized", "complaint"),
    [
        ("{source: optimized/op_x}", "expected a mapping with 'dtypes'"),
        ("{dtypes: float32, speed: high}", "unknown key 'speed'"),
        ("{dtypes: float16}", "float16 is none of the row's dtypes"),
    ],
)
def test_what_an_optimized_kernel_has_is_checked(tmp_path: Path, optimized: str, complaint: str) -> None:
    with pytest.raises(InvalidSelection, match=complaint):
        load_table(write(tmp_path, row("relu", f"kernel: k, dtypes: real, optimized: {optimized}")))


def test_a_row_that_folds_hands_its_kernels_on_as_what_runs_at_load(tmp_path: Path) -> None:
    table = load_table(write(tmp_path, row("relu", FAST + ", folds: true")))
    fast, portable = table.rows()
    assert fast.folds and portable.folds
    dtypes = frozenset({"float32"})
    for each in (fast, portable):
        selected = [Selected(each, dtypes, dtypes, ("a test",))]
        kernel = f"RL_ERASED(::{each.function})"
        assert f"{kernel}, {kernel}}}" in operator_table(selected)
        assert f"(), {kernel}}}" in operator_table(selected, prepares=False)


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ("folds: 1", "'folds': expected true or false, found 1"),
        ("folds: true, optimized: {dtypes: float32, prepare: true}", "has one of the two"),
    ],
)
def test_folds_is_checked(tmp_path: Path, keys: str, complaint: str) -> None:
    with pytest.raises(InvalidSelection, match=complaint):
        load_table(write(tmp_path, row("relu", f"kernel: k, dtypes: real, {keys}")))


def test_schemas_are_those_of_pytorch(table: OperatorTable) -> None:
    torch = pytest.importorskip("torch", reason="needs torch to compare with")
    known = {
        parse_schema(str(s)).name: str(s)
        for s in torch._C._jit_get_all_schemas()
        if "(a!) out" in str(s) and s.name.startswith("aten::") and "Storage" not in str(s)
    }
    for name, operator in table.operators.items():
        if name in known:
            assert operator.schema == parse_schema(known[name]), name


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("a"), row("a")], "aten::a.out has two rows"),
        ([row("a", "kernel: k")], "takes tensors and names no dtypes"),
        ([row("a", "kernel: k, dtypes: reel")], "'reel' is neither a dtype nor one of the sets real"),
        ([row("a", "kernel: k, dtypes: real, sauce: x")], "unknown key 'sauce'"),
        ([row("a", "kernel: k, dtypes: real, tolerance: {float: 1}")], "tolerance for 'float'"),
        (["kernel: k"], "expected a row with 'schema' and 'kernel'"),
        (
            ['schema: "my::a(Any(a!) out, int x) -> Any(a!)", kernel: k'],
            "a number that is written is the last argument",
        ),
        (
            [row("a"), 'schema: "aten::b.out(int x) -> Tensor", kernel: k'],
            "name the kernel k with different arguments",
        ),
    ],
)
def test_a_wrong_table_is_refused_with_the_row(rows: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSelection, match=message):
        load_table(write(tmp_path, *rows))


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    for text in ("[", "- a", "operators: []"):
        (tmp_path / "x.yaml").write_text(text)
        with pytest.raises(InvalidSelection, match=r"x\.yaml"):
            load_table(tmp_path / "x.yaml")


def test_a_row_has_its_defaults(tmp_path: Path) -> None:
    table = load_table(
        write(tmp_path, row("_softmax"), row("b", "kernel: b, dtypes: [real, bool], source: prim/x"))
    )
    first, second = table.operators.values()
    assert (first.source, first.library) == ("portable/op_softmax", "portable")
    assert (second.source, second.library) == ("prim/x", "prim")
    assert second.dtypes == {"int32", "float32", "bool"}
