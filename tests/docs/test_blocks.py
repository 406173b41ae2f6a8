# SPDX-License-Identifier: BSD-3-Clause
"""The rules for code blocks of pages: what runs, what fails, and what must say why it does not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page_blocks import UnknownMark, blocks, pages
from support.page_run import PageFailed, first_missing, named_targets, run_page

pytestmark = pytest.mark.heavy


def fence(language: str, *lines: str) -> str:
    return "\n".join([f"```{language}", *lines, "```", ""])


def run(text: str, folder: Path) -> None:
    (folder / "page").mkdir()
    run_page("page.md", blocks(text), folder / "page")


PASSING = {
    "python shares names": fence("python", "x = 2") + "\nText.\n\n" + fence("python", "assert x == 2"),
    "sh and python share the folder": fence("sh", "echo 3 > n") + fence("python", "assert open('n').read()"),
    "output": fence("sh", "echo one", "echo 2 s") + "<!-- output -->\n" + fence("text", "one", "... s"),
    "output of python": fence("python", "print('x')") + "<!-- output -->\n\n" + fence("", "x"),
    "console": fence("console", "$ echo one", "one", "$ echo two", "two"),
    "exit": "<!-- exit: 3 -->\n" + fence("sh", "exit 3"),
    "file": "<!-- file: a/b.py -->\n" + fence("python", "x = 1") + fence("sh", "grep -q x a/b.py"),
    "hidden": "<!-- hidden sh\necho 1 > n\n-->\n\n" + fence("sh", "cat n"),
    "setup": "<!-- setup: examples/digits/case.json as case.json -->\n" + fence("sh", "test -f case.json"),
    "cpp": fence("cpp", '#include "runtime/base/error.h"', "rushlight::Error e = rushlight::Error::Ok;"),
    "a reason": "<!-- not run: needs a board -->\n" + fence("sh", "false"),
    "in a list": "1. Do:\n\n   <!-- exit: 1 -->\n   ```sh\n   false\n   ```\n",
    "yaml": fence("yaml", "a: [1]"),
}
FAILING = {
    "python": (fence("python", "x = 1", "assert x == 2"), r"page.md:1: exit status: expected 0, got 1"),
    "sh": (fence("sh", "false", "true"), "exit status: expected 0, got 1"),
    "output": (fence("sh", "echo one") + "<!-- output -->\n" + fence("", "two"), "not in its output: 'two'"),
    "order": (fence("console", "$ echo one; echo two", "two", "one"), "not in its output: 'one'"),
    "exit": ("<!-- exit: 3 -->\n" + fence("sh", "true"), "expected 3, got 0"),
    "cpp": (fence("cpp", "int x = y;"), "was not declared"),
    "no mark": (fence("", "text"), "expected a comment above it"),
    "no reason": ("<!-- not run: -->\n" + fence("sh", "true"), "expected a reason"),
    "yaml": (fence("yaml", "a: ["), "yaml: "),
    "output of nothing": ("<!-- output -->\n" + fence("", "x"), "expected a block above"),
    "setup": ("<!-- setup: nowhere -->\n" + fence("sh", "true"), "got nowhere"),
    "frame": ("<!-- frame: no.cpp -->\n" + fence("cpp", "int x;"), "got no.cpp"),
    "outside": ("<!-- file: ../x -->\n" + fence("", "x"), "inside of the page's folder"),
    "the session": (fence("python", "import os", "os._exit(0)"), "the session ended"),
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in PASSING.items()])
def test_blocks_that_do_what_they_say_pass(text: str, tmp_path: Path) -> None:
    run(text, tmp_path)


@pytest.mark.parametrize(("text", "message"), [pytest.param(*row, id=name) for name, row in FAILING.items()])
def test_blocks_that_do_not_fail_with_their_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(PageFailed, match=message):
        run(text, tmp_path)


def test_a_mark_that_no_test_knows_is_an_error() -> None:
    with pytest.raises(UnknownMark, match=r"expected not run, .*; got not ran"):
        blocks("<!-- not ran: needs a board -->\n" + fence("sh", "true"))


def test_targets_are_those_of_commands_that_run() -> None:
    ran = fence("sh", "rushlight run m -t cortex-m55", "rushlight run m --target=host", "cut -t nothing")
    not_run = "<!-- not run: takes hours -->\n" + fence("sh", "rushlight run m -t rv32imc")
    assert named_targets(blocks(ran + not_run)) == {"cortex-m55", "host"}


def test_dots_stand_for_text_in_a_line_and_for_lines() -> None:
    assert first_missing("a ... c\n...\nz\n", "a b c\nx\nz\n") is None
    assert first_missing("a ... c\n", "a b d\n") == "a ... c"


def test_pages_are_those_of_readers() -> None:
    names = {page.name for page in pages()}
    assert {"README.md", "operators.md"} <= names
