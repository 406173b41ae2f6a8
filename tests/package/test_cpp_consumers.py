# SPDX-License-Identifier: BSD-3-Clause
"""C++ projects that use rushlight: one includes its tree, two find an installed one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rushlight import process
from rushlight.errors import CommandFailed
from support.cmake_projects import CONSUMERS, INTEROP, MODELS, build, configure
from support.environments import DIGITS, ROOT
from support.example_scripts import run_example

pytestmark = pytest.mark.package


def run(executable: Path, model: str, *arrays: np.ndarray) -> list[str]:
    """The lines that a consumer prints for the numbers of the arrays."""
    words = [repr(float(number)) for array in arrays for number in array.ravel()]
    return process.run([executable, MODELS[model], *words], check=True).stdout.splitlines()


def tensors(model: str) -> dict[str, np.ndarray]:
    with np.load(INTEROP / model / "tensors.npz") as file:
        return dict(file)


def parsed(line: str, like: np.ndarray) -> np.ndarray:
    return np.array(line.split(), like.dtype).reshape(like.shape)


@pytest.fixture(scope="module")
def prefix(build_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with the operators of three models, moved away from where it was installed."""
    folder, building = tmp_path_factory.mktemp("install"), build_folder("install")
    digits = DIGITS / "digits.pte"
    selected = ";".join(map(str, (MODELS["f64_add"], MODELS["multi_method"], digits)))
    configure(
        ROOT,
        building,
        CMAKE_BUILD_TYPE="Release",
        EXECUTORCH_SELECT_OPS_MODEL=selected,
        RUSHLIGHT_BUILD="no-runner,compat",
    )
    build(building)
    process.run(["cmake", "--install", building, "--prefix", folder / "first"], check=True)
    return (folder / "first").rename(folder / "moved")


@pytest.fixture(scope="module")
def included(build_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The build folder of a project that includes the tree and names its model by the project's own path."""
    source = tmp_path_factory.mktemp("included") / "source"
    shutil.copytree(CONSUMERS / "included", source)
    shutil.copy(MODELS["mutable_counter"], source / "model.pte")
    folder = build_folder("included")
    configure(source, folder, RUSHLIGHT_FOLDER=ROOT)
    build(folder)
    return folder


def test_a_project_that_includes_the_tree_runs_a_program(included: Path) -> None:
    values = tensors("mutable_counter")
    lines = run(included / "counter", "mutable_counter", values["forward.0.input0"])
    expected = [values[f"forward.{call}.output0"] for call in range(4)]
    assert len(lines) == 4
    for line, output in zip(lines, expected, strict=True):
        np.testing.assert_allclose(parsed(line, output), output, rtol=1e-6)


def test_a_project_that_includes_the_tree_builds_what_it_links(included: Path) -> None:
    built = {path.name for path in included.rglob("*") if path.suffix in (".a", ".so", "")}
    assert {"librushlight_module.a", "libexecutorch_kernels.a", "counter"} <= built
    assert built & {"libexecutorch_compat.a", "executor_runner"} == set()
    assert "CMAKE_BUILD_TYPE:STRING=\n" in (included / "CMakeCache.txt").read_text()


def test_a_project_finds_what_was_installed_and_runs_a_program(prefix: Path, tmp_path: Path) -> None:
    told = configure(CONSUMERS / "installed", tmp_path, CMAKE_PREFIX_PATH=prefix)
    assert "aten::addmm.out" in told.stdout and "aten::copy_" not in told.stdout
    build(tmp_path)
    values = tensors("multi_method")
    names, numbers = run(
        tmp_path / "decode", "multi_method", values["decode.0.input0"], values["decode.0.input1"]
    )
    assert names.split()[:2] == ["decode", "encode"]
    output = values["decode.0.output0"]
    np.testing.assert_allclose(parsed(numbers, output), output, rtol=1e-5, atol=1e-6)


def test_a_project_written_for_executorch_finds_it_and_runs_a_program(prefix: Path, tmp_path: Path) -> None:
    configure(CONSUMERS / "official", tmp_path, CMAKE_PREFIX_PATH=prefix)
    build(tmp_path)
    values = tensors("f64_add")
    (line,) = run(tmp_path / "add", "f64_add", values["forward.0.input0"], values["forward.0.input1"])
    assert np.array_equal(parsed(line, values["forward.0.output0"]), values["forward.0.output0"])


def test_a_project_makes_operator_libraries_with_what_is_installed(prefix: Path, tmp_path: Path) -> None:
    configure(CONSUMERS / "operator_libraries", tmp_path, CMAKE_PREFIX_PATH=prefix, MODEL=MODELS["f64_add"])
    target = "list_custom_ops_lib_and_portable_ops_lib"
    process.run(["cmake", "--build", tmp_path, "--target", target], check=True, timeout=600)
    lines = process.run([tmp_path / target], check=True).stdout.splitlines()
    # The project's operators come before the installed ones.
    assert {"my_ops::mul3.out", "aten::addmm.out", "= aten::relu.out 0 100 102"} <= set(lines)


def test_the_application_of_the_examples_finds_what_was_installed(prefix: Path, tmp_path: Path) -> None:
    printed = run_example("cpp_application", "-o", tmp_path, "--installed", prefix).stdout
    assert printed.count("class 8: 0.995122\n") == 2
    assert not (tmp_path / "rushlight").exists()


def test_the_program_of_the_page_on_cpp_builds(prefix: Path, tmp_path: Path) -> None:
    (program,) = re.findall(
        r"^```cpp\n(.*?)^```$", (ROOT / "docs/cpp.md").read_text(), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "page.cpp").write_text(program)
    folder = tmp_path / "build"
    configure(CONSUMERS / "installed", folder, CMAKE_PREFIX_PATH=prefix, MAIN=tmp_path / "page.cpp")
    build(folder)


def test_a_component_that_is_not_installed_is_named(prefix: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"installed\s+without\s+'nothing'"):
        configure(CONSUMERS / "installed", tmp_path, CMAKE_PREFIX_PATH=prefix, MORE_COMPONENTS="nothing")


def test_an_installation_says_nothing_of_where_it_was_built(prefix: Path) -> None:
    packages = list(prefix.rglob("*.cmake"))
    assert len(packages) >= 6
    foreign = (str(ROOT), str(prefix.parent))
    assert [p.name for p in packages if any(word in p.read_text() for word in foreign)] == []


def test_an_installation_puts_its_headers_into_a_folder_of_its_own(prefix: Path) -> None:
    assert [path.name for path in (prefix / "include").iterdir()] == ["rushlight"]
    headers = {
        str(path.relative_to(prefix / "include/rushlight")) for path in (prefix / "include").rglob("*.h")
    }
    assert {"runtime/module/module.h", "compat/include/executorch/extension/module/module.h"} <= headers
    assert [name for name in headers if name.startswith(("runtime/runner/", "kernels/", "tests/"))] == []
