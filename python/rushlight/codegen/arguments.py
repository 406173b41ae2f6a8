# SPDX-License-Identifier: BSD-3-Clause
"""Command-line arguments and error handling shared by the commands of code generation."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from rushlight.codegen.libraries import load_tables, preferences
from rushlight.codegen.options import add_arguments, add_words, split_names
from rushlight.codegen.selection import dtype_set
from rushlight.codegen.table import OperatorTable, for_small_targets
from rushlight.errors import FileFailed, RushlightError
from rushlight.files import write_text
from rushlight.sources import source_root


def add_libraries(parser: argparse.ArgumentParser) -> None:
    """Adds the options for kernel libraries, their order, and the kind of target."""
    parser.add_argument("--ops-table", type=Path, help="kernels/ops.yaml [default: rushlight's]")
    add_arguments(parser, "kernels", "priority", "prefer")
    add_words(parser, "small")
    parser.add_argument("--floats-in-software", action="store_true", help="The target has no FPU")


def table_of(options: argparse.Namespace) -> OperatorTable:
    """The operator table selected by the arguments."""
    path = options.ops_table or source_root() / "kernels" / "ops.yaml"
    prefer = preferences(split_names(options.prefer))
    table = load_tables(path, options.kernels, split_names(options.priority), prefer)
    return for_small_targets(table, options.floats_in_software) if options.small else table


def dtypes_of(options: argparse.Namespace) -> tuple[bool, frozenset[str] | None]:
    """True if dtypes are selected by model, and the dtypes of all other operators."""
    return options.dtypes == "model", dtype_set(options.only_dtypes)


def put(text: str, path: Path | None) -> None:
    """Writes text to a file, or to stdout if `path` is None."""
    if path is None:
        sys.stdout.write(text)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)


FAILURE_FILE = "RUSHLIGHT_FAILURE_FILE"
"""The environment variable with the path of a file to which `finish` writes the error, for the process that
started CMake."""


def finish(run: Callable[[], None]) -> int:
    """Calls `run`. Returns 0, or the exit code of its error, whose text goes to stderr and whose
    RushlightError.to_data goes to the FAILURE_FILE."""
    try:
        run()
        return 0
    except RushlightError as error:
        failure = error
    except OSError as error:
        failure = FileFailed.of(error)
    print(f"error: {failure}", file=sys.stderr)
    if failure.next_step:
        print(failure.next_step, file=sys.stderr)
    if path := os.environ.get(FAILURE_FILE):
        with contextlib.suppress(FileFailed):  # the text is on stderr anyway
            write_text(path, json.dumps(failure.to_data(), default=str))
    return failure.exit_code
