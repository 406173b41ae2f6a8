# SPDX-License-Identifier: BSD-3-Clause
"""Writes a table of the calls that execute in parallel, and of planned memory with and without.

    python benchmarks/speed/lanes.py --threads 2 --write

Needs rushlight and torch. The plan depends on the program and on the number of threads, not on the machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))

from making import make_file
from rich.progress import track
from subjects import BRANCHES, MODELS

import rushlight
from support import written


def row(name: str, folder: Path, threads: int) -> str:
    """The table's row for one model."""
    make_file(name, folder, "rushlight.pte")
    planned = rushlight.load(folder / "rushlight.pte", threads=threads).method("forward").lanes()
    kilobytes = [f"{planned[each] / 1000:,.1f}" for each in ("planned_bytes", "program_bytes")]
    ratio = planned["planned_bytes"] / planned["program_bytes"]
    cells = [name, str(planned["windows"]), str(planned["calls"]), *kilobytes, f"{ratio:.2f}×"]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2, help="threads of the pool [2]")
    parser.add_argument("--write", action="store_true", help="put the table into README.md beside this file")
    options = parser.parse_args()
    lines = [
        "| model | windows | calls in them | planned kB | in order | ratio |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name in track([*MODELS, *BRANCHES], description="models"):
            lines.append(row(name, Path(folder), options.threads))
    text = "\n".join(lines)
    print(text)
    if options.write:
        written.write(Path(__file__).with_name("README.md"), "lanes", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
