# SPDX-License-Identifier: BSD-3-Clause
"""Merges two YAML files of kernels: python -m rushlight.codegen.merge_yaml FUNCTIONS FALLBACK OUTPUT. For
operators in both, the first file wins. CMake's merge_yaml calls it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rushlight.codegen.arguments import finish, put
from rushlight.codegen.opinfo import operator_name
from rushlight.codegen.table import load_yaml
from rushlight.errors import InvalidSelection


def merge(functions: Path, fallback: Path) -> list[dict[str, Any]]:
    """The entries (`op` or `func`, with `kernels`) of both files, one per operator, in the files' order.

    Errors: InvalidSelection naming the file and the entry.
    """
    merged: dict[str, dict[str, Any]] = {}
    for path in (functions, fallback):
        content = load_yaml(path)
        if not isinstance(content, list):
            raise InvalidSelection(f"{path}: expected a list of operators, got {type(content).__name__}")
        for index, entry in enumerate(content):
            named = (entry.get("op") or entry.get("func")) if isinstance(entry, dict) else None
            if not isinstance(named, str):
                raise InvalidSelection(f"{path}: entry {index}: expected 'op' or 'func', got {entry!r:.120}")
            merged.setdefault(operator_name(named, str(path)), entry)
    return list(merged.values())


def main(arguments: Sequence[str]) -> int:
    """Merges the files. Returns 0, or the exit code of the error whose text goes to stderr."""
    functions, fallback, output = (Path(argument) for argument in arguments)
    return finish(lambda: _write(merge(functions, fallback), output))


def _write(entries: list[dict[str, Any]], output: Path) -> None:
    import yaml

    text = yaml.safe_dump(entries, sort_keys=False)
    # An unchanged file keeps its time stamp, so that nothing is rebuilt.
    if not output.is_file() or output.read_text() != text:
        put(text, output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
