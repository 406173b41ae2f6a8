# SPDX-License-Identifier: BSD-3-Clause
"""Runs the command of each example, writes its output into the example's README, and a table of all examples
into examples/README.md.

    python benchmarks/examples.py --write [NAME...]    # default: all

An example's command is the first line of the first `sh` block of its README. Its targets are TARGETS in its
run.py.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support import written  # noqa: E402

EXAMPLES = ROOT / "examples"
INDEX = EXAMPLES / "README.md"


@dataclass(frozen=True)
class Example:
    """An example, identified by its folder's name."""

    name: str

    @property
    def page(self) -> Path:
        """The path of its README."""
        return EXAMPLES / self.name / "README.md"

    @property
    def title(self) -> str:
        """The heading of its README."""
        return self.page.read_text().partition("\n")[0].removeprefix("# ")

    @property
    def command(self) -> str:
        """The command that runs it. Error: ValueError if the README has none."""
        found = re.search(r"^```sh\n(.+)$", self.page.read_text(), re.MULTILINE)
        if found is None:
            raise ValueError(f"{self.page}: expected a block of sh, got none")
        return found[1].partition(" #")[0].strip()

    @property
    def targets(self) -> list[str]:
        """TARGETS of its run.py."""
        tree = ast.parse((EXAMPLES / self.name / "run.py").read_text())
        values = [
            ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TARGETS"
        ]
        return list(values[0]) if values else ["host"]

    def row(self, seconds: float) -> str:
        """Its row of the table."""
        time_taken = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
        link = f"[{self.title}]({self.name}/README.md)"
        return f"| {link} | `{self.command}` | {', '.join(self.targets)} | {time_taken} |"


def run(example: Example) -> tuple[str, float]:
    """The output of the command, and its seconds. Error: CalledProcessError."""
    words = shlex.split(example.command)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, *words[1:]] if words[0] == "python" else words,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    lines = [line.rstrip() for line in done.stdout.strip("\n").splitlines()]
    return "\n".join(lines), time.monotonic() - began


def table(rows: dict[str, str]) -> str:
    """The table of all examples."""
    head = "| example | command | targets | time |\n|---|---|---|---:|\n"
    return head + "\n".join(rows[name] for name in sorted(rows))


def rows_of(page: str) -> dict[str, str]:
    """The rows of the table by the names of the examples."""
    return {
        found[2]: found[0]
        for found in re.finditer(r"^\| \[(.*?)\]\((\w+)/README.md\).*$", page, re.MULTILINE)
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = sorted(path.parent.name for path in EXAMPLES.glob("*/run.py"))
    parser.add_argument("names", nargs="*", metavar="NAME", default=names, help=", ".join(names))
    parser.add_argument("--write", action="store_true", help="write the pages, not only print")
    parser.add_argument("--keep", action="store_true", help="start from what earlier runs built")
    options = parser.parse_args()
    rows = {name: row for name, row in rows_of(INDEX.read_text()).items() if name in names}
    for name in options.names:
        example = Example(name)
        if not options.keep:
            shutil.rmtree(ROOT / "build" / name, ignore_errors=True)  # where examples build
        output, seconds = run(example)
        rows[name] = example.row(seconds)
        print(f"{rows[name]}\n{output}", flush=True)
        parts = {part.name for part in written.parts(example.page.read_text())}
        if options.write and "output" in parts:
            written.write(example.page, "output", f"```text\n{output}\n```")
    if options.write:
        written.write(INDEX, "examples", table(rows))


if __name__ == "__main__":
    main()
