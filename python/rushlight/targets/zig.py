# SPDX-License-Identifier: BSD-3-Clause
"""Targets that the Python package ziglang builds for: nothing of Debian's is needed, and no root."""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight import process
from rushlight.sources import source_root
from rushlight.targets.bare_metal import ARM, RISCV, BareMetal, Toolchain
from rushlight.targets.target import CommandTarget, Requirement

ZIGLANG = "ziglang>=0.17,<0.18"
"""zig has no stable release yet: another minor version may read its command line in another way."""


def missing_zig_tools() -> list[Requirement]:
    """What pip installs to build with: zig, CMake, Ninja."""
    missing = []
    if importlib.util.find_spec("ziglang") is None and process.find_program("zig") is None:
        missing.append(Requirement("zig", ZIGLANG, installer="pip"))
    for program in ("cmake", "ninja"):
        if process.find_program(program) is None:
            missing.append(Requirement(program, program, installer="pip"))
    return missing


@dataclass(frozen=True)
class ZigLinux(CommandTarget):
    """Linux with musl, linked statically: an executable is one file that runs on any distribution.
    `emulator` is the QEMU command for other machines than this one."""

    name: str
    cpu: str
    pointer_bytes: int
    emulator: tuple[str, ...]
    machine: str
    kind: str = "linux"
    board: None = None

    @property
    def toolchain_file(self) -> Path:
        """See Target."""
        return source_root() / "toolchains" / f"{self.name}.cmake"

    @property
    def is_this_machine(self) -> bool:
        """Whether executables run here as they are."""
        return platform.system() == "Linux" and platform.machine() == self.machine

    def requirements(self) -> list[Requirement]:
        """See Target."""
        missing = missing_zig_tools()
        if not self.is_this_machine and process.find_program(self.emulator[0]) is None:
            missing.append(Requirement(self.emulator[0], "qemu-user", only_to_run=True))
        return missing

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """See Target."""
        emulator = () if self.is_this_machine else self.emulator
        return [*emulator, str(executable.absolute()), *arguments]


@dataclass(frozen=True)
class ZigBareMetal(BareMetal):
    """A core on a board as in bare_metal.py, with nothing of Debian's but, to run it, QEMU."""

    toolchain: Toolchain = ARM

    @property
    def cpu(self) -> str:
        """See Target."""
        return self.core or self.name.removeprefix("zig-")

    def requirements(self) -> list[Requirement]:
        """See Target."""
        emulator, package = self.toolchain.emulator
        missing = missing_zig_tools()
        if process.find_program(emulator) is None:
            missing.append(Requirement(emulator, package, only_to_run=True))
        return missing


TARGETS = (
    ZigLinux("zig-linux-x86_64", "x86_64-linux-musl", 8, ("qemu-x86_64",), "x86_64"),
    ZigLinux("zig-linux-aarch64", "aarch64-linux-musl", 8, ("qemu-aarch64", "-cpu", "max"), "aarch64"),
    ZigLinux("zig-linux-armhf", "arm-linux-musleabihf", 4, ("qemu-arm", "-cpu", "max"), "armv7l"),
    ZigLinux("zig-linux-riscv64", "riscv64-linux-musl", 8, ("qemu-riscv64",), "riscv64"),
    ZigBareMetal("zig-cortex-m0plus", "mps2-an385", 4),
    ZigBareMetal("zig-cortex-m3", "mps2-an385", 4),
    ZigBareMetal("zig-cortex-m4", "mps2-an386", 4),
    ZigBareMetal("zig-cortex-m7", "mps2-an500", 4),
    ZigBareMetal("zig-cortex-m33", "mps2-an505", 4),
    ZigBareMetal("zig-cortex-m55", "mps3-an547", 4),
    ZigBareMetal("zig-rv32imac", "virt-rv32", 4, RISCV),
    ZigBareMetal("zig-rv32imafc", "virt-rv32", 4, RISCV),
    ZigBareMetal("zig-rv64gc", "virt-rv64", 8, RISCV),
)
