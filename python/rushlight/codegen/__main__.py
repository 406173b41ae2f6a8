# SPDX-License-Identifier: BSD-3-Clause
"""python -m rushlight.codegen: write the files of a selection. CMake runs it when it configures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rushlight.codegen.emit import LinkedBackend, write_all
from rushlight.codegen.libraries import load_tables, preferences
from rushlight.codegen.selection import Selection, dtype_set
from rushlight.errors import RushlightError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rushlight.codegen", description=__doc__)
    parser.add_argument("--ops-table", type=Path, required=True, help="kernels/ops.yaml")
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
    parser.add_argument("--root-ops", default="", help="operators, comma separated")
    parser.add_argument(
        "--ops-yaml", type=Path, action="append", default=[], help="a file that lists operators"
    )
    parser.add_argument(
        "--model", type=Path, action="append", default=[], help="a .pte or .bpte whose operators to take"
    )
    parser.add_argument("--all-ops", action="store_true", help="every operator of the table")
    parser.add_argument(
        "--dtypes", choices=("model", "all"), default="all", help="only the dtypes that models need, or all"
    )
    parser.add_argument(
        "--only-dtypes",
        default="",
        help="the dtypes of operators for which nothing else says them, comma separated",
    )
    parser.add_argument(
        "--backend",
        nargs=3,
        action="append",
        default=[],
        metavar=("ID", "HEADER", "OBJECT"),
        help="a backend to link: as programs name it, the header that declares it, its constant object",
    )
    parser.add_argument(
        "--official-names", action="store_true", help="also the headers that compat/ has from the table"
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to write into")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate; the exit code is 0 or that of the error, whose text goes to stderr."""
    options = _parser().parse_args(arguments)
    try:
        priority = [name.strip() for name in options.priority.split(",") if name.strip()]
        table = load_tables(options.ops_table, options.library, priority, preferences(options.prefer))
        selection = Selection(table, options.dtypes == "model", dtype_set(options.only_dtypes))
        selection.add_list(options.root_ops)
        for path in options.ops_yaml:
            selection.add_yaml(path)
        for path in options.model:
            selection.add_model(path)
        if options.all_ops:
            selection.add_all()
        backends = [LinkedBackend(*backend) for backend in options.backend]
        selected = write_all(selection, options.out, backends, official_names=options.official_names)
    except RushlightError as error:
        print(f"error: {error}", file=sys.stderr)
        if error.next_step:
            print(error.next_step, file=sys.stderr)
        return error.exit_code
    sources = {s.operator.unit for s in selected}
    print(f"{len(selected)} operators from {len(sources)} kernel sources")
    return 0


if __name__ == "__main__":
    sys.exit(main())
