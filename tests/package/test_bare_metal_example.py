# SPDX-License-Identifier: BSD-3-Clause
"""examples/bare_metal: included and installed rushlight make the same application, without semihosting."""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

from rushlight import process, targets
from rushlight.targets.bare_metal import BareMetal
from support.environments import DIGITS, ROOT
from support.example_scripts import run_example

pytestmark = [pytest.mark.package, pytest.mark.device]

EXAMPLE = ROOT / "examples" / "bare_metal"
EMULATORS: dict[str, list[str]] = runpy.run_path(str(EXAMPLE / "run.py"))["MACHINES"]
TOOLS = {"cortex-m4": "arm-none-eabi", "rv32imac": "riscv64-unknown-elf"}
# Heap, exceptions, static constructors, and what rushlight's own runners bring; as the linker knows them.
UNWANTED = re.compile(
    r"malloc|calloc|realloc|free|_?sbrk|_Zn[wa].*|_Zd[la].*|_Unwind_.*|__cxa_.*|__gxx_personality.*"
    r"|_GLOBAL__sub_I.*|.*semihosting.*|rushlight_reset"
)


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=getattr(pytest.mark, name.replace("-", "_"))) for name in EMULATORS],
)
def board(request: pytest.FixtureRequest) -> BareMetal:
    target = targets.get(request.param)
    if missing := target.requirements():
        pytest.skip(f"{target.name}: missing " + ", ".join(item.name for item in missing))
    assert isinstance(target, BareMetal)
    return target


def build(board: BareMetal, source: Path, folder: Path, **entries: str | Path) -> None:
    """Configures and builds a project for the board."""
    if ccache := shutil.which("ccache"):
        entries["CMAKE_CXX_COMPILER_LAUNCHER"] = ccache
    defines = [f"-D{name}={value}" for name, value in {**board.toolchain, **entries}.items()]
    process.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *defines], check=True)
    process.run(["cmake", "--build", folder], check=True, timeout=300)


def installation(board: BareMetal, folder: Path) -> Path:
    """rushlight with the operators of the example, installed for the board."""
    build(
        board,
        ROOT,
        folder / "build",
        EXECUTORCH_SELECT_OPS_MODEL=DIGITS / "digits.pte",
        EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD="ON",
        RUSHLIGHT_BUILD="no-runner",
    )
    process.run(["cmake", "--install", folder / "build", "--prefix", folder / "prefix"], check=True)
    return folder / "prefix"


@pytest.fixture(scope="module", params=["included", "installed"])
def application(
    request: pytest.FixtureRequest, board: BareMetal, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp(f"{board.name}-{request.param}")
    if request.param == "included":
        build(board, EXAMPLE, folder / "digits", RUSHLIGHT_FOLDER=ROOT)
    else:
        build(board, EXAMPLE, folder / "digits", CMAKE_PREFIX_PATH=installation(board, folder))
    return folder / "digits" / "digits.elf"


class _LastLine(Exception):
    pass


def uart_lines(board: BareMetal, executable: Path) -> list[str]:
    """What the application prints up to "done"; a microcontroller has no end of its own."""
    lines: list[str] = []

    def read(line: str) -> None:
        lines.append(line)
        if line == "done":
            raise _LastLine

    quiet = ["-display", "none", "-monitor", "none", "-serial", "stdio"]
    with pytest.raises(_LastLine):
        process.run([*EMULATORS[board.name], *quiet, "-kernel", executable], timeout=60, on_line=read)
    return lines[:-1]


def test_the_application_prints_what_pytorch_computed(board: BareMetal, application: Path) -> None:
    lines = uart_lines(board, application)
    assert [line.split()[0] for line in lines] == list("0123456789")
    with np.load(DIGITS / "tensors.npz") as file:
        expected = file["forward.0.output0"][0]
    np.testing.assert_allclose([float(line.split()[1]) for line in lines], expected, atol=2e-6)


def test_the_application_has_no_heap_no_exceptions_and_no_semihosting(
    board: BareMetal, application: Path
) -> None:
    tools = TOOLS[board.name]
    symbols = process.run([f"{tools}-nm", "--format=just-symbols", application], check=True).stdout.split()
    assert "_ZN9rushlight6Method7executeEv" in symbols
    assert [name for name in symbols if UNWANTED.fullmatch(name)] == []
    code = process.run([f"{tools}-objdump", "-d", application], check=True).stdout
    # A host is called by `bkpt 0xab`, on RISC-V by an `ebreak` behind this shift, which does nothing.
    assert re.findall(r"\sbkpt\s+0x00ab.*|\sslli?\s+zero,\s*zero,\s*0x1f.*", code) == []


def test_the_example_starts_from_one_command(board: BareMetal, tmp_path: Path) -> None:
    printed = run_example("bare_metal", board.name, "-o", tmp_path).stdout
    assert re.search(r"^8 0\.99512\d$", printed, re.MULTILINE) and printed.endswith("done\n")
