# SPDX-License-Identifier: BSD-3-Clause
"""Seeded faults: the rows of faults.yaml, checked."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests" / "faults" / "faults.yaml"

BINARIES = ("runtime_tests", "ukernel_tests", "compat_tests", "backend_tests")
"""The C++ test programs, by their CMake targets."""


@dataclass(frozen=True)
class Fault:
    """One wrong line. `tests` are the arguments of the test commands that should detect it: pytest's
    arguments, or the name of a C++ test program and a filter of its tests. `builds` are the CMake targets
    that they run."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[tuple[str, ...], ...]
    builds: tuple[str, ...]

    @property
    def folder(self) -> str:
        """The part of the tree that the fault is in, as FOLDERS of test_faults.py names it."""
        parts = Path(self.file).with_suffix("").parts
        depth = {"runtime": 2, "kernels": 2}.get(parts[0], 1)
        if parts[0] == "python":
            depth = 3 if parts[1] == "rushlight" else 2
        return "/".join(parts[:depth])

    def apply(self, text: str) -> str:
        """The file's text with the fault. Error: ValueError if the table is older than the file."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: expected `old` once in {self.file}, got {text.count(self.old)}")
        return text.replace(self.old, self.new)


def read(path: Path = TABLE) -> list[Fault]:
    """The rows of a table."""
    return [_fault(row) for row in yaml.safe_load(path.read_text())]


def told_by(page: str) -> dict[str, str | None]:
    """The test command that detected each fault of the README's table: "" if none did, None if it was not
    tried."""
    rows = re.findall(
        r"^\| ([a-z0-9-]+) \| `[^`]+` \| (?:`(.+)`|\*\*nothing\*\*|(not tried)) \|$", page, re.MULTILINE
    )
    return {name: None if untried else seen for name, seen, untried in rows}


def _fault(row: dict[str, Any]) -> Fault:
    tests = tuple(tuple(shlex.split(words)) for words in row["tests"])
    builds = {words[0] for words in tests if words[0] in BINARIES}
    python = any(words[0] not in BINARIES for words in tests)
    if python and not row["file"].startswith("python/rushlight/"):
        builds |= set(row.get("builds", ()))
    return Fault(row["name"], row["file"], row["old"], row["new"], tests, tuple(sorted(builds)))
