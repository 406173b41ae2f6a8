# SPDX-License-Identifier: BSD-3-Clause
"""The bound of whole programs, from a compiler's call graph and the linker's map, for x86-64."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

import pytest

from rushlight import process
from rushlight.size.read import Built, read_build
from rushlight.size.stack import StackBound

HEAD = "#define APART __attribute__((noinline))\nvolatile int value;\n"
LEAF = "APART int leaf(int n) { volatile char buffer[300]; buffer[n] = 1; return buffer[0]; }\n"


def _bound(folder: Path, code: str) -> StackBound:
    """The bound of a program that consists of `code` alone."""
    compiler = shutil.which("gcc")
    if compiler is None or platform.machine() != "x86_64":
        pytest.skip("no gcc for x86-64")
    (folder / "a.c").write_text(HEAD + code)
    flags = ["-Os", "-ffreestanding", "-ffunction-sections", "-fcallgraph-info=su", "-fcf-protection=none"]
    process.run([compiler, *flags, "-fno-stack-protector", "-c", "a.c", "-o", "a.o"], cwd=folder, check=True)
    link = ["-nostdlib", "-static", "-Wl,-e,main", "-Wl,-Map=a.map"]
    process.run([compiler, *link, "a.o", "-o", "a.elf"], cwd=folder, check=True)
    report = read_build(Built(folder / "a.elf", folder / "a.map", folder, "host", ()))
    assert report.stack is not None
    return report.stack


def test_frames_add_up_along_the_deepest_chain(tmp_path: Path) -> None:
    code = "APART int flat(int n) { return n + value; }\n"
    code += "int main() { return leaf(value) + flat(value); }\n"
    stack = _bound(tmp_path, LEAF + code)
    assert [step.function for step in stack.path] == ["main", "leaf", "red zone"]
    assert stack.is_bound and stack.worst_case == sum(step.bytes for step in stack.path) > 300


def test_a_call_through_a_pointer_reaches_functions_whose_address_is_taken(tmp_path: Path) -> None:
    code = "APART int deep(int n) { volatile char buffer[900]; buffer[n] = 1; return buffer[0]; }\n"
    code += "static int (*const table[])(int) = {leaf};\n"
    code += "APART int call(int (*f)(int)) { return f(value) + 1; }\n"
    code += "int main() { return call(table[value]) + deep(value); }\n"
    stack = _bound(tmp_path, LEAF + code)
    assert stack.is_bound and [step.function for step in stack.path][-2] == "deep"
    stack = _bound(tmp_path, LEAF + code.replace("= {leaf}", "= {deep, leaf}"))
    assert [step.function for step in stack.path] == ["main", "call", "deep", "red zone"]


def test_a_pointer_to_nothing_that_is_known_is_named_and_counted(tmp_path: Path) -> None:
    code = "int main() { return (*(int (*volatile*)(int))0x1000)(3) + 1; }\n"
    stack = _bound(tmp_path, code)
    assert not stack.is_bound and [text.partition(" main ")[2] for text in stack.assumed] == [
        "calls through a pointer"
    ]
    assert stack.path[-2].known == "unknown" and stack.worst_case >= 256


def test_a_recursion_and_a_frame_of_any_size_are_named(tmp_path: Path) -> None:
    code = "APART int again(int n) { return n > 0 ? again(n - 1) * value + leaf(n) : 0; }\n"
    code += "APART int any(int n) { volatile char buffer[n]; buffer[0] = 1; return buffer[0]; }\n"
    code += "int main() { return again(value) + any(value); }\n"
    stack = _bound(tmp_path, LEAF + code)
    assert (stack.recursive, stack.dynamic, stack.is_bound) == (("again",), ("any",), False)
