# SPDX-License-Identifier: BSD-3-Clause
"""python -m rushlight.codegen.merge_yaml FUNCTIONS FALLBACK OUTPUT: two YAML files of kernels as one,
with those of the first for operators that both have. CMake's merge_yaml runs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rushlight.codegen.opinfo import operator_name
from rushlight.codegen.table import load_yaml
from rushlight.errors import InvalidSelection, RushlightError


def merge(functions: Path, fallback: Path) -> list[dict[str, Any]]:
    """The entries (`op` or `func`, with `kernels`) of both files, one for each operator, in the files' order.

    Error: InvalidSelection naming the file and the entry.
    """
    merged: dict[str, dict[str, Any]] = {}
    for path in (functions, fallback):
        content = load_yaml(path)
        if not isinstance(content, list):
            raise InvalidSelection(f"{path}: a list of operators expected, found {type(content).__name__}")
        for index, entry in enumerate(content):
            named = (entry.get("op") or entry.get("func")) if isinstance(entry, dict) else None
            if not isinstance(named, str):
                raise InvalidSelection(
                    f"{path}: entry {index}: expected 'op' or 'func', found {entry!r:.120}"
                )
            merged.setdefault(operator_name(named, str(path)), entry)
    return list(merged.values())


def main(arguments: Sequence[str]) -> int:
    """Merge; the exit code is 0 or that of the error, whose text goes to stderr."""
    import yaml

    functions, fallback, output = (Path(argument) for argument in arguments)
    try:
        text = yaml.safe_dump(merge(functions, fallback), sort_keys=False)
    except RushlightError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    output.parent.mkdir(parents=True, exist_ok=True)
    # Its readers run only when it changes.
    if not output.is_file() or output.read_text() != text:
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
