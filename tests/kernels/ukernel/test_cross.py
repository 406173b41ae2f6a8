# SPDX-License-Identifier: BSD-3-Clause
"""Compares the microkernels of other machines with their references: cross/CMakeLists.txt builds them with
the compilers of rushlight's targets, and emulators run them."""

from __future__ import annotations

import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from rushlight import process, targets
from rushlight.sources import source_root
from support import boards

CROSS = Path(__file__).with_name("cross")
# The families that small kernels call; boards have no others.
SMALL = (
    "panel",
    "patch",
    "pool_lines",
    "spans",
    "int8_product",
    "int8_depthwise",
    "int8_elementwise",
    "int16_product",
    "int16_depthwise",
    "block_gemm",
    "convert",
    "attention",
)
# The integer families of boards without vectors, and of hosts.
BOARD_INTEGER = ("int8_product", "int8_depthwise", "int16_product", "int16_depthwise", "block_gemm")
HOST_INTEGER = ("int8_depthwise", "int8_gemm", "int16_product", "int16_depthwise", "block_gemm")
# The families of which Armv7 has a variant.
FLUSHING = (
    "attention", "cache_rows", "depthwise", "dot", "gather", "gemm", "normalize", "pool", "reduce",
    "resample", "softmax", "transpose", "transpose_clamp", "winograd",
)  # fmt: skip
# A subset of families that shuffle lanes, for machines where all would take long to compile or run and the
# other loops are the same.
WITH_SHUFFLES = ("cache_rows", "convert", "dot", "gemm", "softmax", "transpose_clamp")


@dataclass(frozen=True)
class Machine:
    """A target, or the compilers that `toolchain` selects and the emulator `command`; all families if none
    are named. `feature` is the instruction set feature that the build must find."""

    name: str
    target: str
    feature: str
    families: tuple[str, ...] = ()
    flags: str = ""
    toolchain: Path | None = None
    emulator: tuple[str, ...] = ()


MACHINES = (
    Machine("neon", "linux-aarch64", "arm64/neon", (*WITH_SHUFFLES, *HOST_INTEGER, "attention", "winograd")),
    Machine("neon-whole", "linux-aarch64", "arm64/neon"),
    Machine("armv7-neon", "linux-armhf", "armv7", (*FLUSHING, *HOST_INTEGER)),
    Machine(
        "rvv",
        "clang-linux-riscv64",
        "riscv/rvv",
        (
            *WITH_SHUFFLES,
            "block_gemm",
            "depthwise",
            "int8_depthwise",
            "int8_gemm",
            "int8_product",
            "int16_product",
            "reduce",
            "transpose",
        ),
        toolchain=CROSS / "linux-riscv64-v.cmake",
        emulator=(
            "qemu-riscv64",
            "-cpu",
            "rv64,v=true,vext_spec=v1.0,vlen=256",
            "-L",
            "/usr/riscv64-linux-gnu",
        ),
    ),
    Machine("wasm-simd128", "wasm32", "wasm/simd", (*WITH_SHUFFLES, *HOST_INTEGER), flags="-msimd128"),
    Machine("cortex-m4", "cortex-m4", "arm/fma", SMALL),
    Machine("cortex-m3", "cortex-m3", "arm/v7m", BOARD_INTEGER),
    Machine("cortex-m0plus", "cortex-m0plus", "arm/v6m", BOARD_INTEGER),
    Machine("mve", "cortex-m55", "arm/mve", SMALL),
    Machine("rv32imafc", "rv32imafc", "riscv/f", SMALL),
    Machine("rv64gc", "rv64gc", "riscv/m", BOARD_INTEGER),
    Machine("rv64gcv", "rv64gcv", "riscv/rvv", SMALL),
)


def build(machine: Machine, folder: Path) -> Path:
    """Builds the tests for `machine`; skips if its compiler or emulator is missing."""
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


# Machines that compile the same loops as another one, except for a few lines or the width of vectors.
# Continuous integration takes a part of NEON's families: programs run with all of them on linux-aarch64. It
# leaves out machines that run portable code: the C++ tests of the host run it too.
ALIKE = {
    **boards.ALIKE,
    "armv7-neon": "neon",
    "neon-whole": "neon",
    "rv64gcv": "rvv",
    "wasm-simd128": "neon",
}


@pytest.mark.device
@pytest.mark.parametrize(
    "machine",
    [
        pytest.param(
            each,
            id=each.name,
            marks=[pytest.mark.exhaustive] if each.name in ALIKE or each.name in boards.PORTABLE else [],
        )
        for each in MACHINES
    ],
)
def test_microkernels_of(machine: Machine, tmp_path: Path) -> None:
    program = build(machine, tmp_path)
    command = targets.get(machine.target).command(program)
    if machine.emulator:
        command = [*machine.emulator, str(program)]
    result = process.run(command, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    ran = re.search(r"(\d+) tests ran, 0 expectations failed", result.stdout)
    assert ran and int(ran[1]) >= 3 * len(machine.families or SMALL), result.stdout


# By QEMU's CPU model and the value of RUSHLIGHT_CPU.
ARM64_VARIANTS = (
    ("cortex-a53", "", "native"),
    ("a64fx", "", "native"),
    ("cortex-a76", "", "dotprod"),
    ("neoverse-n1", "", "dotprod"),
    ("max", "", "bf16"),
    ("max", "native", "native"),
    ("max", "dotprod", "dotprod"),
    ("max", "fp16fml", "fp16fml"),
    ("max", "i8mm", "i8mm"),
    ("cortex-a53", "i8mm", "native"),
)


@pytest.mark.device
def test_arm64_takes_the_best_variant_that_the_processor_runs(tmp_path: Path) -> None:
    program = build(Machine("variants", "linux-aarch64", "arm64/neon", ("dot",)), tmp_path)
    found = []
    for model, asked, _ in ARM64_VARIANTS:
        command = ["qemu-aarch64", "-cpu", model, "-L", "/usr/aarch64-linux-gnu"]
        command += ["-E", f"RUSHLIGHT_CPU={asked}"] if asked else []
        result = process.run([*command, str(program)], timeout=120)
        assert result.returncode == 0, result.stdout + result.stderr
        named = re.search(r"^variant (\w+)$", result.stdout, re.M)
        assert named, result.stdout
        found.append((model, asked, named[1]))
    assert tuple(found) == ARM64_VARIANTS


ROW = """
  - row: x86/sse41
    when: defined(__SSE4_1__)
    extends: x86/sse2
    detect: {"cpuid(1, 0).ecx": [19]}
    flags: [-msse4.1]
    families: [float]

  - row: x86/sse2
"""
TOY = {
    "kernels/ukernel/toy.h": """
#pragma once
#include "kernels/ukernel/variants.h"
namespace rushlight::ukernel {
RL_UKERNEL(const char*, toy, (), ())
}
""",
    "kernels/ukernel/generic/toy.cpp": """
#include "kernels/ukernel/toy.h"
namespace rushlight::ukernel::RL_UKERNEL_VARIANT {
#if defined(__AVX__)
const char* toy() { return "AVX"; }
#elif defined(__SSE4_1__)
const char* toy() { return "SSE4.1"; }
#else
const char* toy() { return "SSE2"; }
#endif
}
""",
    "main.cpp": """
#include <cstdio>
#include "kernels/ukernel/toy.h"
int main() { std::printf("%s %s", rushlight::ukernel::variant_name(), rushlight::ukernel::toy()); }
""",
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.24)
project(toy LANGUAGES C CXX)
include(cmake/ukernel.cmake)
add_executable(toy main.cpp)
rushlight_add_ukernels(toy toy)
target_include_directories(toy PRIVATE .)
target_compile_features(toy PRIVATE cxx_std_17)
""",
}


@pytest.mark.heavy
@pytest.mark.skipif(platform.machine() != "x86_64", reason="missing: a processor of x86-64")
def test_a_row_is_all_that_a_variant_takes(tmp_path: Path) -> None:
    root = source_root()
    for folder in ("kernels/ukernel", "cmake"):
        shutil.copytree(root / folder, tmp_path / folder)
    (tmp_path / "python").symlink_to(root / "python")
    for name, text in TOY.items():
        (tmp_path / name).write_text(text)
    table = tmp_path / "kernels" / "ukernel" / "variants.yaml"
    before, after = table.read_text().split("  - row: x86/sse2\n")
    table.write_text(before.rstrip() + "\n" + ROW + after)

    binary = tmp_path / "build"
    process.run(["cmake", "-S", tmp_path, "-B", binary, "-G", "Ninja"], check=True, timeout=120)
    process.run(["cmake", "--build", binary], check=True, timeout=120)
    for asked, expected in (("sse41", "sse41 SSE4.1"), ("native", "native SSE2")):
        result = process.run([binary / "toy"], env={"RUSHLIGHT_CPU": asked}, timeout=60)
        assert result.stdout == expected
