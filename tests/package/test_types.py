# SPDX-License-Identifier: BSD-3-Clause
"""A type checker sees the types of the installed package, the native module's included."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from rushlight import process
from support.environments import Environment

pytestmark = [
    pytest.mark.package,
    pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed"),
]

USER = """
from pathlib import Path

import numpy as np

import rushlight
import rushlight._runtime
from rushlight.errors import InvalidArgument, OperatorNotFound
from rushlight.runtime import Method, MethodMemory, Runtime, Verification, runtime_info


def run(path: Path) -> list[str]:
    program = rushlight.load(path, load_mode="mmap")
    method: Method = program.load_method("forward")
    memory: MethodMemory = program.memory("forward")
    shape: tuple[int, ...] = program.metadata("forward").input_tensor_meta(0).sizes()
    try:
        outputs = method.execute([np.zeros(shape, np.float32)], outputs="view")
    except InvalidArgument as error:
        index: int | None = error.input
        return [str(index), error.next_step]
    except OperatorNotFound as error:
        return error.operators
    total: int = memory.method_arena_32 + sum(memory.planned)
    return [*program.method_names, str(total), str(outputs), str(runtime_info()["version"])]


def run_in_the_official_shape(path: Path) -> int:
    runtime = Runtime.get()
    program = runtime.load_program(path, verification=Verification.Minimal)
    names: set[str] = program.method_names
    method = program.load_method("forward")
    method.execute((np.zeros(2),))
    return method.metadata.num_inputs() + len(names) + len(runtime.backend_registry.registered_backend_names)


def run_natively(path: str) -> int:
    facts = rushlight._runtime.load_file(path).method_facts("forward")
    return facts["arena_32"]
"""

MISTAKES = {
    "rushlight.load(3)": "arg-type",
    'rushlight.load("m.pte").method("forward").execute([], outputs="clone")': "arg-type",
    'rushlight.load("m.pte").memory().arena': "attr-defined",
    'rushlight._runtime.load_file(b"m.pte")': "arg-type",
}


def check(environment: Environment, folder: Path, text: str) -> process.Result:
    """mypy --strict over a user's file, with the packages of the environment."""
    file = folder / "user.py"
    file.write_text(text)
    words = ["--strict", "--no-incremental", "--python-executable", environment.python, file]
    return process.run([sys.executable, "-m", "mypy", *words], cwd=folder, env={"PYTHONPATH": ""})


def test_a_users_code_passes_strictly(core: Environment, tmp_path: Path) -> None:
    ran = check(core, tmp_path, USER)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_users_mistake_is_found(mistake: str, core: Environment, tmp_path: Path) -> None:
    ran = check(core, tmp_path, f"import rushlight\nimport rushlight._runtime\n\n{mistake}\n")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert f"[{MISTAKES[mistake]}]" in ran.stdout
