# SPDX-License-Identifier: BSD-3-Clause
"""Resolves each selected operator to a kernel with its library, source and dtypes, as JSON; with --out also
writes the C++ and CMake files of the selection."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rushlight.codegen import steps
from rushlight.codegen.arguments import add_libraries, dtypes_of, finish, put, table_of
from rushlight.codegen.emit import selected_kernels, write_all
from rushlight.codegen.options import add_arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, or the exit code of the error whose text goes to stderr."""
    parser = argparse.ArgumentParser(prog="python -m rushlight.codegen.resolve", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="YAML files that select operators")
    parser.add_argument("--output", type=Path, help="the file to write [default: stdout]")
    parser.add_argument("--out", type=Path, help="a folder for the generated files")
    add_libraries(parser)
    add_arguments(parser, "dtypes", "only_dtypes")
    options = parser.parse_args(arguments)

    def run() -> None:
        table = table_of(options)
        by_dtype, only = dtypes_of(options)
        info = steps.merge(options.files, table)
        selection, selected = steps.resolve(info, table, by_dtype=by_dtype, only=only)
        selection.depends += options.files
        if options.out is not None:
            write_all(selection, options.out)
        put(selected_kernels(selection, selected), options.output)

    return finish(run)


if __name__ == "__main__":
    sys.exit(main())
