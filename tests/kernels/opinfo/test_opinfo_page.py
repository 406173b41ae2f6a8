# SPDX-License-Identifier: BSD-3-Clause
"""The documentation's page of operators: the stored page, and how it is written."""

from __future__ import annotations

import re
from pathlib import Path

from rushlight.codegen.table import load_table
from support.opinfo import html as opinfo_html
from support.opinfo import page as opinfo_page

ROOT = Path(__file__).parents[3]

TABLE = {
    "torch": "2.0",
    "samples": 1234,
    "calls": 5678,
    "compared": 5600,
    "lists": {
        "executorch": {"total": 2, "here": 2, "missing": {}},
        "core_aten": {"total": 4, "here": 3, "missing": {"aten::far": "far away"}},
    },
    "pairs": {"pass": 3, "fail": 1, "without_kernel": 1, "no_kernel_called": 2},
    "operators": {
        "aten::near.out": {"float32": [5, 5], "int64": [7, 6], "bool": [0, 0], "uint16": [2, 2]},
        "executorch_prim::et_view.default": {},
    },
    "decomposed": ["aten::apart"],
    "failing": {"rounds otherwise": {"near": ["int64"]}},
    "without_kernel": {"far": {"operators": ["aten::far"], "reason": "not written"}},
}


def test_the_page_names_the_operators_of_the_table() -> None:
    page = (ROOT / "docs" / "operators.md").read_text().partition("## Samples that do not pass")[0]
    named = set(re.findall(r"`(\w+::[\w.]+)`", page))
    operators = load_table(ROOT / "kernels" / "ops.yaml").operators.keys()
    assert named == operators, opinfo_page.COMMAND
    assert f"has kernels for {len(operators)} operators" in page, opinfo_page.COMMAND


def test_the_page_says_how_many_calls_were_compared() -> None:
    assert "They make 5,678 calls" in " ".join(opinfo_page.page(TABLE).split())
    page = " ".join((ROOT / "docs" / "operators.md").read_text().split())
    calls, compared = re.search(
        r"They make ([\d,]+) calls of operators of this table; ([\d,]+) of", page
    ).groups()
    assert calls == compared, f"table.py compares every call: {opinfo_page.COMMAND}"


def test_the_page_says_where_results_differ_on_purpose() -> None:
    section = opinfo_page.differences()
    assert section in opinfo_page.page(TABLE)
    assert f"\n\n{section}\n\n" in (ROOT / "docs" / "operators.md").read_text(), opinfo_page.COMMAND


def test_an_operator_is_a_line_of_counts_by_dtype() -> None:
    [line] = [line for line in opinfo_page.page(TABLE).splitlines() if line.startswith("| `aten::near.out`")]
    cells = dict(zip(opinfo_page.COLUMNS, (cell.strip() for cell in line.split("|")[2:]), strict=False))
    assert {dtype: text for dtype, text in cells.items() if text} == {
        "float32": "5",
        "int64": "6/7",
        "bool": "+",
    }
    assert line.endswith("| u16 2 |")


def test_what_is_missing_has_its_reason() -> None:
    page = opinfo_page.page(TABLE)
    for part in (
        "4 | 3 (75.0%)",
        "aten::far (far away)",
        "**rounds otherwise**: near (int64).",
        "far (aten::far): not written.",
    ):
        assert part in page


def test_the_picture_has_a_colour_for_each_verdict() -> None:
    assert re.findall(r'class="(\w+)">([^<]+)</td>', opinfo_html.page(TABLE)) == [
        ("untried", "+"),
        ("partly", "6/7"),
        ("right", "5"),
        ("right", "2"),
    ]
