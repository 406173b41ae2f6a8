# SPDX-License-Identifier: BSD-3-Clause
"""./dev, with every program that it calls in a stub that writes its words down."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from rushlight import process

ROOT = Path(__file__).resolve().parents[1]
STUBBED = ["python3", "python", "pip", "cmake", "apt-get", "dpkg-query", "rushlight", "g++", "id"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with ./dev and stubs."""
    shutil.copy(ROOT / "dev", tmp_path / "dev")
    for folder in ("bin", ".venv/bin", "build/tests"):
        (tmp_path / folder).mkdir(parents=True)
    for name in STUBBED:
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/log\n[ {name} != id ] || echo 0\n')
        (tmp_path / "bin" / name).chmod(0o755)
    shutil.copy(tmp_path / "bin" / "python", tmp_path / ".venv" / "bin" / "python")
    return tmp_path


def ran(checkout: Path, *words: str) -> tuple[list[str], str]:
    """The commands of `./dev words`, and what it said."""
    path = f"{checkout / 'bin'}{os.pathsep}{os.environ['PATH']}"
    result = process.run(["sh", checkout / "dev", *words], env={"PATH": path})
    assert result.returncode == 0, result.stderr
    return (checkout / "log").read_text().splitlines(), result.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "-n auto --dist loadfile"),
        (["-k", "softmax"], "-n auto --dist loadfile -k softmax"),
        (["-n", "2", "tests"], "-n 2 tests"),
        (["-n0"], "-n0"),
        (["--pdb", "tests"], "--pdb tests"),
    ],
)
def test_tests_run_on_all_cpus_unless_told_otherwise(words: list[str], expected: str, checkout: Path) -> None:
    commands, _ = ran(checkout, "test", *words)
    assert commands[-1] == f"python -m pytest {expected}"


def test_what_takes_minutes_is_announced_and_seen(checkout: Path) -> None:
    commands, said = ran(checkout, "test")
    installs = [command for command in commands if command.startswith("pip install")]
    assert [command for command in installs if " -q" in command] == ["pip install -q pip>=23.1"]
    assert "0.8 GB on disk" in said and "minutes of CPU" in said and "== [0:0" in said
