# SPDX-License-Identifier: BSD-3-Clause
"""Runs and imports the scripts of examples/ as their commands do."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from rushlight import process, targets
from support.environments import ROOT

EXAMPLES = ROOT / "examples"


def skip_without(*names: str) -> None:
    """Skips the test unless the tools of all targets are installed."""
    for name in names:
        if missing := targets.get(name).requirements():
            pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))


def run_example(
    name: str | Path,
    *words: str | Path,
    check: bool = True,
    timeout: float = 600,
    env: Mapping[str, str] | None = None,
) -> process.Result:
    """Runs examples/NAME/run.py, or that of another folder, from the root of the checkout.

    Error: CommandFailed, if `check` is set.
    """
    command: Sequence[str | Path] = [sys.executable, EXAMPLES / name / "run.py", *words]
    return process.run(command, cwd=ROOT, check=check, timeout=timeout, env=env)


def script(example: str, name: str) -> ModuleType:
    """examples/EXAMPLE/NAME.py. Scripts of an example import each other by their bare names; these are
    forgotten afterwards, as examples share names."""
    folder = EXAMPLES / example
    others = {path.stem: sys.modules.pop(path.stem, None) for path in folder.glob("*.py")}
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        for stem, module in others.items():
            sys.modules.pop(stem, None)
            if module is not None:
                sys.modules[stem] = module
