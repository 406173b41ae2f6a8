# SPDX-License-Identifier: BSD-3-Clause
"""Limits of sizes may be raised, but not in silence: each raise has a row in `raised` of its file, with the
number before, the number after and the reason. Lowering one takes no row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from rushlight import process

ROOT = Path(__file__).resolve().parents[1]
FILES = ["tests/runtime/budgets.yaml", "tests/kernels/size_budgets.yaml"]
LOOK_BACK = 20
"""Number of examined commits of a file."""

Row = dict[str, Any]


def limits(product: Row) -> dict[str, int]:
    """Every number of a product by its path, such as "flash" or "sources/elements/convert"."""

    def walk(part: Row, before: str) -> Iterator[tuple[str, int]]:
        for name, item in part.items():
            if isinstance(item, dict):
                yield from walk(item, f"{before}{name}/")
            elif isinstance(item, int):
                yield before + name, item

    return dict(walk(product, ""))


def silent_raises(old: dict[str, Row], new: dict[str, Row]) -> list[str]:
    """The limits that `new` has higher than `old` without a row that says so."""
    found = []
    for name, product in new.items():
        before = limits(old.get(name, {}))
        rows = [row for row in product["raised"] if row not in old.get(name, {}).get("raised", [])]
        said = {(row["limit"], row["from"], row["to"]) for row in rows}
        for limit, number in limits(product).items():
            was = before.get(limit, number)
            if number > was and (limit, was, number) not in said:
                found.append(f"{name}, {limit}: {was} became {number}")
    return found


def committed(file: str) -> list[str]:
    """The last versions of a file, newest first; none outside of a git checkout."""
    if not (ROOT / ".git").exists() or process.find_program("git") is None:
        return []
    words = ["git", "log", "--first-parent", f"-n{LOOK_BACK}", "--format=%H", "--", file]
    listed = process.run(words, cwd=ROOT)
    shown = [process.run(["git", "show", f"{c}:{file}"], cwd=ROOT) for c in listed.stdout.split()]
    return [version.stdout for version in shown if version.returncode == 0]


def with_rows(text: str) -> dict[str, Row] | None:
    """A version of a file; None for one from before there were rows."""
    content = yaml.safe_load(text)
    return content if all("raised" in product for product in content.values()) else None


@pytest.mark.parametrize("file", FILES)
def test_each_row_tells_of_a_raise_with_its_reason_and_limits_are_not_above_the_last(file: str) -> None:
    for name, product in yaml.safe_load((ROOT / file).read_text()).items():
        last: dict[str, int] = {}
        for row in product["raised"]:
            assert row.keys() == {"limit", "from", "to", "why"}, f"{name}: {row}"
            assert row["from"] < row["to"] and len(row["why"].split()) >= 3, f"{name}: {row}"
            assert row["from"] <= last.get(row["limit"], row["from"]), f"{name}: nothing says why: {row}"
            last[row["limit"]] = row["to"]
        now = limits(product)
        above = {limit: now[limit] for limit in now.keys() & last.keys() if now[limit] > last[limit]}
        assert not above, f"{name}: raised without a row: {above}"


@pytest.mark.parametrize("file", FILES)
def test_no_limit_was_raised_without_a_row(file: str) -> None:
    versions = [with_rows(text) for text in [(ROOT / file).read_text(), *committed(file)]]
    if len(versions) == 1:
        pytest.skip("no git checkout, which has the versions before")
    for new, old in pairwise(versions):
        if new is None or old is None:
            break
        assert silent_raises(old, new) == []


def test_a_raise_without_a_row_is_seen() -> None:
    old = {"a": {"total": 10, "sources": {"x/y": 5}, "raised": []}}
    row = {"limit": "sources/x/y", "from": 5, "to": 6, "why": "with good reasons"}
    raised = {"a": {"total": 9, "sources": {"x/y": 6, "x/new": 7}, "raised": []}}
    assert silent_raises(old, raised) == ["a, sources/x/y: 5 became 6"]
    assert silent_raises(old, {"a": {**raised["a"], "raised": [row]}}) == []
    # A row of an earlier raise does not stand for this one.
    assert silent_raises({"a": {**old["a"], "raised": [row]}}, {"a": {**raised["a"], "raised": [row]}}) != []
