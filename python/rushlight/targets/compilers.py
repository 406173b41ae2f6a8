# SPDX-License-Identifier: BSD-3-Clause
"""What each compiler needs on this machine: gcc and clang Debian's packages, zig PyPI's, without root."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

from rushlight import process
from rushlight.targets.table import Table
from rushlight.targets.target import Requirement, missing_build_tools, missing_items

ZIGLANG = "ziglang>=0.17,<0.18"
"""zig has no stable release yet: another minor version may read its command line in another way."""


def missing_tools(table: Table, compiler: str, triple: str, libraries: Iterable[str]) -> list[Requirement]:
    """What is missing here to build for `triple` by `compiler`; `libraries` are files that gcc and clang link
    or include."""
    if compiler == "zig":
        return _missing_zig_tools()
    needed = [f"{triple}-g++", *libraries]
    if compiler == "clang":  # gcc still gives the libraries
        needed = [table.clang["cxx"], table.clang["linker"], *needed]
    return missing_build_tools() + missing_items({item: table.package(item) for item in needed})


def _missing_zig_tools() -> list[Requirement]:
    """What pip installs to build with: zig, CMake, Ninja."""
    missing = []
    if importlib.util.find_spec("ziglang") is None and process.find_program("zig") is None:
        missing.append(Requirement("zig", ZIGLANG, installer="pip"))
    for program in ("cmake", "ninja"):
        if process.find_program(program) is None:
            missing.append(Requirement(program, program, installer="pip"))
    return missing
