# SPDX-License-Identifier: BSD-3-Clause
"""Reports as JSON, their differences, budgets, pictures and constants."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushlight import process
from rushlight.errors import InvalidArgument, OverBudget
from rushlight.size import read_report
from rushlight.size.arenas import MethodArenas
from rushlight.size.breakdown import Entry
from rushlight.size.budget import check_budget, read_budget
from rushlight.size.constants import constants_header
from rushlight.size.diff import diff
from rushlight.size.page import report_page
from rushlight.size.treemap import Box, squarified, treemap_svg
from support.size_reports import a_report, grown


def _budget(tmp_path: Path, text: str):
    (tmp_path / "budget.yaml").write_text(text)
    return read_budget(tmp_path / "budget.yaml")


def test_a_report_survives_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(a_report().to_json()))
    assert read_report(tmp_path / "a.json") == a_report()


def test_a_report_of_version_1_is_read(tmp_path: Path) -> None:
    content = a_report().to_json() | {"version": 1}
    for entry in content["entries"]:
        entry["room"] = entry.pop("component")
    (tmp_path / "a.json").write_text(json.dumps(content))
    assert read_report(tmp_path / "a.json") == a_report()


@pytest.mark.parametrize("text", ["", "[]", '{"format": "rushlight-size", "version": 99}', '{"version": 1}'])
def test_other_json_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InvalidArgument, match="size report"):
        read_report(tmp_path / "a.json")


def test_sums_are_by_component_operator_and_dtype() -> None:
    report = a_report()
    assert (report.flash, report.ram, report.arena) == (964, 28, 1673)
    assert report.components["runtime/executor"] == {"flash": 800, "ram": 0}
    assert report.operators == {"aten::relu.out": {"flash": 160, "ram": 0}}
    assert report.dtypes == {"float32": {"flash": 60, "ram": 0}}


def test_what_verifies_programs_is_told_apart() -> None:
    checks = Entry("count_plan", "runtime/program/layout.cpp", "runtime/program", ".text", 90, 0)
    runner = Entry("main", "runtime/runner/executor_runner.cpp", "runtime/runner", ".text", 70, 0)
    before, after = a_report().runtime, a_report(checks, runner).runtime
    assert before["verification"] == 0 and before["flash"] >= 800
    assert after == {"flash": before["flash"] + 90, "verification": 90}


def test_a_diff_names_what_changed_largest_first() -> None:
    new = Entry("more", "a.cpp", "application", ".text", 20, 0)
    after = grown(a_report(new), "relu_out", 50)
    changes = diff(a_report(), after)
    assert [str(c) for c in changes.symbols] == [
        "relu_out (kernels/operators/activation/op_relu.cpp): 100 -> 150 (+50)",
        "more (a.cpp): 0 -> 20 (+20)",
    ]
    assert [c.name for c in changes.components] == ["kernels/operators/activation", "application"]
    assert changes.totals[0].delta == 70 and changes.ram == []
    assert diff(after, after).symbols == []


def test_what_fits_its_budget_passes(tmp_path: Path) -> None:
    text = "flash: 964\nram: 28\nstack: 420\narena: 1673\nmodel: 2 kB\n"
    text += "components: {runtime: 800, runtime/base: {ram: 24}}\noperators: {'aten::relu.out': 160}\n"
    check_budget(a_report(), _budget(tmp_path, text))


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("flash: 963", "flash: 964 bytes, 1 over the 963 allowed"),
        ("ram: 20", "ram: 28 bytes, 8 over"),
        ("stack: 400", "stack: 420 bytes, 20 over"),
        ("arena: 1.5 KiB", "arena: 1,673 bytes, 137 over the 1,536 allowed"),
        ("components: {runtime: 700}", "runtime flash: 800 bytes, 100 over"),
        ('{"rooms":{"runtime":700},"components":{"runtime":800}}', "runtime flash: 800 bytes, 100 over"),
        ("components: {runtime/base: {ram: 20}}", "runtime/base ram: 24 bytes, 4 over"),
        ("operators: {'aten::relu.out': 100}", "aten::relu.out flash: 160 bytes, 60 over"),
    ],
)
def test_what_is_over_budget_is_named_with_by_how_much(tmp_path: Path, limit: str, told: str) -> None:
    with pytest.raises(OverBudget) as caught:
        check_budget(a_report(), _budget(tmp_path, limit))
    assert told in caught.value.message and len(caught.value.over) == 1
    assert caught.value.exit_code == 32


def test_who_has_grown_is_named(tmp_path: Path) -> None:
    (tmp_path / "before.json").write_text(json.dumps(a_report().to_json()))
    budget = _budget(tmp_path, "flash: 1000\nbefore: before.json\n")
    with pytest.raises(OverBudget) as caught:
        check_budget(grown(a_report(), "relu_out", 100), budget)
    assert (
        "grew: relu_out (kernels/operators/activation/op_relu.cpp): 100 -> 200 (+100)" in caught.value.message
    )
    assert "Method::execute" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("flsh: 3", r"got 'flsh'.*did you mean flash"),
        ("flash: many", "flash: expected bytes, such as 40000 or 39 KiB, got 'many'"),
        ("flash: true", "expected bytes"),
        ("", "expected limits"),
        ("components: 3", "components: expected a mapping of names to bytes"),
        ("components: {runtime: {rom: 3}}", "expected flash or ram, got 'rom'"),
        ("flash: [", "expected YAML"),
    ],
)
def test_a_damaged_budget_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InvalidArgument, match=told):
        _budget(tmp_path, text)


@pytest.mark.parametrize("text", ["components: {runtime/executer: 3}", "operators: {'aten::rely.out': 3}"])
def test_a_budget_for_what_is_not_there_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidArgument, match=r"expected (a component|the name of an operator)"):
        check_budget(a_report(), _budget(tmp_path, text))


def test_the_picture_has_every_symbol_and_needs_nothing_else() -> None:
    report = a_report()
    svg = treemap_svg(report)
    root = ElementTree.fromstring(svg)
    titles = [element.text or "" for element in root.iter() if element.tag.endswith("title")]
    assert all(any(e.symbol in title for title in titles) for e in report.entries if e.flash)
    page = report_page(report)
    assert page.count("<script") == 1 and svg in page
    assert page.replace("http://www.w3.org/2000/svg", "").count("://") == 0


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=40))
def test_areas_are_bytes_and_boxes_do_not_leave_their_box(sizes: list[int]) -> None:
    frame = Box(10, 20, 400, 300)
    boxes = squarified(sorted(sizes, reverse=True), frame)
    for size, box in zip(sorted(sizes, reverse=True), boxes, strict=True):
        assert box.width * box.height == pytest.approx(size / sum(sizes) * 400 * 300)
        assert box.x >= 10 - 1e-6 and box.x + box.width <= 410 + 1e-6
        assert box.y >= 20 - 1e-6 and box.y + box.height <= 320 + 1e-6
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart = max(a.x - b.x - b.width, b.x - a.x - a.width, a.y - b.y - b.height, b.y - a.y - a.height)
            assert apart >= -1e-6


def test_the_constants_compile_and_say_what_the_report_says(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or pytest.skip("no c++, a C++ compiler, on the PATH")
    more = MethodArenas("other/model.pte", "forward", 900, (), 7, 0, 0)
    again = MethodArenas("model.pte", "step", 10, (5,), 0, 0, 0)
    report = replace(a_report(), methods=(*a_report().methods, more, again))
    (tmp_path / "memory.h").write_text(constants_header(report))
    (tmp_path / "a.cpp").write_text(
        '#include "memory.h"\nnamespace m = rushlight_memory;\n'
        "static_assert(m::kStack == 432 && m::kExecuteStack == 120 && m::kLoadStack == 90);\n"
        "static_assert(m::model_forward::kArena == 1001 && m::other_model_forward::kTemporary == 7);\n"
        "static_assert(m::model_forward::kPlanned[1] == 32 && m::other_model_forward::kPlannedCount == 0);\n"
        "static_assert(m::step::kPlanned[0] == 5 && sizeof m::kMethods / sizeof m::kMethods[0] == 2);\n"
        "static_assert(m::kMethods[0].arena == 1001 && m::kMethods[0].planned[0] == 640);\n"
        "static_assert(m::kMethods[0].temporary == 7 && m::kMethods[0].planned_count == 2);\n"
        "alignas(16) static unsigned char arena[m::step::kArena];\nint main() { return arena[0]; }\n"
    )
    process.run(
        [compiler, "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", "a.cpp"], cwd=tmp_path, check=True
    )


def test_names_of_methods_and_files_stay_text_in_the_constants(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or pytest.skip("no c++, a C++ compiler, on the PATH")
    names = ['a"}; int broken = "', "line\nint broken;", "back\\", "int", "\u00e4", "A", "a b", "a_b"]
    methods = tuple(MethodArenas("x.pte\n#error broken", name, 8, (), 0, 0, 0) for name in names)
    (tmp_path / "memory.h").write_text(constants_header(replace(a_report(), methods=methods)))
    count = "sizeof rushlight_memory::kMethods / sizeof(rushlight_memory::MethodMemory)"
    (tmp_path / "a.cpp").write_text(f'#include "memory.h"\nstatic_assert({count} == {len(names)});\n')
    process.run(
        [compiler, "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", "a.cpp"], cwd=tmp_path, check=True
    )
