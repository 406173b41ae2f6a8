# SPDX-License-Identifier: BSD-3-Clause
"""Runs the steps of one page in one process, as a reader would: python blocks share a namespace.

    python page_session.py STEPS REPORT

STEPS is a JSON list; a step has `kind` (python, sh or file), `text`, `name`, `exit` and `path` (of a file).
REPORT gets a JSON line for each step: `status` (of python 1 for an exception) and `output`. It ends after the
first step whose status differs from its `exit`.
"""

from __future__ import annotations

import json
import linecache
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, TextIO


def _python(step: dict[str, Any], namespace: dict[str, Any]) -> int:
    source, name = step["text"], step["name"]
    # Exceptions show these lines, and torch.export finds the source of functions.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        exec(compile(source, name, "exec"), namespace)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _sh(step: dict[str, Any]) -> int:
    return subprocess.run(["sh", "-eu", "-c", step["text"]], stdin=subprocess.DEVNULL).returncode


def _file(step: dict[str, Any]) -> int:
    path = Path(step["path"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(step["text"])
    return 0


def _captured(step: dict[str, Any], namespace: dict[str, Any]) -> tuple[int, str]:
    """The step's status, and what it and its processes wrote to stdout and stderr."""
    with tempfile.TemporaryFile() as taken:
        saved = [os.dup(1), os.dup(2)]
        for number in (1, 2):
            os.dup2(taken.fileno(), number)
        try:
            run = {"sh": _sh, "file": _file}.get(step["kind"])
            status = run(step) if run else _python(step, namespace)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, old in zip((1, 2), saved, strict=True):
                os.dup2(old, number)
                os.close(old)
        taken.seek(0)
        return status, taken.read().decode(errors="replace")


def _steps(steps: list[dict[str, Any]], report: TextIO) -> None:
    import __main__

    namespace = vars(__main__)
    for step in steps:
        status, output = _captured(step, namespace)
        print(json.dumps({"status": status, "output": output}), file=report, flush=True)
        if status != step["exit"]:
            return


if __name__ == "__main__":
    sys.path[0] = ""
    with Path(sys.argv[2]).open("w") as opened:
        _steps(json.loads(Path(sys.argv[1]).read_text()), opened)
