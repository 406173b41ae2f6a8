# SPDX-License-Identifier: BSD-3-Clause
"""The microkernels of machines that are not this one, against their references: built by cross/CMakeLists.txt
with the compilers of rushlight's targets, run in their emulators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from rushlight import process, targets

CROSS = Path(__file__).with_name("cross")
# What small kernels call; boards have no others.
SMALL = ("panel", "patch", "runs")
# Those that Armv7 has a variant of.
FLUSHING = (
    "attention", "depthwise", "dot", "gather", "gemm", "normalize", "pool", "reduce", "resample", "softmax",
    "transpose", "turn", "winograd",
)  # fmt: skip
# Where all would take long to compile or to run, for loops that are the same: those that arrange lanes.
WITH_SHUFFLES = ("convert", "dot", "gemm", "softmax", "turn")


@dataclass(frozen=True)
class Machine:
    """A target, or what `toolchain` makes of its compilers and `command` runs; all families if none are
    named. `feature` is what the build has to find that the machine has."""

    name: str
    target: str
    feature: str
    families: tuple[str, ...] = ()
    flags: str = ""
    toolchain: Path | None = None
    emulator: tuple[str, ...] = ()


MACHINES = (
    Machine("neon", "linux-aarch64", "arm64/neon"),
    Machine("armv7-neon", "linux-armhf", "armv7", FLUSHING),
    Machine(
        "rvv",
        "clang-linux-riscv64",
        "riscv/rvv",
        (*WITH_SHUFFLES, "depthwise", "reduce", "transpose"),
        toolchain=CROSS / "linux-riscv64-v.cmake",
        emulator=(
            "qemu-riscv64",
            "-cpu",
            "rv64,v=true,vext_spec=v1.0,vlen=256",
            "-L",
            "/usr/riscv64-linux-gnu",
        ),
    ),
    Machine("wasm-simd128", "wasm32", "wasm/simd", WITH_SHUFFLES, flags="-msimd128"),
    Machine("cortex-m4", "cortex-m4", "arm/fma", SMALL),
    Machine("mve", "cortex-m55", "arm/mve", SMALL),
    Machine("rv32imafc", "rv32imafc", "riscv/f", SMALL),
    Machine("rv64gcv", "rv64gcv", "riscv/rvv", SMALL),
)


def build(machine: Machine, folder: Path) -> Path:
    """The tests as a program for `machine`; skips where its compiler or emulator is missing."""
    target = targets.get(machine.target)
    if missing := target.requirements():
        pytest.skip(f"{machine.name}: missing " + ", ".join(item.name for item in missing))
    options = {
        **target.toolchain,
        **({"CMAKE_TOOLCHAIN_FILE": str(machine.toolchain)} if machine.toolchain else {}),
        "CMAKE_CXX_FLAGS": machine.flags,
        "CMAKE_CXX_COMPILER_LAUNCHER": process.find_program("ccache") or "",
        "RUSHLIGHT_FAMILIES": ";".join(machine.families),
    }
    given = [f"-D{name}={value}" for name, value in options.items() if value]
    process.run(["cmake", "-S", CROSS, "-B", folder, "-G", "Ninja", *given], check=True, timeout=120)
    process.run(["cmake", "--build", folder, "-j", "2"], check=True, timeout=400)
    found = re.search(
        r"^RUSHLIGHT_UKERNEL_FOUND:INTERNAL=(.*)$", (folder / "CMakeCache.txt").read_text(), re.M
    )
    assert found and machine.feature in found[1].split(";"), found
    return folder / "ukernel_tests"


@pytest.mark.device
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_microkernels_of(machine: Machine, tmp_path: Path) -> None:
    program = build(machine, tmp_path)
    command = targets.get(machine.target).command(program)
    if machine.emulator:
        command = [*machine.emulator, str(program)]
    result = process.run(command, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    ran = re.search(r"(\d+) tests ran, 0 expectations failed", result.stdout)
    assert ran and int(ran[1]) >= 3 * len(machine.families or SMALL), result.stdout
