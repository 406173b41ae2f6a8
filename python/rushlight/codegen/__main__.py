# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files of a selection: extract, merge and resolve in one command. CMake calls it at
configuration."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rushlight.codegen import steps
from rushlight.codegen.arguments import add_libraries, dtypes_of, finish, table_of
from rushlight.codegen.emit import WHOLE_BUILD, LinkedBackend, write_all
from rushlight.codegen.options import add_arguments, add_words
from rushlight.codegen.selection import Selection


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rushlight.codegen", description=__doc__)
    add_libraries(parser)
    add_arguments(parser, "ops", "ops_yaml", "models", "all_ops", "dtypes", "only_dtypes", "calls")
    add_words(parser, "compat", "aten", "prepare", "list-portable")
    parser.add_argument(
        "--backend",
        nargs=3,
        action="append",
        default=[],
        metavar=("ID", "HEADER", "OBJECT"),
        help="a backend to link: its id in programs, the header that declares it, its constant object",
    )
    parser.add_argument(
        "--name", default=WHOLE_BUILD, help="the library's name, if it is not the whole build"
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Generates the files. Returns 0, or the exit code of the error whose text goes to stderr."""
    options = _parser().parse_args(arguments)
    return finish(lambda: _generate(options))


def _generate(options: argparse.Namespace) -> None:
    table = table_of(options)
    models, files = [Path(path) for path in options.models], [Path(path) for path in options.ops_yaml]
    info = steps.extract(models, table)
    info.merge(steps.merge(files, table, ops=options.ops, all_ops=options.all_ops))
    if options.aten:  # PyTorch's kernels serve the others
        info.needs = {name: need for name, need in info.needs.items() if name in table.operators}
    by_dtype, only = dtypes_of(options)
    depends = [*files, *models]
    by_calls = options.calls == "model"
    selection = Selection(table, by_dtype, only, info, depends, options.list_portable, by_calls)
    backends = [LinkedBackend(*backend) for backend in options.backend]
    selected = write_all(
        selection,
        options.out,
        backends,
        official_names=options.compat,
        library=options.name,
        prepares=options.prepare,
    )
    sources = {unit.name for s in selected for unit in s.units(table)}
    libraries = sorted({s.operator.library for s in selected})
    of = f" of {', '.join(libraries)}" if libraries else ""
    print(f"{len(selected)} operators from {len(sources)} kernel sources{of}")
    for name in sorted(info.delegates.keys() - {backend.id for backend in backends}):
        askers = ", ".join(sorted(info.delegates[name]))
        print(f"backend {name}, which {askers} delegates to, is not in this build")


if __name__ == "__main__":
    sys.exit(main())
