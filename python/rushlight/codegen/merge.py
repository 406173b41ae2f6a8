# SPDX-License-Identifier: BSD-3-Clause
"""Merges selection files and a list of operators to one selected_operators.yaml."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rushlight.codegen import steps
from rushlight.codegen.arguments import add_libraries, finish, put, table_of
from rushlight.codegen.options import add_arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, or the exit code of the error whose text goes to stderr."""
    parser = argparse.ArgumentParser(prog="python -m rushlight.codegen.merge", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="YAML files that select operators")
    add_arguments(parser, "ops", "all_ops")
    parser.add_argument("--output", type=Path, help="the file to write [default: stdout]")
    add_libraries(parser)
    options = parser.parse_args(arguments)

    def run() -> None:
        table = table_of(options)
        info = steps.merge(options.files, table, ops=options.ops, all_ops=options.all_ops)
        put(steps.exchanged(info), options.output)

    return finish(run)


if __name__ == "__main__":
    sys.exit(main())
