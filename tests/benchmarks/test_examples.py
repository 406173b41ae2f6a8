# SPDX-License-Identifier: BSD-3-Clause
"""benchmarks/examples.py finds the command of each example, and the table of examples/README.md has all."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import examples  # noqa: E402

sys.path.remove(str(ROOT / "benchmarks"))  # benchmarks/llm would hide the missing module `llm` of other tests

from support import written  # noqa: E402

NAMES = sorted(path.parent.name for path in examples.EXAMPLES.glob("*/README.md"))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_starts_with_one_command(name: str) -> None:
    example = examples.Example(name)
    assert example.command == f"python examples/{name}/run.py"
    assert example.targets
    assert not example.title.startswith("#")


def test_the_table_has_every_example() -> None:
    rows = examples.rows_of(examples.INDEX.read_text())
    assert sorted(rows) == NAMES
    for name, row in rows.items():
        example = examples.Example(name)
        assert row.startswith(f"| [{example.title}]({name}/README.md) | `{example.command}` | ")
        assert f" | {', '.join(example.targets)} | " in row


def test_pages_show_what_was_printed_and_no_path_of_a_machine() -> None:
    for name in NAMES:
        for part in written.parts(examples.Example(name).page.read_text()):
            assert part.text.count("\n") > 2 and str(ROOT) not in part.text


def test_the_targets_are_those_of_the_script() -> None:
    script = runpy.run_path(str(examples.EXAMPLES / "bare_metal" / "run.py"))
    assert examples.Example("bare_metal").targets == script["TARGETS"]
