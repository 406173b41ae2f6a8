# SPDX-License-Identifier: BSD-3-Clause
"""Microcontroller cores on the boards of toolchains/boards/, run in QEMU with a deterministic clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rushlight.documents import read_json
from rushlight.errors import InvalidArgument
from rushlight.sources import source_root
from rushlight.targets.target import CommandTarget, Requirement, missing_build_tools, missing_programs

# The C++ headers that need no library; RISC-V borrows Arm's, Debian has none for it.
_CXX_HEADERS = ("/usr/include/newlib/c++", "libstdc++-arm-none-eabi-dev")


@dataclass(frozen=True)
class Toolchain:
    """`programs` to build with, the `emulator`, and `files` that are needed beside them: each with its
    package."""

    programs: tuple[tuple[str, str], ...]
    emulator: tuple[str, str]
    files: tuple[tuple[str, str], ...]


# Where clang compiles, gcc still gives the libraries.
_CLANG = (("clang++-19", "clang-19"), ("ld.lld-19", "lld-19"))

ARM = Toolchain(
    (("arm-none-eabi-g++", "gcc-arm-none-eabi"),),
    ("qemu-system-arm", "qemu-system-arm"),
    (("/usr/lib/picolibc/arm-none-eabi/picolibc.specs", "picolibc-arm-none-eabi"), _CXX_HEADERS),
)
RISCV = Toolchain(
    (("riscv64-unknown-elf-g++", "gcc-riscv64-unknown-elf"),),
    ("qemu-system-riscv64", "qemu-system-misc"),
    (("/usr/lib/picolibc/riscv64-unknown-elf/picolibc.specs", "picolibc-riscv64-unknown-elf"), _CXX_HEADERS),
)
ARM_CLANG = replace(ARM, programs=_CLANG + ARM.programs)
RISCV_CLANG = replace(RISCV, programs=_CLANG + RISCV.programs)


@dataclass(frozen=True)
class BareMetal(CommandTarget):
    """One core on one board; the target has the core's name, or a board's that is known by its own."""

    name: str
    board: str
    pointer_bytes: int
    toolchain: Toolchain
    core: str = ""
    kind: str = "bare-metal"

    @property
    def cpu(self) -> str:
        """See Target."""
        return self.core or self.name

    @property
    def build_only(self) -> str:
        """See Target."""
        reason: str = self.description().get("build_only", "")
        return reason

    @property
    def toolchain_file(self) -> Path:
        """See Target."""
        return source_root() / "toolchains" / f"{self.name}.cmake"

    def description(self) -> dict[str, Any]:
        """The board's board.json; toolchains/boards/README.md has the fields."""
        path = source_root() / "toolchains" / "boards" / self.board / "board.json"
        description: dict[str, Any] = read_json(path)
        return description

    def banks(self) -> dict[str, str]:
        """See Target."""
        banks: dict[str, str] = self.description()["banks"]
        return banks

    def bank_bytes(self) -> dict[str, int]:
        """See Target."""
        return {bank["name"]: bank["bytes"] for bank in self.description()["memory"]}

    def requirements(self) -> list[Requirement]:
        """See Target."""
        files = [
            Requirement(path, package) for path, package in self.toolchain.files if not Path(path).exists()
        ]
        programs = dict(self.toolchain.programs)
        if not self.build_only:
            programs.update([self.toolchain.emulator])
        return missing_build_tools() + missing_programs(programs) + files

    def command(self, executable: Path, arguments: Sequence[str] = ()) -> list[str]:
        """See Target."""
        self.check_runs()
        for argument in arguments:
            if not argument or "\n" in argument:
                raise InvalidArgument(
                    f"argument {argument!r}: empty, or of several lines; no board gets such"
                )
        board = self.description()
        script = source_root() / "toolchains" / "boards" / "startup" / "run.sh"
        emulator = [*board["emulator"], "-icount", f"shift={board['icount_shift']}"]
        return ["sh", str(script), *emulator, "--", str(executable.absolute()), *arguments]


TARGETS = (
    BareMetal("microbit", "microbit", 4, ARM, core="cortex-m0"),
    BareMetal("cortex-m0plus", "mps2-an385", 4, ARM),
    BareMetal("cortex-m3", "mps2-an385", 4, ARM),
    BareMetal("cortex-m4", "mps2-an386", 4, ARM),
    BareMetal("cortex-m7", "mps2-an500", 4, ARM),
    BareMetal("cortex-m33", "mps2-an505", 4, ARM),
    BareMetal("cortex-m55", "mps3-an547", 4, ARM),
    BareMetal("cortex-m85", "cortex-m85", 4, ARM_CLANG),
    BareMetal("rv32imc", "virt-rv32imc", 4, RISCV),
    BareMetal("rv32imac", "virt-rv32", 4, RISCV),
    BareMetal("rv32imafc", "virt-rv32", 4, RISCV),
    BareMetal("rv64gc", "virt-rv64", 8, RISCV),
    BareMetal("rv64gcv", "virt-rv64gcv", 8, RISCV_CLANG),
)
