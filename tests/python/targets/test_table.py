# SPDX-License-Identifier: BSD-3-Clause
"""toolchains/targets.json: what is wrong in it is named, and a row in it is all that a target takes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rushlight import process, targets
from rushlight.errors import RushlightError
from rushlight.sources import source_root
from rushlight.targets.bare_metal import BareMetal
from rushlight.targets.table import Table, read_table, table
from support import targets_page

TOOLCHAINS = source_root() / "toolchains"
TEXT = (TOOLCHAINS / "targets.json").read_text()

Edit = Callable[[dict[str, Any]], object]


def changed(edit: Edit, folder: Path) -> Path:
    """A copy of the table after `edit`."""
    content = json.loads(TEXT)
    edit(content)
    path = folder / "targets.json"
    path.write_text(json.dumps(content))
    return path


def m33(content: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = content["targets"]["cortex-m33"]
    return row


DAMAGES: dict[str, tuple[Edit, str]] = {
    "no rows": (lambda c: c.pop("targets"), "the table: expected the field targets"),
    "a list": (lambda c: c.update(targets=[]), "targets: expected an object"),
    "a row that is none": (lambda c: c["targets"].update(x=1), "x: expected an object, got 1"),
    "no code": (lambda c: m33(c).pop("code"), "cortex-m33: expected the field code"),
    "three words": (lambda c: m33(c).update(code="armv8-m.main hard 32"), "cortex-m33: code: expected arch"),
    "odd pointers": (lambda c: m33(c).update(code="a hard 16 little"), "cortex-m33: code: expected arch"),
    "a number": (lambda c: m33(c).update(description=1), "cortex-m33: description: expected a text, got 1"),
    "a slip": (lambda c: m33(c).update(bord="x"), "cortex-m33: expected one of the fields .*, got bord"),
    "no board": (lambda c: m33(c).pop("board"), "cortex-m33: expected an emulator for linux alone and a"),
    "a kind": (lambda c: m33(c).update(kind="cloud"), "cortex-m33: kind: expected one of linux"),
    "no compiler": (lambda c: m33(c).update(compilers=[]), "cortex-m33: compilers: expected a list"),
    "a compiler": (lambda c: m33(c)["compilers"][0].update(name="icc"), "compilers: expected each of gcc"),
    "one twice": (lambda c: m33(c)["compilers"][0].update(name="zig"), "compilers: expected each of gcc"),
    "no triple": (lambda c: m33(c)["compilers"][0].pop("triple"), "compilers: expected the field triple"),
    "an emulator": (lambda c: c["targets"]["linux-armhf"].update(emulator="x"), "emulator: expected a list"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_wrong_in_a_table_is_named(name: str, tmp_path: Path) -> None:
    edit, words = DAMAGES[name]
    with pytest.raises(RushlightError, match=words) as refusal:
        read_table(changed(edit, tmp_path))
    assert "install rushlight again" in refusal.value.next_step


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_a_file_that_is_no_table_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "targets.json").write_text(text)
    with pytest.raises(RushlightError, match=r"targets\.json: .*expected"):
        read_table(tmp_path / "targets.json")
    with pytest.raises(RushlightError, match="No such file"):
        read_table(tmp_path / "absent.json")


def test_a_program_without_its_package_is_named(tmp_path: Path) -> None:
    damaged = read_table(changed(lambda c: c["packages"].pop("arm-none-eabi-g++"), tmp_path))
    with pytest.raises(RushlightError, match="packages: expected a row for arm-none-eabi-g"):
        BareMetal(damaged, damaged.rows["microbit"], "gcc", "microbit").requirements()


def test_each_choice_has_its_toolchain_file_and_its_packages() -> None:
    for target in targets.every_choice()[1:]:
        assert (TOOLCHAINS / target.kind / f"{target.compiler}.cmake").is_file()
        target.requirements()


def test_a_toolchain_file_of_a_name_is_the_table_row() -> None:
    files = {path.stem: path.read_text() for path in TOOLCHAINS.glob("*.cmake")}
    del files["target"]
    assert set(files) <= set(table().rows)
    licence, line = (
        "# SPDX-License-Identifier: BSD-3-Clause",
        'include("${CMAKE_CURRENT_LIST_DIR}/target.cmake")',
    )
    assert set(files.values()) == {f"{licence}\n{line}\n"}


def test_each_target_and_compiler_has_its_marker(pytestconfig: pytest.Config) -> None:
    markers = {line.partition(":")[0] for line in pytestconfig.getini("markers")}
    assert {name.replace("-", "_") for name in table().rows} | {"gcc", "clang", "zig"} <= markers


def test_the_page_shows_the_table() -> None:
    text = targets_page.PAGE.read_text()
    assert text == targets_page.page(), "run python tests/python/targets/targets_page.py"


# ---- CMake reads the same rows.

ONLY_CODE = f"""
cmake_minimum_required(VERSION 3.24)
project(only LANGUAGES ${{LANGUAGES}})
include("{source_root()}/cmake/probe.cmake")
rushlight_probe(${{LANGUAGES}})
"""


def configure(folder: Path, toolchain: str | Path, *options: str, languages: str = "NONE") -> str:
    """CMake's output for a project in `folder` that only checks compilers."""
    if languages == "NONE":
        text = "cmake_minimum_required(VERSION 3.24)\nproject(none LANGUAGES NONE)\n"
    else:
        text = ONLY_CODE
    (folder / "CMakeLists.txt").write_text(text)
    command = ["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DLANGUAGES={languages}"]
    result = process.run([*command, f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", *options], timeout=120)
    return " ".join((result.stdout + result.stderr).split())


def test_cmake_names_what_it_expected_of_target_and_compiler(tmp_path: Path) -> None:
    generic = TOOLCHAINS / "target.cmake"
    assert "got ''" in configure(tmp_path, generic)
    said = configure(tmp_path, generic, "-DRUSHLIGHT_TARGET=cortex-m34")
    assert "RUSHLIGHT_TARGET: expected a target of" in said and "got 'cortex-m34'" in said
    said = configure(tmp_path, TOOLCHAINS / "cortex-m33.cmake", "-DRUSHLIGHT_COMPILER=tcc")
    assert "RUSHLIGHT_COMPILER: expected one of gcc, clang, zig for cortex-m33, got 'tcc'" in said


def test_a_build_folder_stays_with_its_compiler(tmp_path: Path) -> None:
    toolchain = TOOLCHAINS / "cortex-m33.cmake"
    assert "Configuring done" in configure(tmp_path, toolchain)
    assert "Configuring done" in configure(tmp_path, toolchain)
    said = configure(tmp_path, toolchain, "-DRUSHLIGHT_COMPILER=zig")
    assert "expected cortex-m33 by zig, got cortex-m33 by gcc" in said


@pytest.mark.heavy
@pytest.mark.parametrize("name", [target.name for target in targets.every_choice()[1:]])
def test_each_compiler_makes_the_code_of_the_row(name: str, tmp_path: Path) -> None:
    target = targets.get(name)
    if missing := [item.name for item in target.requirements() if not item.only_to_run]:
        pytest.skip(f"{name}: missing " + ", ".join(missing))
    path, *options = (f"-D{key}={value}" for key, value in target.toolchain.items())
    said = configure(tmp_path, path.partition("=")[2], *options, languages="CXX")
    code = table().rows[target.toolchain["RUSHLIGHT_TARGET"]].code
    assert f"Code of CXX: {code}" in said


@pytest.fixture
def with_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    """The sources' toolchains in another folder, with one more row: a Cortex-M4 whose unit is not used."""
    folder = tmp_path / "toolchains"
    shutil.copytree(TOOLCHAINS, folder)

    def add(content: dict[str, Any]) -> None:
        flags = "-mcpu=cortex-m4 -mthumb -mfloat-abi=soft"
        row = dict(content["targets"]["cortex-m4"], code="armv7e-m soft 32 little", core="cortex-m4")
        row["compilers"] = [{"name": "gcc", "triple": "arm-none-eabi", "flags": flags}]
        content["targets"]["cortex-m4-soft"] = row

    grown = read_table(changed(add, folder))
    monkeypatch.setattr(targets, "table", lambda: grown)
    return grown


def test_a_row_is_all_that_a_target_takes(with_a_row: Table, tmp_path: Path) -> None:
    target = targets.get("cortex-m4-soft")
    assert target in targets.all_targets() and target in targets.every_choice()
    assert (target.cpu, target.board, target.pointer_bytes) == ("cortex-m4", "mps2-an386", 4)
    if missing := [item.name for item in target.requirements() if not item.only_to_run]:
        pytest.skip("cortex-m4-soft: missing " + ", ".join(missing))
    path, *options = (f"-D{key}={value}" for key, value in target.toolchain.items())
    said = configure(tmp_path, path.partition("=")[2], *options, languages="CXX")
    assert "Code of CXX: armv7e-m soft 32 little" in said
