# SPDX-License-Identifier: BSD-3-Clause
"""Numbers in pages are what a script wrote: see support/written.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import written

ROOT = Path(__file__).resolve().parents[1]

FOLDERS = ("docs", "benchmarks", "examples", "tests")
PAGES = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
WRITTEN = [
    pytest.param(part, id=f"{path.relative_to(ROOT)}:{part.name}")
    for path in PAGES
    for part in written.parts(path.read_text())
]
PAGE = (
    "# Page\n\n<!-- written by some/script.py --all: numbers 0 -->\nold\n<!-- end of numbers -->\n\nMore.\n"
)


@pytest.mark.parametrize("part", WRITTEN)
def test_a_part_is_as_its_script_wrote_it(part: written.Part) -> None:
    assert part.is_as_written, f"changed by hand; run {part.command}"
    assert (ROOT / part.command.partition(" ")[0]).is_file()


def test_every_mark_belongs_to_a_part() -> None:
    begun = sum(len(re.findall("<!-- (?:written by|end of) ", path.read_text())) for path in PAGES)
    assert begun == 2 * len(WRITTEN) > 0


def test_a_part_is_replaced_alone_and_a_change_by_hand_is_seen() -> None:
    page = written.replaced(PAGE, "numbers", "| 12 ms |\n")
    [part] = written.parts(page)
    assert (part.text, part.command, part.is_as_written) == ("| 12 ms |", "some/script.py --all", True)
    assert page.startswith("# Page\n\n<!-- written") and page.endswith("<!-- end of numbers -->\n\nMore.\n")
    [changed] = written.parts(page.replace("12", "11"))
    assert not changed.is_as_written


def test_a_part_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="parts named times: expected 1, got 0"):
        written.replaced(PAGE, "times", "")
