# SPDX-License-Identifier: BSD-3-Clause
"""A project with operator libraries made by ExecuTorch's CMake functions, with the source tree included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process
from rushlight.errors import CommandFailed
from support.cmake_projects import CONSUMERS, MODELS, build, configure
from support.environments import ROOT

pytestmark = pytest.mark.package

SOURCE = CONSUMERS / "operator_libraries"
TREE = ROOT / "compat" / "executorch"
# The build's own selection, which only portable_ops_lib brings.
BUILD = "aten::mul.out,aten::add.out"
CUSTOM = ["aten::relu.out", "my_ops::mul3.out"]
LISTED = ["aten::add.out", "aten::mm.out"]
RELU, MUL3, ADD = (
    "= aten::relu.out 0 100 102",
    "= my_ops::mul3.out 0 -3 6",
    "= aten::add.out 0 -2 4",
)


@pytest.fixture(scope="module")
def built(build_folder: Callable[[str], Path]) -> Path:
    folder = build_folder("operator_libraries")
    entries = {
        "EXECUTORCH_ROOT": TREE,
        "MODEL": MODELS["f64_add"],
        "EXECUTORCH_SELECT_OPS_LIST": BUILD,
        "CMAKE_BUILD_TYPE": "Release",
    }
    configure(SOURCE, folder, **entries)
    build(folder)
    return folder


def told(folder: Path, name: str) -> tuple[list[str], set[str]]:
    """The operators that an executable has, without those on numbers, and what it computed."""
    lines = process.run([folder / f"list_{name}"], check=True).stdout.splitlines()
    names = [line for line in lines if not line.startswith(("=", "executorch_prim::"))]
    return names, {line for line in lines if line.startswith("=")}


def test_a_library_has_kernels_of_the_projects_own(built: Path) -> None:
    names, computed = told(built, "custom_ops_lib")
    assert names == CUSTOM
    assert computed == {RELU, MUL3, "= aten::add.out missing"}


def test_a_library_with_executorch_among_its_deps_has_the_prim_operators(built: Path) -> None:
    listed = process.run([built / "list_custom_ops_lib"], check=True).stdout
    assert "executorch_prim::add.Scalar\n" in listed
    assert "executorch_prim::" not in process.run([built / "list_generated_lib"], check=True).stdout


def test_a_library_has_kernels_of_ours(built: Path) -> None:
    names, computed = told(built, "generated_lib")
    assert names == LISTED
    assert ADD in computed


def test_a_library_of_a_model_has_its_operators_and_dtypes_only(built: Path) -> None:
    names, computed = told(built, "model_lib")
    assert names == ["aten::add.out"]
    (line,) = [line for line in computed if line.startswith("= aten::add.out")]
    assert not line.startswith("= aten::add.out 0 ")  # float64 alone


def test_two_libraries_are_linked_together(built: Path) -> None:
    names, computed = told(built, "custom_ops_lib_and_generated_lib")
    assert names == CUSTOM + LISTED
    assert computed == {RELU, MUL3, ADD}


def test_a_library_joins_the_operators_of_the_build(built: Path) -> None:
    names, computed = told(built, "custom_ops_lib_and_portable_ops_lib")
    assert names == CUSTOM + sorted(BUILD.split(","))
    assert computed == {RELU, MUL3, ADD}


def test_an_operator_that_nobody_has_is_named(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(p LANGUAGES CXX)\n"
        f"add_subdirectory({TREE} executorch)\n"
        'gen_selected_ops("" "my_ops::mul5.out" "")\ngen_operators_lib("lib" DEPS executorch_core)\n'
    )
    with pytest.raises(CommandFailed, match=r"my_ops::mul5\.out"):
        configure(tmp_path, tmp_path / "build", EXECUTORCH_SELECT_OPS_LIST="aten::add.out")
