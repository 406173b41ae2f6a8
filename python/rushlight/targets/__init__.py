# SPDX-License-Identifier: BSD-3-Clause
"""The machines that rushlight builds for, by name: their requirements, and how to run programs on them."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rushlight.errors import InvalidArgument, UnknownTarget
from rushlight.targets.bare_metal import BareMetal
from rushlight.targets.host import Host
from rushlight.targets.linux import Linux
from rushlight.targets.row_target import RowTarget
from rushlight.targets.table import COMPILERS, Row, table
from rushlight.targets.target import Requirement, RunResult, Target
from rushlight.targets.wasm import Wasi

__all__ = [
    "Requirement", "RunResult", "Target", "all_targets", "every_choice", "get", "install_commands", "spelled",
]  # fmt: skip

_KINDS: dict[str, type[RowTarget]] = {"linux": Linux, "bare-metal": BareMetal, "wasi": Wasi}


def all_targets() -> list[Target]:
    """Every target with its usual compiler, the host first."""
    return [Host(), *(_target(row, "", row.name) for row in table().rows.values())]


def every_choice() -> list[Target]:
    """Every target with each of its compilers."""
    return [
        get(target.name if compiler == target.compiler else spelled(target.name, compiler))
        for target in all_targets()
        for compiler in target.compilers or ("",)
    ]


def get(name: str) -> Target:
    """The target with this name, built by its usual compiler; `<compiler>-<target>`, such as
    "zig-cortex-m33", selects another compiler.

    Errors: UnknownTarget; InvalidArgument if the compiler does not build for it.
    """
    rows = table().rows
    if name == Host.name:
        return Host()
    if name in rows:
        return _target(rows[name], "", name)
    compiler, _, rest = name.partition("-")
    if compiler in COMPILERS and rest == Host.name:
        raise InvalidArgument(
            f"compiler of the host: expected CMake's choice, got {compiler}",
            next_step="Name one with -D CMAKE_C_COMPILER=... -D CMAKE_CXX_COMPILER=...",
        )
    if compiler not in COMPILERS or rest not in rows:
        raise UnknownTarget(name, [target.name for target in every_choice()])
    return _target(rows[rest], compiler, name)


def spelled(name: str, compiler: str | None) -> str:
    """The name of the target with this compiler; the name itself without one."""
    return f"{compiler}-{name}" if compiler else name


def _target(row: Row, compiler: str, name: str) -> Target:
    compiler = compiler or next(iter(row.triples))
    if compiler not in row.triples:
        raise InvalidArgument(
            f"compiler of {row.name}: expected one of {', '.join(row.triples)}, got {compiler}",
            next_step="List the compilers of each target with `rushlight targets`.",
        )
    return _KINDS[row.kind](table(), row, compiler, name)


def install_commands(names: Iterable[str]) -> list[list[str]]:
    """The commands that install the missing requirements of the targets `names`; empty if nothing is missing.
    Commands that begin with apt-get need root on Debian.

    Error: UnknownTarget.
    """
    missing = [requirement for name in names for requirement in get(name).requirements()]
    return package_commands(missing)


def package_commands(missing: Iterable[Requirement]) -> list[list[str]]:
    """The commands that install the packages of `missing`."""
    packages: dict[str, set[str]] = {"apt": set(), "pip": set()}
    for requirement in missing:
        packages[requirement.installer].add(requirement.package)
    commands = []
    if packages["apt"]:
        install = ["apt-get", "install", "-y", "--no-install-recommends", *sorted(packages["apt"])]
        commands += [["apt-get", "update"], install]
    if packages["pip"]:
        commands.append([sys.executable, "-m", "pip", "install", *sorted(packages["pip"])])
    return commands
