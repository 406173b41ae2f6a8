# SPDX-License-Identifier: BSD-3-Clause
"""CMake checks compilers against the target when it configures: cmake/probe.cmake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from rushlight import process, targets
from rushlight.sources import source_root

pytestmark = pytest.mark.device

Build = Callable[[targets.Target, Path, str], Path]

SELFCHECK = Path(__file__).parent / "selfcheck"
TOOLCHAINS = source_root() / "toolchains"
MACHINES = {"cortex-m4": "EM_ARM", "rv64gc": "EM_RISCV", "linux-aarch64": "EM_AARCH64"}
PROBE_ONLY = f"""
cmake_minimum_required(VERSION 3.24)
project(probed LANGUAGES C CXX)
include("{source_root()}/cmake/probe.cmake")
rushlight_probe(C CXX)
"""


def configure(folder: Path, *options: str, path: Path | None = None) -> process.Result:
    """Configures a project that only probes; programs in the folder `path` take precedence."""
    (folder / "CMakeLists.txt").write_text(PROBE_ONLY)
    command = ["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", *options]
    environment = {"PATH": f"{path}:{process.search_path()}"} if path else None
    return process.run(command, timeout=120, env=environment)


def need(name: str) -> targets.Target:
    """Returns the target, or skips the test if its tools are missing."""
    if missing := targets.get(name).requirements():
        pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))
    return targets.get(name)


def words(result: process.Result) -> str:
    """The printed output, as one line."""
    return " ".join((result.stdout + result.stderr).split())


@pytest.mark.cortex_m4
def test_a_host_compiler_under_the_name_of_the_targets_is_refused(tmp_path: Path) -> None:
    need("cortex-m4")
    (tmp_path / "bin").mkdir()
    for name, real in (("arm-none-eabi-gcc", "gcc"), ("arm-none-eabi-g++", "g++")):
        impostor = tmp_path / "bin" / name
        # The impostor accepts the target's options, like compilers for several targets.
        impostor.write_text(
            f"""#!/bin/sh
for word; do
    shift
    case $word in -m* | --specs=*) ;; *) set -- "$@" "$word" ;; esac
done
exec {real} "$@"
"""
        )
        impostor.chmod(0o755)
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAINS / 'cortex-m4.cmake'}"
    result = configure(tmp_path, toolchain, path=tmp_path / "bin")
    assert result.returncode != 0
    assert "expected armv7e-m hard 32 little, got x86_64 none 64 little" in words(result)


@pytest.mark.cortex_m4
def test_flags_that_change_the_calling_convention_are_refused(tmp_path: Path) -> None:
    need("cortex-m4")
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAINS / 'cortex-m4.cmake'}"
    flags = "-DCMAKE_CXX_FLAGS=-mcpu=cortex-m4 -mthumb -mfloat-abi=soft"
    result = configure(tmp_path, toolchain, flags)
    assert result.returncode != 0
    assert "expected armv7e-m hard 32 little, got armv7e-m soft 32 little" in words(result)


@pytest.mark.cortex_m4
def test_the_hosts_compiler_cannot_be_named_beside_a_toolchain(tmp_path: Path) -> None:
    need("cortex-m4")
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAINS / 'cortex-m4.cmake'}"
    result = configure(tmp_path, toolchain, "-DCMAKE_CXX_COMPILER=g++")
    assert result.returncode == 0
    assert "Code of CXX: armv7e-m hard 32 little" in words(result)


@pytest.mark.linux_armhf
def test_a_cross_compiler_without_a_toolchain_file_is_refused(tmp_path: Path) -> None:
    need("linux-armhf")
    result = configure(tmp_path, "-DCMAKE_CXX_COMPILER=arm-linux-gnueabihf-g++")
    assert result.returncode != 0
    assert "as no CMAKE_TOOLCHAIN_FILE is given, got armv7-a hard 32 little" in words(result)


def test_the_host_is_probed_once(tmp_path: Path) -> None:
    for language in ("C", "CXX"):
        assert f"Code of {language}: " in words(configure(tmp_path))
        again = configure(tmp_path)
        assert again.returncode == 0 and "Code of" not in words(again)
        (tmp_path / "build" / "CMakeCache.txt").unlink()


def objects(folder: Path) -> Iterator[Path]:
    """Every ELF file in a folder, from compilers and linkers."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF":
            yield path


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[getattr(pytest.mark, name.replace("-", "_"))]) for name in MACHINES],
)
def test_a_targets_build_folder_has_nothing_for_another_machine(name: str, build: Build) -> None:
    folder = build(need(name), SELFCHECK, "selfcheck").parent
    machines = {}
    for path in objects(folder):
        with path.open("rb") as file:
            machines[path.name] = ELFFile(file)["e_machine"]
    assert "selfcheck" in machines and len(machines) > 5
    assert set(machines.values()) == {MACHINES[name]}
