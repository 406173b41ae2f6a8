# SPDX-License-Identifier: BSD-3-Clause
"""examples/selective_build: each row of its table selects what it says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process
from rushlight.build import read_selection
from rushlight.codegen.table import load_table
from rushlight.program import read_program
from support.cmake_projects import build, configure
from support.environments import DIGITS, ROOT
from support.example_scripts import run_example

pytestmark = pytest.mark.package

EXAMPLE = ROOT / "examples" / "selective_build"
MODEL = DIGITS / "digits.pte"
YAML = "- op: exp.out\n- func: aten::mm.out\n"
FILTER = "example::median_filter.out"


def rows() -> dict[str, str]:
    """The words of the README's table by what they select."""
    table = re.findall(r"^\| ([\w ',]+) \| (.*`-D.*) \|$", (EXAMPLE / "README.md").read_text(), re.MULTILINE)
    return {what: " ".join(re.findall(r"`([^`]*)`", words)) for what, words in table}


def selected(folder: Path, words: str) -> dict[str, list[str]]:
    """The operators and dtypes of a build configured with the words, paths from the example's folder."""
    entries = dict(word.removeprefix("-D").split("=", 1) for word in shlex.split(words))
    configure(EXAMPLE, folder / "out", **entries)
    return read_selection(folder / "out" / "rushlight" / "generated" / "selected_kernels.json")


def models() -> set[str]:
    return {name for plan in read_program(MODEL).plans for name in plan.operators}


def test_the_table_has_every_way_of_selecting() -> None:
    assert len(rows()) == 7


def test_everything(tmp_path: Path) -> None:
    every = set(load_table(ROOT / "kernels" / "ops.yaml").operators)
    assert set(selected(tmp_path, rows()["everything"])) == every | {FILTER}


def test_a_list(tmp_path: Path) -> None:
    assert set(selected(tmp_path, rows()["a list"])) == {"aten::add.out", "aten::mm.out"}


def test_the_yaml_file_of_the_library(tmp_path: Path) -> None:
    assert selected(tmp_path, rows()["a library's YAML file"]) == {FILTER: ["float32", "float64"]}


def test_any_yaml_file(tmp_path: Path) -> None:
    (tmp_path / "ops.yaml").write_text(YAML)
    words = rows()["any YAML file"].replace("ops.yaml", str(tmp_path / "ops.yaml"))
    assert set(selected(tmp_path, words)) == {"aten::exp.out", "aten::mm.out"}


def test_a_model(tmp_path: Path) -> None:
    found = selected(tmp_path, rows()["a model"])
    assert set(found) == models()
    assert "float64" in found["aten::convolution.out"]


def with_its_dtypes(folder: Path) -> dict[str, list[str]]:
    return selected(folder, f"{rows()['a model']} {rows()['a model, with its dtypes only'].split()[-1]}")


def test_a_model_with_its_dtypes(tmp_path: Path) -> None:
    found = with_its_dtypes(tmp_path)
    assert set(found) == models()
    assert found["aten::convolution.out"] == ["float32"]


@pytest.mark.exhaustive
def test_a_model_with_its_dtypes_builds_what_it_needs(tmp_path: Path) -> None:
    found = with_its_dtypes(tmp_path)
    build(tmp_path / "out")
    listed = process.run([tmp_path / "out" / "selected", MODEL], check=True).stdout.split()
    assert set(listed) == set(found) == models()


def test_several_are_united(tmp_path: Path) -> None:
    assert set(selected(tmp_path, rows()["several"])) == models() | {"aten::mm.out", FILTER}


def test_its_command_lists_the_operators_of_the_model(build_folder: Callable[[str], Path]) -> None:
    # As the other examples, which then have the objects of the runtime for it.
    kind = {"CMAKE_BUILD_TYPE": "Release"}
    printed = run_example("selective_build", "-o", build_folder("selective_build"), env=kind).stdout
    assert {line for line in printed.splitlines() if line.startswith("aten::")} == models()
