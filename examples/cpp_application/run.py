# SPDX-License-Identifier: BSD-3-Clause
"""Builds the application with CMake and lets it read a digit, from a picture and from numbers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from cmake_project import ROOT, build, run  # noqa: E402

MODEL = HERE.parent / "digits" / "digits.pte"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "build" / "cpp_application", help="folder"
    )
    parser.add_argument(
        "--installed", type=Path, metavar="PREFIX", help="find rushlight there, do not build it"
    )
    options = parser.parse_args()
    if options.installed:
        build(HERE, options.output, CMAKE_PREFIX_PATH=options.installed.resolve())
    else:
        build(HERE, options.output, RUSHLIGHT_FOLDER=ROOT)
    for image in ("eight.pgm", "eight.csv"):
        run([options.output / "classify", MODEL, HERE / image])


if __name__ == "__main__":
    main()
