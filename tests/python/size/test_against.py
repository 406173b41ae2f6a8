# SPDX-License-Identifier: BSD-3-Clause
"""Another build's program beside ours, in the same categories."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rushlight import process
from rushlight.size import find_build, read_build
from rushlight.size.against import category, compare
from rushlight.size.breakdown import Entry
from support.size_reports import a_report


@pytest.mark.parametrize(
    ("symbol", "file", "component", "expected"),
    [
        ("rushlight::Method::execute()", "runtime/executor/method.cpp", "runtime/executor", "runtime"),
        ("x", "kernels/operators/elementwise/op_add.cpp", "kernels/operators/elementwise", "kernels"),
        ("kEntries", "generated/operator_table.cpp", "generated table", "registration"),
        ("run", "runtime/runner/request_run.cpp", "runtime/runner", "runner and extensions"),
        ("memcpy", "libc.a(memcpy.o)", "C library (libc.a)", "C library"),
        ("x", "libexecutorch_core.a(method.cpp.o)", "library libexecutorch_core.a", "runtime"),
        ("x", "libportable_kernels.a(a.o)", "library libportable_kernels.a", "kernels"),
        ("x", "libportable_ops_lib.a(a.o)", "library libportable_ops_lib.a", "registration"),
        ("x", "libstdc++.a(x.o)", "library libstdc++.a", "C++ library"),
        ("torch::executor::native::add_out(int)", "", "unknown", "kernels"),
        ("executorch::ET_RUNTIME_NAMESPACE::Method::execute()", "", "unknown", "runtime"),
        ("executorch::extension::BufferDataLoader::load()", "", "unknown", "runner and extensions"),
        ("std::vector<int>::push_back(int)", "", "unknown", "C++ library"),
        ("__aeabi_uldivmod", "", "unknown", "compiler library"),
        ("who_knows", "", "unknown", "other"),
    ],
)
def test_a_symbol_has_its_category(symbol: str, file: str, component: str, expected: str) -> None:
    assert category(Entry(symbol, file, component, ".text", 1, 0)) == expected


CODE = """
namespace torch { namespace executor { namespace native {
__attribute__((noinline, used)) int add_out(int a) { return a * 3; } } } }
namespace executorch { namespace runtime { struct Method { int execute(int); };
__attribute__((noinline, used)) int Method::execute(int a) {
  return torch::executor::native::add_out(a) + 1; } } }
extern "C" int main() { return executorch::runtime::Method().execute(1); }
"""


def test_an_elf_file_without_map_is_told_by_its_symbols(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or pytest.skip("no c++, a C++ compiler, on the PATH")
    (tmp_path / "a.cpp").write_text(CODE)
    process.run([compiler, "-Os", "a.cpp", "-o", "official.elf"], cwd=tmp_path, check=True)
    other = read_build(find_build(tmp_path / "official.elf"))
    assert other.stack is None and any("no link map" in line for line in other.unknown)
    comparison = compare(a_report(), other)
    rows = {row.category: row for row in comparison.rows}
    assert rows["kernels"].flash == 160 and 0 < rows["kernels"].other_flash < 100
    assert rows["runtime"].flash == 800 and 0 < rows["runtime"].other_flash < 100
    assert sum(row.other_flash for row in comparison.rows) == other.flash
    assert comparison.unplaced == rows["other"].other_flash > 0
