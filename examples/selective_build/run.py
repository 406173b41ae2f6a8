# SPDX-License-Identifier: BSD-3-Clause
"""Builds the application with the operators of one model, lists them, and checks that the model can run.

The options after the command go to CMake: any row of README.md's table.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from cmake_project import ROOT, build, run  # noqa: E402

MODEL = HERE.parent / "digits" / "digits.pte"
SELECTION = ["EXECUTORCH_SELECT_OPS_FROM_MODEL=../digits/digits.pte", "EXECUTORCH_DTYPE_SELECTIVE_BUILD=ON"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-D", dest="entries", action="append", metavar="NAME=VALUE", help="a cache entry")
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "build" / "selective_build", help="folder"
    )
    options = parser.parse_args()
    entries = dict(entry.split("=", 1) for entry in options.entries or SELECTION)
    build(HERE, options.output, **entries)
    executable = options.output / "selected"
    run([executable, MODEL] if options.entries is None else [executable])
    print(f"{executable.name}: {executable.stat().st_size:,} B")


if __name__ == "__main__":
    main()
