# SPDX-License-Identifier: BSD-3-Clause
"""What every target can be asked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rushlight import process
from rushlight.errors import BuildOnly

RunResult = process.Result
"""How a run ended: stdout, stderr, returncode (negative: the signal that ended it), seconds."""


@dataclass(frozen=True)
class Requirement:
    """A program or file that a target needs, and the package that has it: Debian's ("apt"), or one from
    PyPI ("pip"). Without those that are `only_to_run` a target is one to build for."""

    name: str
    package: str
    installer: str = "apt"
    only_to_run: bool = False


class Target(Protocol):
    """A kind of machine that runners are built for and run on.

    `kind` is "host", "linux", "bare-metal" or "wasi". `cpu` is a compiler triple for Linux and WASI, a core
    for bare metal. `board` names a folder of toolchains/boards. `toolchain_file` is for CMake; the host has
    none.
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
    def toolchain_file(self) -> Path | None: ...
    @property
    def pointer_bytes(self) -> int: ...
    @property
    def build_only(self) -> str:
        """Why programs for it cannot be run here; empty: they can."""
        ...

    def check_runs(self) -> None:
        """Error: BuildOnly."""
        ...

    def banks(self) -> dict[str, str]:
        """Which memory bank holds the "vectors", "flash" (code), "ram" (data, stack), "model" and "arena";
        empty where an operating system decides."""
        ...

    def bank_bytes(self) -> dict[str, int]:
        """Bytes of each memory bank by its name; empty where an operating system decides."""
        ...

    def requirements(self) -> list[Requirement]:
        """What is missing on this machine to build for the target and to run on it; empty: nothing."""
        ...

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """The command that runs `executable`. Errors: InvalidArgument for arguments it cannot pass on,
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

    name: str

    @property
    def build_only(self) -> str:
        """See Target."""
        return ""

    def check_runs(self) -> None:
        """See Target."""
        if self.build_only:
            raise BuildOnly(self.name, self.build_only)

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        raise NotImplementedError

    def banks(self) -> dict[str, str]:
        """See Target."""
        return {}

    def bank_bytes(self) -> dict[str, int]:
        """See Target."""
        return {}

    def run(
        self,
        executable: Path,
        arguments: Sequence[str] = (),
        cwd: str | os.PathLike[str] | None = None,
        timeout: float = 60.0,
    ) -> RunResult:
        """See Target. On bare metal stdout has the guest's text, logs included, and stderr the emulator's."""
        return process.run(self.command(executable, arguments), cwd=cwd, timeout=timeout)


def missing_programs(programs: dict[str, str]) -> list[Requirement]:
    """Those of `programs` (name to package) that are not on PATH."""
    missing = [name for name in programs if process.find_program(name) is None]
    return [Requirement(name, programs[name]) for name in missing]


def missing_build_tools() -> list[Requirement]:
    """CMake, and Ninja unless there is Make."""
    tools = {"cmake": "cmake"}
    if process.find_program("make") is None:
        tools["ninja"] = "ninja-build"
    return missing_programs(tools)
