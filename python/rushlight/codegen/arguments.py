# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that the commands of code generation share, and how they end."""

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
    """Which kernel libraries there are, their order, and for which kind of target."""
    parser.add_argument("--ops-table", type=Path, help="kernels/ops.yaml [default: rushlight's]")
    add_arguments(parser, "kernels", "priority", "prefer")
    add_words(parser, "small")
    parser.add_argument("--floats-in-software", action="store_true", help="The target has no FPU")


def table_of(options: argparse.Namespace) -> OperatorTable:
    """The operator table that the arguments say."""
    path = options.ops_table or source_root() / "kernels" / "ops.yaml"
    prefer = preferences(split_names(options.prefer))
    table = load_tables(path, options.kernels, split_names(options.priority), prefer)
    return for_small_targets(table, options.floats_in_software) if options.small else table


def dtypes_of(options: argparse.Namespace) -> tuple[bool, frozenset[str] | None]:
    """Whether dtypes are selected by model, and those that the others get."""
    return options.dtypes == "model", dtype_set(options.only_dtypes)


def put(text: str, path: Path | None) -> None:
    """Write to a file, without one to stdout."""
    if path is None:
        sys.stdout.write(text)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)


FAILURE_FILE = "RUSHLIGHT_FAILURE_FILE"
"""In the environment: the file that `finish` writes the error to, for whoever started CMake."""


def finish(run: Callable[[], None]) -> int:
    """Run; the exit code is 0 or that of the error, whose text goes to stderr, and as RushlightError.to_data
    to the FAILURE_FILE."""
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
        with contextlib.suppress(FileFailed):  # the text is there in any case
            write_text(path, json.dumps(failure.to_data(), default=str))
    return failure.exit_code
