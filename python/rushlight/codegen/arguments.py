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
from rushlight.codegen.selection import dtype_set
from rushlight.codegen.table import OperatorTable, for_small_targets
from rushlight.errors import FileFailed, RushlightError
from rushlight.files import write_text
from rushlight.sources import source_root


def add_libraries(parser: argparse.ArgumentParser) -> None:
    """Which kernel libraries there are, and their order."""
    parser.add_argument("--ops-table", type=Path, help="kernels/ops.yaml [default: rushlight's]")
    parser.add_argument(
        "--library",
        action="append",
        default=[],
        metavar="[NAME=]PATH",
        help="a further kernel library: its folder or YAML file",
    )
    parser.add_argument(
        "--priority", default="", help="libraries, comma separated: the first that has an operator gives it"
    )
    parser.add_argument(
        "--prefer",
        action="append",
        default=[],
        metavar="OPERATOR=LIBRARY",
        help="the library that an operator is taken from",
    )
    parser.add_argument(
        "--small", action="store_true", help="for a target that takes the backs of kernels/board/"
    )


def add_dtypes(parser: argparse.ArgumentParser) -> None:
    """Which dtypes kernels are built for."""
    parser.add_argument(
        "--dtypes", choices=("model", "all"), default="all", help="only the dtypes that models need, or all"
    )
    parser.add_argument(
        "--only-dtypes",
        default="",
        help="the dtypes of operators for which nothing else says them, comma separated",
    )


def table_of(options: argparse.Namespace) -> OperatorTable:
    """The operator table that the arguments say."""
    priority = [name.strip() for name in options.priority.split(",") if name.strip()]
    path = options.ops_table or source_root() / "kernels" / "ops.yaml"
    table = load_tables(path, options.library, priority, preferences(options.prefer))
    return for_small_targets(table) if options.small else table


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
