# SPDX-License-Identifier: BSD-3-Clause
"""The packages that each compiler needs: Debian packages for gcc and clang, PyPI packages for zig, without
root."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

from rushlight import process
from rushlight.targets.table import Table
from rushlight.targets.target import Requirement, missing_build_tools, missing_items

ZIGLANG = "ziglang>=0.17,<0.18"
"""zig has no stable release yet: its command line may change with each minor version."""


def missing_tools(table: Table, compiler: str, triple: str, libraries: Iterable[str]) -> list[Requirement]:
    """The missing tools for building for `triple` with `compiler`; `libraries` are files that gcc and clang
    link or include."""
    if compiler == "zig":
        return _missing_zig_tools()
    needed = [f"{triple}-g++", *libraries]
    if compiler == "clang":  # clang uses gcc's libraries
        needed = [table.clang["cxx"], table.clang["linker"], *needed]
    return missing_build_tools() + missing_items({item: table.package(item) for item in needed})


def _missing_zig_tools() -> list[Requirement]:
    """The missing PyPI packages for building with zig: zig, CMake, Ninja."""
    missing = []
    if importlib.util.find_spec("ziglang") is None and process.find_program("zig") is None:
        missing.append(Requirement("zig", ZIGLANG, installer="pip"))
    for program in ("cmake", "ninja"):
        if process.find_program(program) is None:
            missing.append(Requirement(program, program, installer="pip"))
    return missing
