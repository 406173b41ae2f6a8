# SPDX-License-Identifier: BSD-3-Clause
"""The table of microkernels' variants: what it refuses, and which sources follow from it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from rushlight.codegen import ukernels
from rushlight.codegen.includes import closure
from rushlight.errors import InvalidArgument
from rushlight.sources import source_root
from support.ukernel_contracts import CONTRACTS

ROOT = Path(__file__).parents[3]
FOLDER = source_root() / ukernels.FOLDER
TABLE = (FOLDER / "variants.yaml").read_text()


def table(rows: str, shapes: str = "{Rows: 4}") -> str:
    """A table of x86 rows, each without its first words."""
    lines = [f"isas: {{x86: {{when: X86, cpu: x86/cpu.h}}}}\nshapes: {shapes}\nrows:"]
    return "\n".join([*lines, *(f"  - {{row: {row}}}" for row in rows.splitlines()), ""])


CHOSEN = """x86/three, when: 3, extends: x86/two, detect: {word(): [3, 4]}, flags: [-m3], families: [float]
x86/two, when: TWO, extends: x86/one, detect: {word(): [2]}, flags: [-m2], shape: {Rows: 8}
x86/one, when: ONE, detect: {word(): [1]}, flags: [-m1], families: [float, exact]
x86/base, when: BASE"""


def test_a_row_adds_to_the_one_that_it_extends() -> None:
    loaded = ukernels.load(table(CHOSEN))
    assert [row.name for row in loaded.chosen("x86")] == ["one", "two", "three"]
    assert [loaded.shape(row)["Rows"] for row in loaded.rows] == [8, 8, 4, 4]
    detection = ukernels.detection_header(loaded)
    assert "if ((cpu.word() & 0x2u) == 0x2u) found |= 0x2u;  // one" in detection
    assert "if ((found & 0x4u) != 0 && (cpu.word() & 0x18u) == 0x18u) found |= 0x8u;  // three" in detection


@pytest.mark.parametrize(
    ("asked", "baseline", "chosen"),
    [
        ({"one"}, "one", []),
        ({"two"}, "two", []),
        ({"three", "one"}, "one", ["three"]),
        ({"base", "three"}, None, ["three"]),
        ({"native", "two"}, None, ["two"]),
        ({"native"}, None, []),
        (set(), None, ["one", "two", "three"]),
    ],
)
def test_the_least_capable_of_the_asked_variants_is_compiled_in_place_of_native_code(
    asked: set[str], baseline: str | None, chosen: list[str]
) -> None:
    loaded = replace(ukernels.load(table(CHOSEN)), asked=frozenset(asked))
    found = loaded.baseline("x86")
    assert (found.name if found else None) == baseline
    assert [row.name for row in loaded.chosen("x86")] == chosen


def test_rows_that_are_left_out_are_still_detected() -> None:
    loaded = replace(ukernels.load(table(CHOSEN)), asked=frozenset({"base", "three"}))
    detection = ukernels.detection_header(loaded)
    tested = "(cpu.word() & 0x18u) == 0x18u && (cpu.word() & 0x4u) == 0x4u && (cpu.word() & 0x2u) == 0x2u"
    assert f"if ({tested}) found |= 0x2u;  // three" in detection
    assert "runs_baseline" not in detection

    loaded = replace(loaded, asked=frozenset({"two"}))
    detection = ukernels.detection_header(loaded)
    assert 'kBaseline = "two"' in detection
    assert "return (cpu.word() & 0x4u) == 0x4u && (cpu.word() & 0x2u) == 0x2u;" in detection
    assert "#if X86  // x86/two, the baseline\ninline constexpr size_t kRows = 8;" in (
        ukernels.variants_header(loaded)
    )


def test_families_are_compiled_for_the_rows_that_name_their_set() -> None:
    loaded = ukernels.load(table(CHOSEN))
    header = ukernels.variants_header(loaded)
    assert (
        "#define RL_FOR_FLOAT(apply, ...) apply(three, Three, __VA_ARGS__) apply(one, One, __VA_ARGS__)"
        in header
    )
    assert "#define RL_FOR_EXACT(apply, ...) apply(one, One, __VA_ARGS__)" in header
    sources = ukernels.variant_sources(loaded, {"dot": "float", "convert": "exact", "panel": ""})
    assert sorted(sources) == [
        f"kernels/ukernel/x86/{name}.cpp" for name in ("convert-one", "dot-one", "dot-three")
    ]


def test_loops_are_compiled_for_the_best_row_that_has_a_target() -> None:
    rows = CHOSEN.replace("when: ONE,", "when: ONE, target: low,").replace(
        "when: TWO,", "when: TWO, target: high,"
    )
    header = ukernels.variants_header(ukernels.load(table(rows)))
    assert '#define RL_LOOPS_TARGET "high"\n#define RL_LOOPS_VARIANT Two\n#else\n' in header
    assert '"low"' not in header
    assert "RL_LOOPS" not in ukernels.variants_header(ukernels.load(table(CHOSEN)))


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("x86/one, when: ONE, flag: [-m1]", "x86/one: expected the keys .*, got flag"),
        ("x86/one, when: ONE, families: [floats]", "families: expected the keys .*, got floats"),
        ("x86/one, when: ONE, shape: {Row: 1}", "shape: expected the keys Rows, got Row"),
        ("x86/one, when: ONE, flags: [-m1]", "expected `detect` and `flags` together"),
        ("arm/one, when: ONE, flags: [-m1], detect: {word(): [1]}", "expected arm among `isas`"),
        ("x86/one, when: ONE\nx86/one, when: TWO", "expected one row with that name, got two"),
        ("x86/one, when: ONE, extends: x86/two", "expected `extends` to name a later row, got x86/two"),
        ("x86/one", "expected a row <isa>/<name> with `when`"),
        (
            "x86/two, when: TWO, detect: {word(): [2]}, flags: [-m2]\n"
            "x86/one, when: ONE, detect: {word(): [1]}, flags: [-m1], families: [float]",
            "x86/two: expected to extend x86/one, whose float families it would use",
        ),
    ],
)
def test_what_is_wrong_with_a_row_is_said(rows: str, problem: str) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        ukernels.load(table(rows))


def test_of_a_familys_sources_one_is_compiled_wherever_that_is() -> None:
    files = {
        "model.cpp": '#include "kernels/ukernel/panel.h"\n',
        ukernels.TABLE: table("arm/mve, when: MVE\narm/fma, when: FMA\narm/dsp, when: DSP"),
        "kernels/ukernel/panel.h": "",
        "kernels/ukernel/arm/panel-mve.cpp": "",
        "kernels/ukernel/arm/panel-fma.cpp": "",
        "kernels/ukernel/generic/panel.cpp": "",
        "kernels/ukernel/x86/panel-avx2.cpp": "",
    }
    sources = ukernels.native_sources("kernels/ukernel/panel.h", files.get)
    assert [ukernels.condition(path, files.get) for path in sources] == [
        "(MVE)",
        "(FMA) && !(MVE)",
        "!(MVE) && !(FMA)",
    ]
    found, missing = closure(["model.cpp"], files.get)
    assert sorted(found) == sorted(["model.cpp", "kernels/ukernel/panel.h", *sources]) and not missing


def test_code_for_an_instruction_set_is_named_by_a_row_and_a_family() -> None:
    families = ukernels.read_headers(source_root())
    rows = [row.path for row in ukernels.load(TABLE).rows]
    named = [path for path in FOLDER.glob("*/*.cpp") if path.parent.name != "generic"]
    assert len(named) > 5
    for path in named:
        family, _, name = path.stem.rpartition("-")
        assert family in families and f"{path.parent.name}/{name}" in rows, path


def test_contract_headers_leave_instruction_sets_to_the_table() -> None:
    for path in FOLDER.glob("*.h"):
        text = path.read_text()
        found = re.findall(r"__(?:AVX|SSE|ARM|arm|aarch|riscv|wasm|x86)\w*", text)
        assert not found, f"{path.name}: {found}"
        assert "#if" not in text or path.name in ("variants.h", "loops.h"), path.name


def test_what_stays_keeps_its_time_stamp(tmp_path: Path) -> None:
    ukernels.write(source_root(), tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    ukernels.write(source_root(), tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in before} and len(before) > 40


def test_a_row_takes_code_of_the_nearest_row_that_it_extends(tmp_path: Path) -> None:
    for path, text in {
        ukernels.TABLE: table(CHOSEN),
        "kernels/ukernel/dot.h": "RL_UKERNEL(void, dot, (), ())",
        "kernels/ukernel/generic/dot.cpp": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    own = tmp_path / "kernels/ukernel/x86/dot-one.cpp"
    own.parent.mkdir()
    one, three = (tmp_path / f"build/kernels/ukernel/x86/dot-{row}.cpp" for row in ("one", "three"))
    for _ in range(2):
        ukernels.write(tmp_path, tmp_path / "build")
        for generated in (one, three):
            assert '#include "kernels/ukernel/generic/dot.cpp"' in generated.read_text()
        own.touch()
        ukernels.write(tmp_path, tmp_path / "build")
        assert not one.exists()
        assert '#include "kernels/ukernel/x86/dot-one.cpp"' in three.read_text()
        own.unlink()


@pytest.mark.parametrize("family", sorted(ukernels.read_headers(source_root())))
def test_a_family_has_a_contract_a_reference_a_test_and_a_benchmark(family: str) -> None:
    expected = [
        f"kernels/ukernel/{family}.h",
        f"kernels/ukernel/reference/{family}.h",
        f"tests/kernels/ukernel/{family}_test.cpp",
        f"benchmarks/ukernel/{family}_bench.cpp",
    ]
    assert [path for path in expected if not (ROOT / path).is_file()] == []
    for path in expected[2:]:
        text = (ROOT / path).read_text()
        assert f'#include "kernels/ukernel/reference/{family}.h"' in text, path
    assert f"RL_BENCHMARK({family}," in (ROOT / expected[3]).read_text()


def test_every_family_calls_itself_what_its_sources_are_called() -> None:
    generic = {path.stem for path in (FOLDER / "generic").glob("*.cpp")}
    headers = {path.stem for path in FOLDER.glob("*.h")} - {"variants", "detect", *CONTRACTS}
    assert generic == headers == {path.stem for path in (FOLDER / "reference").glob("*.h")}


def test_no_source_includes_a_source_that_packages_compile_on_a_condition() -> None:
    for path in FOLDER.rglob("*.cpp"):
        assert not re.findall(r'#include "[^"]+\.cpp"', path.read_text()), path
