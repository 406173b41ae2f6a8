# SPDX-License-Identifier: BSD-3-Clause
"""The operator table as it stands, and tables that are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rushlight.codegen.emit import PORTABLE_PREFIX, operator_table, selection_headers
from rushlight.codegen.schema import parse_schema
from rushlight.codegen.selection import Selected, Selection
from rushlight.codegen.table import Back, Operator, OperatorTable, by_priority, for_small_targets, load_table
from rushlight.errors import InvalidSelection
from rushlight.sources import source_root

ROOT = Path(__file__).parents[3]
SCHEMA = "aten::{}.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
FAST = "kernel: k_out, dtypes: real, backs: {problem: unary, host: float32}"


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

    undefined = [f"{row.source}: {row.name}" for row in table.operators.values() if not is_defined(row)]
    assert not undefined


def test_every_back_is_declared_beside_its_problem_and_defined_in_its_source(table: OperatorTable) -> None:
    for row in table.operators.values():
        for back in row.known_backs:
            wanted = [back.function, *([f"{back.function}_prepare"] if back.prepares else [])]
            header = " ".join((ROOT / "kernels" / "backs" / f"{row.problem}.h").read_text().split())
            source = table.back_path(back).read_text()
            for function in wanted:
                assert f" {function}(KernelContext& context, const " in header, (row.name, function)
                assert f" {function}(" in source or f"({function}" in source, (
                    row.name,
                    back.source,
                    function,
                )


def test_every_front_asks_its_backs_and_no_other_kernel_does(table: OperatorTable) -> None:
    for row in table.operators.values():
        asks = re.search(rf"backs::{row.kernel}\b", table.source_path(row).read_text()) is not None
        assert asks == bool(row.known_backs), row.name


def test_every_source_of_a_library_is_named(table: OperatorTable) -> None:
    named = {table.source_path(row) for row in table.rows()}
    libraries = [ROOT / "kernels" / library for library in table.libraries if library != "optimized"]
    found = {path for library in libraries for path in library.rglob("op_*.cpp")}
    assert found <= named


def test_a_row_is_offered_with_the_back_of_the_target_and_without(tmp_path: Path) -> None:
    path = write(
        tmp_path, row("relu", FAST.replace("host:", "board: {whole: true, source: s, function: f}, host:"))
    )
    table = load_table(path)
    taken, portable = table.rows()
    assert (taken.library, portable.library) == ("optimized", "portable")
    assert taken.function == portable.function == "rushlight::kernels::k_out"
    assert table.operators["aten::relu.out"] == taken and portable.back is None
    assert taken.back == Back("host", frozenset({"float32"}), "host/relu", "k")
    assert taken.dtypes == {"float32", "int32"}
    (small, _) = for_small_targets(table).rows()
    assert small.back == Back("board", small.dtypes, "board/s", "f", whole=True)
    assert by_priority(table, table.rows(), lambda row: row.library == "optimized").operators == {
        "aten::relu.out": portable
    }


def test_what_was_preferred_is_preferred_on_small_targets(tmp_path: Path) -> None:
    rest = FAST.replace("host:", "board: {dtypes: float32}, host:")
    table = load_table(write(tmp_path, row("relu", rest)))
    portable_first = by_priority(table, table.rows(), lambda row: row.library == "optimized")
    assert for_small_targets(portable_first).operators["aten::relu.out"].library == "portable"
    assert for_small_targets(table).operators["aten::relu.out"].library == "optimized"


@pytest.mark.parametrize(("dtype", "library"), [("float32", "portable"), ("int32", "optimized")])
def test_where_floats_are_computed_in_software_their_backs_are_left_out(
    tmp_path: Path, dtype: str, library: str
) -> None:
    rest = FAST.replace("host:", f"board: {{dtypes: {dtype}}}, host:")
    table = load_table(write(tmp_path, row("relu", rest)))
    taken = for_small_targets(table, floats_in_software=True).operators["aten::relu.out"]
    assert taken.library == library


@pytest.mark.parametrize(
    ("dtypes", "compiled"),
    [
        (["float32"], {"host/relu": {"float32"}, "operators/op_relu": {"float32"}}),
        (["int32"], {"operators/op_relu": {"int32"}}),
        (["float32", "int32"], {"host/relu": {"float32"}, "operators/op_relu": {"float32", "int32"}}),
    ],
)
def test_the_portable_code_is_compiled_where_a_call_may_reach_it(
    tmp_path: Path, dtypes: list[str], compiled: dict[str, set[str]]
) -> None:
    table = load_table(write(tmp_path, row("relu", FAST)))
    for path in table.source_paths(table.operators["aten::relu.out"]):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    selection = Selection(table, by_dtype=True)
    selection.add("aten::relu.out", "a test", dtypes)
    (selected,) = selection.resolve()
    assert {unit.name: set(unit.dtypes) for unit in selected.units(table)} == compiled
    asks = selection_headers(table, [selected])["sources/operators/op_relu/rushlight/selected_backs.h"]
    assert ("host::k(context, problem)" in asks) is ("host/relu" in compiled)
    assert ("return portable();" in asks) is (dtypes != ["float32"])
    assert ("return unsupported_type(problem.type());" in asks) is (dtypes == ["float32"])


@pytest.mark.parametrize(
    ("backs", "complaint"),
    [
        ("{host: float32}", "expected a mapping with 'problem' and some of host, board"),
        ("{problem: p}", "expected a mapping with 'problem' and some of host, board"),
        ("{problem: p, moon: float32}", "expected a mapping with 'problem' and some of host, board"),
        ("{problem: p, host: {source: x}}", "back 'host': expected either 'dtypes' or 'whole: true'"),
        ("{problem: p, host: {dtypes: float32, whole: true}}", "expected either 'dtypes' or 'whole: true'"),
        ("{problem: p, host: {dtypes: float32, speed: high}}", "got 'speed'"),
        ("{problem: p, host: {dtypes: float32, prepares: 1}}", "'prepares': expected true or false, got 1"),
        ("{problem: p, board: float16}", "back 'board': expected the row's dtypes, got float16"),
    ],
)
def test_what_a_row_says_of_its_backs_is_checked(tmp_path: Path, backs: str, complaint: str) -> None:
    with pytest.raises(InvalidSelection, match=complaint):
        load_table(write(tmp_path, row("relu", f"kernel: k, dtypes: real, backs: {backs}")))


def test_a_row_that_folds_hands_its_kernels_on_as_what_runs_at_load(tmp_path: Path) -> None:
    table = load_table(write(tmp_path, row("relu", FAST + ", traits: [folds]")))
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
        ("traits: folds", "traits: expected a list of in_place, commutes, folds, .*, got 'folds'"),
        ("traits: [fast]", "traits: expected a list of"),
        (
            "traits: [folds], backs: {problem: p, host: {dtypes: float32, prepares: true}}",
            "expected 'folds' or 'prepares', got both",
        ),
    ],
)
def test_traits_are_checked(tmp_path: Path, keys: str, complaint: str) -> None:
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
        ([row("a"), row("a")], "aten::a.out: expected one row, got two"),
        ([row("a", "kernel: k")], "expected dtypes for its tensors, got none"),
        ([row("a", "kernel: k, dtypes: reel")], "expected a dtype or one of the sets real, got 'reel'"),
        ([row("a", "kernel: k, dtypes: real, sauce: x")], "got 'sauce'"),
        ([row("a", "kernel: k, dtypes: real, library: mine")], "library: expected one of portable, prim"),
        (
            [row("a", "kernel: k, dtypes: real, tolerance: {float: 1}")],
            "tolerance: expected dtypes, got 'float'",
        ),
        (["kernel: k"], "expected a row with 'schema' and 'kernel'"),
        (
            ['schema: "my::a(Any(a!) out, int x) -> Any(a!)", kernel: k'],
            "expected a written scalar as last argument",
        ),
        (
            [row("a"), 'schema: "aten::b.out(int x) -> Tensor", kernel: k'],
            "expected the same arguments of their kernel k",
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
        write(
            tmp_path,
            row("_softmax"),
            row("b", "kernel: b, dtypes: [real, bool], library: prim, source: op_x"),
        )
    )
    first, second = table.operators.values()
    assert (first.source, first.library) == ("operators/op_softmax", "portable")
    assert (second.source, second.library) == ("operators/op_x", "prim")
    assert second.dtypes == {"int32", "float32", "bool"}


def test_portable_entries_are_named_as_backs_expect_them() -> None:
    header = (source_root() / "kernels" / "backs" / "portable_entry.h").read_text()
    assert f'kPortablePrefix[] = "{PORTABLE_PREFIX}";' in header


def test_a_source_is_found_on_whichever_shelf_it_stands(tmp_path: Path) -> None:
    path = write(tmp_path, row("relu"), row("softmax"))
    shelf = tmp_path / "operators" / "activation"
    shelf.mkdir(parents=True)
    (shelf / "op_relu.cpp").touch()
    sources = [operator.source for operator in load_table(path).operators.values()]
    assert sources == ["operators/activation/op_relu", "operators/op_softmax"]
