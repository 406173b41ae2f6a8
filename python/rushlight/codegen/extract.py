# SPDX-License-Identifier: BSD-3-Clause
"""Extracts the operators of models, with dtypes and delegates, as a selected_operators.yaml."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rushlight.codegen import steps
from rushlight.codegen.arguments import add_libraries, finish, put, table_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, or the exit code of the error whose text goes to stderr."""
    parser = argparse.ArgumentParser(prog="python -m rushlight.codegen.extract", description=__doc__)
    parser.add_argument("models", nargs="+", type=Path, help="programs (.pte) and bundled programs (.bpte)")
    parser.add_argument("--output", type=Path, help="the file to write [default: stdout]")
    add_libraries(parser)
    options = parser.parse_args(arguments)
    return finish(
        lambda: put(steps.exchanged(steps.extract(options.models, table_of(options))), options.output)
    )


if __name__ == "__main__":
    sys.exit(main())
