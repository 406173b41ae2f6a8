# SPDX-License-Identifier: BSD-3-Clause
"""./dev, with every program that it calls in a stub that writes its words down."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from rushlight import process

ROOT = Path(__file__).resolve().parents[1]
STUBBED = ["python3", "python", "pip", "cmake", "ctest", "apt-get", "dpkg-query", "rushlight", "g++", "id"]
STUBBED += ["ruff", "clang-format", "gersemi"]
# Writes its name and words down; fails when they begin with $FAILS.
STUB = """#!/bin/sh
echo "{name} $*" >> {log}
[ {name} != id ] || echo 0
case "{name} $*" in "${{FAILS:-nothing}}"*) echo "{name} is not content" && exit 1 ;; esac
"""
STEPS = [
    "format of Python",
    "format of C++",
    "format of CMake",
    "lint",
    "types",
    "layers",
    "build of the C++ tests",
    "C++ tests",
    "quick Python tests",
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with ./dev, stubs and sources."""
    shutil.copy(ROOT / "dev", tmp_path / "dev")
    for folder in ("bin", ".venv/bin", "build/tests", "kernels", "tests"):
        (tmp_path / folder).mkdir(parents=True)
    for name in STUBBED:
        (tmp_path / "bin" / name).write_text(STUB.format(name=name, log=tmp_path / "log"))
        (tmp_path / "bin" / name).chmod(0o755)
    shutil.copy(tmp_path / "bin" / "python", tmp_path / ".venv" / "bin" / "python")
    for file in ("kernels/new.h", "build/made.cpp", ".venv/lib.h", "CMakeLists.txt"):
        (tmp_path / file).touch()
    return tmp_path


def dev(checkout: Path, *words: str, fails: str = "") -> process.Result:
    """`./dev words`, in which the command that begins with `fails` fails."""
    path = f"{checkout / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return process.run(["sh", checkout / "dev", *words], env={"PATH": path, "FAILS": fails})


def ran(checkout: Path, *words: str) -> tuple[list[str], str]:
    """The commands of `./dev words`, and what it said."""
    result = dev(checkout, *words)
    assert result.returncode == 0, result.stderr
    return (checkout / "log").read_text().splitlines(), result.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "-n auto --dist loadfile"),
        (["-k", "softmax"], "-n auto --dist loadfile -k softmax"),
        (["--shard", "2/4"], "-n auto --dist loadfile --shard 2/4"),
        (["-n", "2", "tests"], "-n 2 tests"),
        (["-n0"], "-n0"),
        (["--pdb", "tests"], "--pdb tests"),
    ],
)
def test_tests_run_on_all_cpus_unless_told_otherwise(words: list[str], expected: str, checkout: Path) -> None:
    commands, _ = ran(checkout, "test", *words)
    assert commands[-1] == f"python -m pytest --durations=25 {expected}"


def test_what_takes_minutes_is_announced_and_seen(checkout: Path) -> None:
    commands, said = ran(checkout, "test")
    installs = [command for command in commands if command.startswith("pip install")]
    quiet = [command for command in installs if " -q" in command]
    assert quiet == ["pip install -q pip>=23.1", "pip install -q -c tests/constraints.txt"]
    assert "0.8 GB on disk" in said and "minutes of CPU" in said and "== [0:0" in said


def steps(result: process.Result) -> list[tuple[str, str]]:
    """The steps that `./dev check` reports: ok or FAILED, and the name; each has its time."""
    found = re.findall(r"^(ok|FAILED) +[0-9]+\.[0-9] s  (.+)$", result.stdout, re.MULTILINE)
    assert len(found) == len(re.findall(r" s  ", result.stdout))
    return found


def test_check_lists_its_steps_with_their_times(checkout: Path) -> None:
    result = dev(checkout, "check")
    assert result.returncode == 0, result.stderr
    assert steps(result) == [("ok", name) for name in STEPS]


@pytest.mark.parametrize(
    ("command", "step", "remedy"),
    [
        ("ruff format", "format of Python", "ruff format ."),
        ("clang-format", "format of C++", "clang-format -i"),
        ("gersemi", "format of CMake", "gersemi -i"),
        ("ruff check", "lint", "ruff check --fix ."),
        ("python -m mypy", "types", "pyproject.toml"),
        ("python -m pytest -q tests/test_layers.py", "layers", "tests/test_layers.py"),
        ("cmake --build --preset tests", "build of the C++ tests", "the compiler"),
        ("ctest", "C++ tests", "ctest --preset tests --rerun-failed"),
        ("python -m pytest -q -n auto", "quick Python tests", "pytest --last-failed"),
    ],
)
def test_check_stops_at_the_first_step_that_fails(
    command: str, step: str, remedy: str, checkout: Path
) -> None:
    (checkout / "build" / "tests" / "build.ninja").touch()  # built before
    result = dev(checkout, "check", fails=command)
    assert result.returncode == 1
    position = STEPS.index(step)
    assert steps(result) == [*(("ok", name) for name in STEPS[:position]), ("FAILED", step)]
    assert f"{command.split()[0]} is not content" in result.stderr
    assert f"error: {step}: " in result.stderr and remedy in result.stderr
    assert (checkout / "log").read_text().splitlines()[-1].startswith(command)


def test_static_checks_neither_build_nor_test(checkout: Path) -> None:
    result = dev(checkout, "check", "--static")
    assert result.returncode == 0, result.stderr
    assert steps(result) == [("ok", name) for name in STEPS[: STEPS.index("build of the C++ tests")]]
    commands = (checkout / "log").read_text()
    assert "cmake" not in commands and "ctest" not in commands


def test_check_looks_at_sources_only_and_leaves_out_those_listed(checkout: Path) -> None:
    commands, _ = ran(checkout, "check")
    assert "clang-format --dry-run -Werror kernels/new.h" in commands
    assert "gersemi --check CMakeLists.txt" in commands


def test_check_installs_and_builds_once(checkout: Path) -> None:
    for file in ("pyproject.toml", "tests/constraints.txt"):
        (checkout / file).touch()
    setup, _ = ran(checkout, "check")
    install = "pip install -c tests/constraints.txt --no-build-isolation .[test,export,check]"
    assert f"{install} -Cbuild-dir=build/wheel" in setup
    assert "cmake --preset tests" in setup
    (checkout / "log").unlink()
    (checkout / "build" / "tests" / "build.ninja").touch()
    again, _ = ran(checkout, "check")
    assert [each for each in again if each.startswith("pip install -c")] == []
    assert "cmake --preset tests" not in again
    os.utime(checkout / "pyproject.toml", (2**31, 2**31))
    changed, _ = ran(checkout, "check")
    assert "pip install -c tests/constraints.txt torch" in changed


def test_docs_need_neither_a_build_nor_pytorch(checkout: Path) -> None:
    commands, said = ran(checkout, "docs")
    assert commands[-1] == "python -m sphinx -q -W --keep-going -c docs -d build/docs-cache . build/docs"
    installs = [command for command in commands if command.startswith("pip install")]
    assert installs[1:] == ["pip install -q -c tests/constraints.txt -r build/docs-requirements.txt"]
    assert not any("torch" in command or command.startswith("cmake") for command in commands)
    assert f"{checkout}/build/docs/index.html" in said


def test_what_the_docs_are_built_with_is_installed_for_the_tests(checkout: Path) -> None:
    commands, _ = ran(checkout, "test")
    assert any(".[test,export,docs]" in command for command in commands)
    assert any("dpkg-query" in command and "doxygen" in command for command in commands)


def test_continuous_integration_checks_first() -> None:
    commands = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line.startswith("./dev")]
    assert commands[0] == "./dev check --static" and commands[1].startswith("./dev test ")
