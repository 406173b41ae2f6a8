# SPDX-License-Identifier: BSD-3-Clause
"""The interface of targets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rushlight import process
from rushlight.errors import BuildOnly, MissingToolchain

RunResult = process.Result
"""The result of a run: stdout, stderr, returncode (negative: the signal that ended it), seconds."""


@dataclass(frozen=True)
class Requirement:
    """A program or file that a target needs, and the package that provides it: Debian's ("apt") or PyPI's
    ("pip"). Requirements with `only_to_run` are not needed for building."""

    name: str
    package: str
    installer: str = "apt"
    only_to_run: bool = False


class Target(Protocol):
    """A kind of machine that runners are built for and run on.

    `kind` is "host", "linux", "bare-metal" or "wasi". `cpu` is a compiler triple for Linux and WASI, a core
    for bare metal. `board` names a folder of toolchains/boards. `compiler` builds for it, one of `compilers`,
    the usual one first; the host has none. `toolchain` has CMake's cache entries that choose the target.
    """

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def cpu(self) -> str: ...
    @property
    def board(self) -> str | None: ...
    @property
    def compiler(self) -> str: ...
    @property
    def compilers(self) -> tuple[str, ...]: ...
    @property
    def toolchain(self) -> dict[str, str]: ...
    @property
    def pointer_bytes(self) -> int: ...
    @property
    def build_only(self) -> str:
        """The reason why programs for the target cannot run here; empty if they can."""
        ...

    def check_builds(self) -> None:
        """Error: MissingToolchain if a requirement for building is missing."""
        ...

    def check_runs(self) -> None:
        """Errors: BuildOnly; MissingToolchain if a requirement for running is missing."""
        ...

    def banks(self) -> dict[str, str]:
        """The memory banks of "vectors", "flash" (code), "ram" (data, stack), "model" and "arena"; empty if
        an operating system decides."""
        ...

    def bank_bytes(self) -> dict[str, int]:
        """The size of each memory bank in bytes, by name; empty if an operating system decides."""
        ...

    def requirements(self) -> list[Requirement]:
        """The missing requirements on this machine for building and running; empty if none."""
        ...

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """The command that runs `executable`. Errors: InvalidArgument for arguments that cannot be passed,
        BuildOnly."""
        ...

    def run(
        self,
        executable: Path,
        arguments: Sequence[str] = (),
        cwd: str | os.PathLike[str] | None = None,
        timeout: float = 60.0,
    ) -> RunResult:
        """Runs `executable` with files opened below `cwd`, for at most `timeout` seconds.

        Errors: RunTimeout, MissingExecutable, InvalidArgument, BuildOnly. Any exit status is a result.
        """
        ...


class CommandTarget:
    """A target whose programs are started by its `command`."""

    @property
    def build_only(self) -> str:
        """See Target."""
        return ""

    def check_builds(self: Target) -> None:
        """See Target."""
        _refuse_missing(self, to_run=False)

    def check_runs(self: Target) -> None:
        """See Target."""
        if self.build_only:
            raise BuildOnly(self.name, self.build_only)
        _refuse_missing(self, to_run=True)

    def banks(self) -> dict[str, str]:
        """See Target."""
        return {}

    def bank_bytes(self) -> dict[str, int]:
        """See Target."""
        return {}

    def run(
        self: Target,
        executable: Path,
        arguments: Sequence[str] = (),
        cwd: str | os.PathLike[str] | None = None,
        timeout: float = 60.0,
    ) -> RunResult:
        """See Target. On bare metal stdout is the guest's output with logs, and stderr the emulator's."""
        return process.run(self.command(executable, arguments), cwd=cwd, timeout=timeout)


def missing_items(items: Mapping[str, str], *, only_to_run: bool = False) -> list[Requirement]:
    """The items that are missing on this machine. `items` maps a program's name or a file's path to its
    Debian package."""
    return [
        Requirement(item, package, only_to_run=only_to_run)
        for item, package in items.items()
        if not (Path(item).exists() if item.startswith("/") else process.find_program(item))
    ]


def missing_build_tools() -> list[Requirement]:
    """CMake, and Ninja unless Make is installed, as far as they are missing."""
    tools = {"cmake": "cmake"}
    if process.find_program("make") is None:
        tools["ninja"] = "ninja-build"
    return missing_items(tools)


def _refuse_missing(target: Target, *, to_run: bool) -> None:
    """Error: MissingToolchain with the missing requirements for building, or for running."""
    missing = [item for item in target.requirements() if item.only_to_run == to_run]
    if missing:
        packages, pip_packages = (
            sorted({item.package for item in missing if item.installer == installer})
            for installer in ("apt", "pip")
        )
        raise MissingToolchain(target.name, [item.name for item in missing], packages, pip_packages)
