# SPDX-License-Identifier: BSD-3-Clause
"""Programs that ziglang builds for Linux and for boards, with nothing but packages from pip."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from rushlight import process, targets
from rushlight.build import build
from rushlight.run.api import run
from rushlight.run.cases import load_case
from rushlight.run.outcome import RunOutcome

pytestmark = [pytest.mark.device, pytest.mark.zig]

INTEROP = Path(__file__).parents[1] / "interop"
# The first build for a target also compiles a C library, which takes a minute.
LINUX = [
    pytest.param("linux-x86_64", "EM_X86_64", "softplus"),
    pytest.param("linux-x86_64", "EM_X86_64", "model_dscnn", marks=pytest.mark.slow),
    pytest.param("zig-linux-aarch64", "EM_AARCH64", "model_dscnn", marks=pytest.mark.slow),
    pytest.param("zig-linux-armhf", "EM_ARM", "model_dscnn", marks=pytest.mark.slow),
    pytest.param("zig-linux-riscv64", "EM_RISCV", "model_dscnn", marks=pytest.mark.slow),
]

BOARDS = [
    "zig-cortex-m4",
    *(
        pytest.param(target.name, marks=pytest.mark.slow)
        for target in targets.every_choice()
        if target.compiler == "zig" and target.kind == "bare-metal" and target.name != "zig-cortex-m4"
    ),
]
# Bytes: runtime, selected kernels, runner, startup code and C library, without the weights.
DSCNN_FLASH = {"zig-cortex-m4": 61_500}


def _run(name: str, target: str, folder: Path) -> RunOutcome:
    if missing := targets.get(target).requirements():
        pytest.skip(f"{target}: missing " + ", ".join(item.name for item in missing))
    case = load_case(INTEROP / name / "case.json")
    outcome = run(INTEROP / name / "model.pte", case, target=target, build_folder=folder)
    assert [call.comparison.reason for call in outcome.calls if call.comparison] == [""] * len(case.calls)
    return outcome


@pytest.mark.parametrize(("name", "machine", "program"), LINUX)
def test_a_static_linux_executable_gives_the_expected_outputs(
    name: str, machine: str, program: str, tmp_path: Path
) -> None:
    outcome = _run(program, name, tmp_path)
    assert outcome.build is not None
    with outcome.build.executable.open("rb") as stream:
        elf = ELFFile(stream)
        assert elf["e_machine"] == machine
        assert not any(segment["p_type"] in ("PT_INTERP", "PT_DYNAMIC") for segment in elf.iter_segments())


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_gives_the_expected_outputs_without_a_c_library_installed(name: str, tmp_path: Path) -> None:
    outcome = _run("model_dscnn", name, tmp_path)
    assert outcome.build is not None
    assert outcome.calls[0].result.instructions > 100_000
    assert outcome.build.sizes.flash < DSCNN_FLASH.get(name, 80_000) and outcome.build.sizes.ram < 1_000
    # zig defines __linux__ for boards, which select no kernels at run time.
    assert list(tmp_path.rglob("*.cpp.obj")) and not list(tmp_path.rglob("*-neon.cpp.obj"))


def _only_pips(folder: Path) -> str:
    """A PATH with the shell and its tools, this environment's Python, and the commands that pip installed."""
    folder.mkdir()
    for name in ("sh", "env", "sed", "cat", "ls", "mkdir", "rm"):
        (folder / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    (folder / "python3").symlink_to(sys.executable)
    for name in ("cmake", "ninja"):
        (folder / name).symlink_to(process.find_program(name) or name)
    return str(folder)


@pytest.mark.wasm32
@pytest.mark.parametrize("name", [pytest.param("wasm32", marks=pytest.mark.exhaustive), "zig-cortex-m4"])
def test_no_compiler_of_the_systems_is_needed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = targets.get(name)
    if missing := [item for item in target.requirements() if not item.only_to_run]:
        pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))
    path = _only_pips(tmp_path / "bin")
    monkeypatch.setattr(process, "search_path", lambda: path)
    assert not any(process.find_program(tool) for tool in ("cc", "c++", "gcc", "clang", "ar", "ld", "make"))
    built = build(INTEROP / "softplus" / "model.pte", target=name, output=tmp_path / "a folder, with 'signs'")
    assert built.executable.stat().st_size > 10_000
