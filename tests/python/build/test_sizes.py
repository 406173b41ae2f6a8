# SPDX-License-Identifier: BSD-3-Clause
"""The sections of an ELF file that count as flash and as RAM."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rushlight import process
from rushlight.build.sizes import read_object_size, read_sizes

SOURCE = """\
extern const char constant[100];
const char constant[100] = {1};
char initial[200] = {1};
char zeroed[400];
__attribute__((section(".stack,\\"aw\\",@nobits#"))) char stack[800];
__attribute__((section(".arena,\\"aw\\",@nobits#"))) char arena[1600];
__attribute__((section(".heap,\\"aw\\",@nobits#"))) char heap[3200];
__attribute__((section(".model,\\"a\\"#"))) const char model[6400] = {1};
"""


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An object with one array in each kind of section."""
    if shutil.which("g++") is None:
        pytest.skip("missing g++")
    folder = tmp_path_factory.mktemp("elf")
    (folder / "arrays.cpp").write_text(SOURCE)
    process.run(["g++", "-c", "-O0", "-fno-pic", "arrays.cpp", "-o", "arrays.o"], cwd=folder, check=True)
    return folder / "arrays.o"


def test_memory_that_is_only_reserved_and_the_model_are_neither_flash_nor_ram(elf: Path) -> None:
    sizes = read_sizes(elf)
    assert (sizes.flash, sizes.ram, sizes.model) == (300, 600, 6400)
    assert {name: sizes.sections[name] for name in (".stack", ".arena", ".heap")} == {
        ".stack": 800,
        ".arena": 1600,
        ".heap": 3200,
    }


def test_an_object_takes_what_has_content(elf: Path) -> None:
    assert read_object_size(elf) == 100 + 200 + 6400
