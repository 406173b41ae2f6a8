# SPDX-License-Identifier: BSD-3-Clause
"""The runtime's sizes stay within budgets.yaml, where each raise of a limit has its reason."""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from rushlight import process, targets
from rushlight.runtime import native
from rushlight.size import SizeReport, size
from rushlight.sources import source_root

BUDGETS = yaml.safe_load(Path(__file__).with_name("budgets.yaml").read_text())
DSCNN = Path(__file__).parents[1] / "interop" / "model_dscnn" / "model.pte"
WITHOUT = [
    "-DEXECUTORCH_SELECT_ALL_OPS=OFF",
    "-DRUSHLIGHT_LOG_LEVEL=off",
    "-DRUSHLIGHT_FEATURES=no-data-files,no-bundled-programs",
]


@dataclass
class Size:
    """Bytes of an ELF file, or of all files in a library."""

    flash: int = 0
    ram: int = 0


def measure(path: Path, size: str = "size") -> Size:
    """The sections of code, constants and data, by their names; no debug information, no symbols."""
    total = Size()
    for line in process.run([size, "-A", path], check=True).stdout.splitlines():
        section = re.match(r"(\.\S+)\s+(\d+)\s+\d+", line)
        if section is None:
            continue
        name, nbytes = section[1], int(section[2])
        if re.match(r"\.(text|rodata|ARM\.ex|init|fini|eh_frame|gcc_except|data|tdata|srodata|sdata)", name):
            total.flash += nbytes
        if re.match(r"\.(data|bss|tdata|tbss|sdata|sbss)(?!\.rel\.ro)", name):
            total.ram += nbytes
    return total


def linked_part(link_map: Path, library: str) -> Size:
    """The size of the sections that the linker took from a library, by its map."""
    total = Size()
    placed = link_map.read_text().partition("Linker script and memory map")[2]
    pattern = rf"^ \.(text|rodata|data|bss)\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+\S*{re.escape(library)}\("
    for kind, address, nbytes in re.findall(pattern, placed, re.MULTILINE):
        if int(address, 16) == 0:  # left out
            continue
        total.flash += int(nbytes, 16) if kind != "bss" else 0
        total.ram += int(nbytes, 16) if kind in ("data", "bss") else 0
    return total


def check(name: str, got: Size) -> None:
    budget = BUDGETS[name]
    assert got.flash > 1000, f"{name}: measured nothing"
    assert got.flash <= budget["flash"], (
        f"{name}: {got.flash} bytes of flash, at most {budget['flash']} expected"
    )
    assert got.ram <= budget["ram"], (
        f"{name}: {got.ram} bytes of static RAM, at most {budget['ram']} expected"
    )


@pytest.mark.slow
def test_a_host_runner_without_operators_is_small(build: Callable[..., Path]) -> None:
    programs_only = ["-DRUSHLIGHT_FEATURES=no-data-files,no-bundled-programs"]
    folder = build(*WITHOUT, *programs_only, targets=["executor_runner"])
    check("host_runner_without_operators", measure(folder / "executor_runner"))


@pytest.mark.slow
def test_data_files_and_bundled_programs_add_little(build: Callable[..., Path]) -> None:
    folder = build(*WITHOUT, targets=["executor_runner"])
    check("host_runner_for_all_files", measure(folder / "executor_runner"))


@pytest.mark.slow
def test_the_core_is_small_on_a_cortex_m4(build: Callable[..., Path]) -> None:
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("no arm-none-eabi-g++: rushlight targets install cortex-m4")
    toolchain = source_root() / "toolchains" / "cortex-m4.cmake"
    folder = build(f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", *WITHOUT, targets=["executor_runner"])
    check("cortex_m4_core", linked_part(folder / "executor_runner.map", "librushlight_runtime.a"))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="missing: a processor of x86-64")
def test_the_module_of_the_wheel_stays_within_its_budget() -> None:
    check("wheel_module_x86_64", measure(Path(str(native.default_module().__file__))))


def dscnn_runner(target: str, folder: Path, **defines: str) -> SizeReport:
    """The runner for DS-CNN alone, as `rushlight size` reports it."""
    if missing := targets.get(target).requirements():
        pytest.skip(f"{target}: missing " + ", ".join(item.name for item in missing))
    defines = {"RUSHLIGHT_FEATURES": "no-call-graph", **defines}
    return size([DSCNN], target=target, output=folder, defines=defines, measure=False, jobs=2)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="missing: a processor of x86-64")
def test_a_runner_for_one_model_has_one_variant_and_the_code_of_its_calls(tmp_path: Path) -> None:
    report = dscnn_runner("host", tmp_path, RUSHLIGHT_CPU_VARIANTS="avx2")
    check("dscnn_runner_x86_64", Size(report.flash, report.ram))
    names = " ".join(entry.symbol for entry in report.entries)
    # Matrix products of the native variant, which is AVX2's; no other variant and no choice.
    assert "ukernel::native::gemm_tile" in names
    assert not re.search(r"ukernel::(avx2|avx512\w*|avxvnni)::|ukernel::variant\(", names)
    assert "kernels/ukernel/x86" not in report.components
    # Its convolutions are products of planes, and depthwise by blocks of channels; none is channels-last.
    assert "convolve_planes" in names and "convolve_blocks" in names
    assert not re.search(r"convolve_(rows|strips|winograd|depthwise_\w+)|ukernel::native::gelu", names)


@pytest.mark.slow
def test_a_runner_for_one_model_is_small_on_linux_aarch64(tmp_path: Path) -> None:
    report = dscnn_runner("linux-aarch64", tmp_path)
    check("dscnn_runner_linux_aarch64", Size(report.flash, report.ram))


def test_budgets_are_within_what_the_project_promises() -> None:
    assert BUDGETS["host_runner_without_operators"]["flash"] <= 30_000
    assert BUDGETS["host_runner_without_operators"]["ram"] <= 4096
    assert BUDGETS["cortex_m4_core"]["flash"] <= 16_000
    assert BUDGETS["wheel_module_x86_64"]["flash"] <= 4_840_000
    # No larger than ExecuTorch's runners for the same model (benchmarks/size/README.md).
    assert BUDGETS["dscnn_runner_x86_64"]["flash"] <= 147_700
    assert BUDGETS["dscnn_runner_linux_aarch64"]["flash"] <= 138_900
