# SPDX-License-Identifier: BSD-3-Clause
"""Linux on other processors: Debian's cross compilers, run in QEMU's user mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight.sources import source_root
from rushlight.targets.target import CommandTarget, Requirement, missing_build_tools, missing_programs


@dataclass(frozen=True)
class Linux(CommandTarget):
    """`cpu` is the compiler's triple; `emulator` the QEMU command, which toolchains/<name>.cmake repeats
    for ctest; `package` has the compiler."""

    name: str
    cpu: str
    pointer_bytes: int
    emulator: tuple[str, ...]
    package: str
    kind: str = "linux"
    board: None = None

    @property
    def toolchain_file(self) -> Path:
        """See Target."""
        return source_root() / "toolchains" / f"{self.name}.cmake"

    def requirements(self) -> list[Requirement]:
        """See Target."""
        programs = {f"{self.cpu}-g++": self.package, self.emulator[0]: "qemu-user"}
        return missing_build_tools() + missing_programs(programs)

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """See Target."""
        return [*self.emulator, "-L", f"/usr/{self.cpu}", str(executable.absolute()), *arguments]


TARGETS = (
    Linux("linux-aarch64", "aarch64-linux-gnu", 8, ("qemu-aarch64", "-cpu", "max"), "g++-aarch64-linux-gnu"),
    Linux("linux-armhf", "arm-linux-gnueabihf", 4, ("qemu-arm", "-cpu", "max"), "g++-arm-linux-gnueabihf"),
    Linux("linux-riscv64", "riscv64-linux-gnu", 8, ("qemu-riscv64",), "g++-riscv64-linux-gnu"),
)
