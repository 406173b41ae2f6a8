# SPDX-License-Identifier: BSD-3-Clause
"""Runs the scripts of examples/ as their READMEs do."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

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
