# SPDX-License-Identifier: BSD-3-Clause
"""Two YAML files of kernels as one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rushlight.codegen.merge_yaml import main

ADD = "- op: add.out\n  kernels:\n  - arg_meta: null\n    kernel_name: {space}::add_out\n"
MUL3 = "- func: my::mul3.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n  kernels: []\n"


def merged(folder: Path, functions: str, fallback: str) -> int:
    (folder / "functions.yaml").write_text(functions)
    (folder / "fallback.yaml").write_text(fallback)
    return main([str(folder / name) for name in ("functions.yaml", "fallback.yaml", "out/merged.yaml")])


def test_the_first_files_entry_is_taken(tmp_path: Path) -> None:
    assert merged(tmp_path, ADD.format(space="mine"), MUL3 + ADD.format(space="theirs")) == 0
    add, mul3 = yaml.safe_load((tmp_path / "out/merged.yaml").read_text())
    assert add["kernels"][0]["kernel_name"] == "mine::add_out"
    assert mul3["func"].startswith("my::mul3.out(")


def test_a_file_that_stays_the_same_keeps_its_time(tmp_path: Path) -> None:
    merged(tmp_path, ADD.format(space="mine"), MUL3)
    before = (tmp_path / "out/merged.yaml").stat().st_mtime_ns
    merged(tmp_path, ADD.format(space="mine"), MUL3)
    assert (tmp_path / "out/merged.yaml").stat().st_mtime_ns == before


def test_an_entry_that_names_no_operator_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert merged(tmp_path, ADD.format(space="mine"), "- kernels: []\n") != 0
    assert "fallback.yaml: entry 0: expected 'op' or 'func'" in capsys.readouterr().err
