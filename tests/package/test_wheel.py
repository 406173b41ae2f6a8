# SPDX-License-Identifier: BSD-3-Clause
"""The contents of the wheel, and the commands that work without a checkout."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from rushlight.errors import OperatorNotFound
from rushlight.program import read_program
from support.environments import DIGITS, ROOT, Environment

pytestmark = pytest.mark.package

NOT_CORE = ["torch", "yaml", "click", "rich", "flatbuffers", "elftools"]

RUN_DIGITS = """
import json, sys
import numpy as np
import rushlight
folder = sys.argv[1]
tensors = np.load(folder + "/tensors.npz")
program = rushlight.load(folder + "/digits.pte")
outputs = [program.forward(tensors[f"forward.{i}.input0"])[0] for i in range(10)]
error = max(np.abs(o - tensors[f"forward.{i}.output0"]).max() for i, o in enumerate(outputs))
print(json.dumps({"methods": program.method_names, "error": float(error), "modules": list(sys.modules)}))
"""

OPERATORS = """
import json, rushlight.runtime
print(json.dumps(sorted(rushlight.runtime.Runtime.get().operator_registry.operator_names)))
"""

LOAD = """
import sys, rushlight
try:
    rushlight.load(sys.argv[1]).method("forward")
except rushlight.errors.RushlightError as error:
    print(type(error).__name__, error.exit_code, error)
"""


def sources(folder: str) -> set[str]:
    """The checkout's files of a folder, as the wheel calls them."""
    files = [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return {f"rushlight/native/{path.relative_to(ROOT)}" for path in files if "__pycache__" not in path.parts}


def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.parametrize("folder", ["cmake", "compat", "kernels", "runtime", "toolchains", "python/bindings"])
def test_a_wheel_carries_the_sources_of(folder: str, digits_wheel: Path) -> None:
    expected = sources(folder)
    assert expected
    assert expected - names(digits_wheel) == set()


def test_a_wheel_carries_the_package_and_one_native_module(digits_wheel: Path) -> None:
    held = names(digits_wheel)
    package = {str(p.relative_to(ROOT / "python")) for p in (ROOT / "python/rushlight").rglob("*.py")}
    assert package - held == set()
    assert {"rushlight/py.typed", "rushlight/_runtime.pyi"} - held == set()
    assert len([name for name in held if name.endswith(".so")]) == 1
    assert "rushlight/native/CMakeLists.txt" in held


def test_a_wheel_carries_nothing_else(digits_wheel: Path) -> None:
    tops = {name.split("/")[0] for name in names(digits_wheel)}
    assert len(tops) == 2 and "rushlight" in tops
    assert [name for name in names(digits_wheel) if "/tests/" in name or "__pycache__" in name] == []


def test_the_core_alone_runs_a_model(core: Environment, tmp_path: Path) -> None:
    installed = {path.name.split("-")[0] for path in core.packages.glob("*.dist-info")}
    assert installed == {"rushlight", "numpy", "ml_dtypes"}
    ran = core.run("-c", RUN_DIGITS, DIGITS, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["methods"] == ["forward"]
    assert told["error"] < 1e-5
    assert set(told["modules"]) & set(NOT_CORE) == set()


def test_a_command_that_needs_an_extra_says_which(core: Environment, tmp_path: Path) -> None:
    ran = core.run("-m", "rushlight.cli", "targets", cwd=tmp_path)
    assert ran.returncode != 0
    assert "pip install 'rushlight[build]'" in ran.stderr


def test_a_wheel_selected_by_a_model_has_its_operators_only(core: Environment, tmp_path: Path) -> None:
    ran = core.run("-c", OPERATORS, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    wanted = {name for plan in read_program(DIGITS / "digits.pte").plans for name in plan.operators}
    assert set(json.loads(ran.stdout)) == wanted


def test_a_model_with_other_operators_is_refused_by_name(core: Environment, tmp_path: Path) -> None:
    ran = core.run("-c", LOAD, ROOT / "tests/interop/f64_mul/model.pte", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(f"OperatorNotFound {OperatorNotFound.exit_code} ")
    assert "aten::mul.out" in ran.stdout


def test_the_wheel_builds_a_runner_without_a_checkout(with_build_tools: Environment, tmp_path: Path) -> None:
    words = ["build", DIGITS / "digits.pte", "--target", "host", "-o", tmp_path / "out", "--json"]
    ran = with_build_tools.run("-m", "rushlight.cli", *words, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    cache = (tmp_path / "out" / "cmake-build" / "CMakeCache.txt").read_text()
    (home,) = re.findall(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE)
    assert Path(home).resolve() == (with_build_tools.packages / "rushlight" / "native").resolve()
    assert Path(json.loads(ran.stdout)["executable"]).stat().st_size > 0


@pytest.mark.device
@pytest.mark.cortex_m55
def test_the_wheel_cross_builds_and_runs_without_a_checkout(
    with_build_tools: Environment, tmp_path: Path
) -> None:
    words = ["run", DIGITS / "digits.pte", "--target", "cortex-m55", "--case", DIGITS / "case.json"]
    ran = with_build_tools.run("-m", "rushlight.cli", *words, "-o", tmp_path / "out", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told = json.loads(ran.stdout)
    assert told["passed"] is True
    labels = json.loads((DIGITS / "case.json").read_text())["labels"]
    read = [int(np.argmax(call["outputs"][0]["data"])) for call in told["calls"]]
    assert len(read) == len(labels)
    assert sum(guess == label for guess, label in zip(read, labels, strict=True)) >= 95
