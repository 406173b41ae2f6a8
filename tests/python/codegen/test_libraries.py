# SPDX-License-Identifier: BSD-3-Clause
"""Kernel libraries beside kernels/: their two forms, which is taken, and what is generated for them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rushlight import process
from rushlight.codegen import dtype_macros
from rushlight.codegen.adapters import official_kernels
from rushlight.codegen.emit import operator_table, write_all
from rushlight.codegen.libraries import load_tables, preferences
from rushlight.codegen.selection import Selection
from rushlight.codegen.table import OperatorTable, for_small_targets, load_table
from rushlight.errors import InvalidSelection

ROOT = Path(__file__).parents[3]

OWN = """
dtypes: {few: [float32]}
operators:
  - {schema: "my::twice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", kernel: mine::twice_out, dtypes: few}
  - {schema: "aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)", kernel: mine::mm,
     dtypes: real}
"""
OFFICIAL = """
- func: my_ops::mul3.out(Tensor input, int times=3, *, Tensor(a!) output) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: custom::mul3_out_impl # in custom::native
- op: add.out
  type_alias: {T0: [Float, Double]}
  dim_order_alias: {D0: [0, 1]}
  kernels:
    - arg_meta: null
      kernel_name: custom::add_out
    - arg_meta: {self: [T0, D0], other: [T0, D0], out: [T0, D0]}
      kernel_name: custom::add_special
"""
SOURCE = "namespace mine {\nError twice_out(K& c, const Tensor& x, Tensor& out) {}\nError mm(K&) {\n}\n}\n"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A library in the form of kernels/ops.yaml."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "ops.yaml").write_text(OWN)
    (folder / "twice.cpp").write_text(SOURCE)
    return folder


@pytest.fixture
def official(tmp_path: Path) -> Path:
    """A library in ExecuTorch's form, with the kernels in one source and a caller in another."""
    folder = tmp_path / "custom"
    folder.mkdir()
    (folder / "custom_ops.yaml").write_text(OFFICIAL)
    (folder / "a.cpp").write_text("Tensor& mul3_out_impl(Context& c) {\n}\n")
    (folder / "b.cpp").write_text("Tensor& mul3_out_impl(Context& c);\nint x = mul3_out_impl(1);\n")
    return folder


def selected(table: OperatorTable, operators: str) -> Selection:
    selection = Selection(table)
    selection.add_list(operators)
    return selection


def test_a_library_of_the_same_form_as_ours_brings_its_operators(table: OperatorTable, own: Path) -> None:
    united = load_tables(table.path, [str(own)])
    row = united.operators["my::twice.out"]
    assert (row.library, row.function, row.dtypes) == ("mine", "mine::twice_out", {"float32"})
    assert united.source_path(row) == own / "twice.cpp"
    assert united.libraries == ["mine", "portable", "prim"]
    text = operator_table(selected(united, "my::twice.out,add.out").resolve())
    assert (
        "namespace mine {\nusing namespace ::rushlight;\n"
        "Error twice_out(KernelContext& context, const Tensor& x, Tensor& out);\n" in text
    )
    assert "RL_ERASED(::mine::twice_out)" in text and "RL_ERASED(::rushlight::kernels::add_out)" in text


def test_an_added_library_goes_first_unless_said_otherwise(table: OperatorTable, own: Path) -> None:
    def library(*arguments: object) -> str:
        return load_tables(table.path, *arguments).operators["aten::mm.out"].library

    assert library() == "portable"
    assert library([str(own)]) == "mine"
    assert library([str(own)], ["portable"]) == "portable"
    assert library([str(own)], ["portable"], preferences(["mm.out=mine"])) == "mine"
    assert library([str(own)], [], preferences(["aten::mm.out = portable"])) == "portable"
    assert library([str(own), f"other={own / 'ops.yaml'}"]) == "other"


def test_a_row_that_is_not_taken_is_not_selected(table: OperatorTable, own: Path, tmp_path: Path) -> None:
    write_all(selected(load_tables(table.path, [str(own)]), "mm.out,add.out"), tmp_path / "out")
    headers = tmp_path / "out" / "sources"
    own_header = (headers / "mine" / "twice" / "rushlight" / "selected_dtypes.h").read_text()
    assert '{"aten::mm.out", 0x000080ffu}' in own_header
    assert not (headers / "operators" / "op_mm").exists()
    listed = (tmp_path / "out" / "selection.cmake").read_text()
    assert (
        str(own / "twice.cpp") in listed
        and "op_mm.cpp" not in listed
        and "[==[sources/mine/twice]==]" in listed
    )


def test_the_official_form_names_kernels_in_native(table: OperatorTable, official: Path) -> None:
    united = load_tables(table.path, [str(official)])
    mul3, add = united.operators["my_ops::mul3.out"], united.operators["aten::add.out"]
    assert [kernel.function for kernel in mul3.official] == ["custom::native::mul3_out_impl"]
    assert united.source_path(mul3) == official / "a.cpp"
    assert (add.library, add.source) == ("custom", "")
    assert [kernel.keys for kernel in add.official] == [
        (),
        ("v1/6;0,1|6;0,1|6;0,1", "v1/7;0,1|7;0,1|7;0,1"),
    ]


def test_kernels_in_front_of_official_ones_compile(
    table: OperatorTable, official: Path, tmp_path: Path
) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    many = (
        "- func: x::many.out(Tensor? a, Tensor[] b, Tensor?[] c, Scalar d, Scalar? e, int[] f, float[]? g, "
        "str h, ScalarType? i, MemoryFormat? j, Device? k, bool[] l, bool m, *, Tensor(a!) o, Tensor(b!) p) "
        "-> (Tensor(a!), Tensor(b!))\n  kernels: [{arg_meta: null, kernel_name: x::many}]\n"
        "- func: x::split(Tensor a, *, Tensor(a!)[] out) -> ()\n"
        "  kernels: [{arg_meta: null, kernel_name: x::split}]\n"
    )
    (official / "custom_ops.yaml").write_text(OFFICIAL + many)
    rows = list(load_tables(table.path, [str(official)]).operators.values())
    text = official_kernels(rows)
    assert text.index("kKey[]") < text.index("::custom::native::add_out(official")
    source = tmp_path / "official_kernels.cpp"
    source.write_text(text)
    dtype_macros.main(["--out", str(tmp_path)])
    below = ["compat/include", "compat/include/executorch/runtime/core/portable_type/c10", "."]
    include = [tmp_path, *(ROOT / path for path in below)]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti", "-fsyntax-only"]
    defines = [
        "-DC10_USING_CUSTOM_GENERATED_MACROS",
        "-DRUSHLIGHT_LOG_LEVEL=2",
        "-DRUSHLIGHT_FAILURE_TRACE=0",
    ]
    process.run([compiler, *flags, *defines, *(f"-I{path}" for path in include), source], check=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "expected a mapping with 'operators' or a list"),
        ("- 3", "entry 0: expected a mapping with 'func' or 'op'"),
        ("- op: nope.out", "expected a known operator, got aten::nope.out"),
        ("- op: add.out", "expected 'kernels' with a kernel_name"),
        ("- op: add.out\n  kernels: [{kernel_name: 'a b'}]", "expected namespace::function, got 'a b'"),
        (
            "- op: add.out\n  kernels: [{kernel_name: a}, {kernel_name: b}]",
            "expected one kernel without arg_meta",
        ),
        (
            "- op: add.out\n  kernels: [{kernel_name: a, arg_meta: {x: [Float, [0]]}}]",
            "expected arguments of self, other, alpha, out, got 'x'",
        ),
        (
            "- op: add.out\n  kernels: [{kernel_name: a, arg_meta: {self: [Floot, [0]]}}]",
            "expected a dtype or a type alias, got 'Floot'",
        ),
        ("api: c\noperators: []", "expected rushlight or executorch, got 'c'"),
        ("opertors: []", "expected keys of .*, got 'opertors'"),
        (
            'operators: [{schema: "my::f(Tensor a, *, Tensor(a!) o) -> ()", kernel: nowhere, dtypes: real}]',
            "expected a source in .* that defines nowhere",
        ),
        (
            'operators: [{schema: "my::f(Tensor a, *, Tensor(a!) o) -> ()", kernel: mm_out, dtypes: real, '
            "source: x}]",
            "expected a new kernel name in rushlight::kernels, got mm_out",
        ),
        (
            'operators: [{schema: "aten::mm.out(Tensor a, *, Tensor(a!) o) -> ()", kernel: x::y, '
            "dtypes: real, source: x}]",
            "the same arguments in libraries x and portable",
        ),
    ],
)
def test_a_library_that_says_something_unknown_is_refused(
    text: str, message: str, table: OperatorTable, tmp_path: Path
) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "custom_ops.yaml").write_text(text)
    with pytest.raises(InvalidSelection, match=message):
        load_tables(table.path, [str(folder)])


def test_names_that_differ_in_where_the_overload_begins_have_kernels_of_their_own(
    table: OperatorTable, tmp_path: Path
) -> None:
    kernels = "kernels: [{{arg_meta: null, kernel_name: x::f}}]"
    entry = f"- func: x::f{{}}(Tensor a, *, Tensor(a!) out) -> ()\n  {kernels}\n"
    functional = "- func: x::f(Tensor a) -> Tensor\n  kernels: [{arg_meta: null, kernel_name: x::f}]\n"
    (tmp_path / "custom_ops.yaml").write_text(entry.format("_g.out") + entry.format(".g_out") + functional)
    rows = load_tables(table.path, [f"x={tmp_path}"]).operators
    assert [row.kernel for row in rows.values() if row.of] == ["x_f_g__out", "x_f__g_out"]


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("kernels/portable/functions.yaml", 0),  # all are kernels that rushlight has
        ("kernels/quantized/quantized.yaml", 0),
        ("kernels/portable/custom_ops.yaml", 1),  # allclose
        ("backends/cortex_m/ops/operators.yaml", 20),
        ("backends/cadence/aot/functions_hifi.yaml", 50),
    ],
)
def test_files_of_the_executorch_package_are_libraries(name: str, others: int) -> None:
    executorch = pytest.importorskip("executorch", reason="needs the executorch package")
    path = Path(executorch.__path__[0]) / name
    if not path.is_file():
        pytest.skip(f"this executorch package has no {name}")
    united = load_tables(ROOT / "kernels" / "ops.yaml", [f"theirs={path}"])
    assert sum(row.of == "theirs" for row in united.operators.values()) >= others


def test_names_that_no_library_has_are_refused(table: OperatorTable, own: Path) -> None:
    for arguments, message in (
        (([str(own)], ["nope"]), "expected one of mine, optimized, .*, got 'nope'"),
        (([str(own)], [], {"aten::add.out": "mine"}), "the preferred library 'mine', which lacks it"),
        (([str(own), str(own)],), "expected a unique library name, got 'mine'"),
        (([f"portable={own}"],), "expected a unique library name, got 'portable'"),
        ((["/nowhere"],), "library /nowhere: expected a file or folder"),
    ):
        with pytest.raises(InvalidSelection, match=message):
            load_tables(table.path, *arguments)
    with pytest.raises(InvalidSelection, match="expected operator=library, got 'mm"):
        preferences(["mm.out"])


def test_a_back_for_several_dtypes_has_the_portable_code_behind_it() -> None:
    """A call may mix dtypes, each of which it computes by itself; with one dtype there is nothing to mix."""
    whole = load_table(ROOT / "kernels" / "ops.yaml")
    name = "aten::add.out"
    row = whole.operators[name]
    assert row.back is not None and not row.back.whole and {"float32", "int64"} <= row.back.dtypes
    for dtypes, portable in (
        ({"float32"}, False),
        ({"float32", "int64"}, True),
        ({"float32", "float64"}, True),
    ):
        selection = Selection(whole, by_dtype=True)
        selection.add(name, "a test", dtypes)
        (selected,) = selection.resolve()
        assert selected.operator is row and selected.has_portable is portable
        front, back = selected.units(whole)
        assert (front.dtypes, back.dtypes) == (dtypes, dtypes & row.back.dtypes)


def test_dtypes_of_scales_do_not_keep_the_portable_code_of_boards() -> None:
    """The dtype of a quantized operator's values decides, not the dtypes of its scales and zero points."""
    small = for_small_targets(load_table(ROOT / "kernels" / "ops.yaml"))
    quantize, mean = "quantized_decomposed::quantize_per_tensor.out", "rushlight::quantized_mean.out"
    for name, dtypes, portable in (
        (quantize, {"float32", "int8"}, False),
        (quantize, {"float32", "int8", "uint8"}, True),
        (quantize, {"float16", "float32", "int8"}, True),
        (mean, {"int8", "int32"}, False),
        (mean, {"int8", "float32"}, False),
        (mean, {"int8", "uint8", "float32"}, True),
    ):
        selection = Selection(small, by_dtype=True)
        selection.add(name, "a test", dtypes)
        (selected,) = selection.resolve()
        assert selected.operator.back is not None and selected.has_portable is portable, (name, dtypes)
