# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of kernels from objects, and the command that lists operators."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rushlight import process
from rushlight.build.sizes import read_object_size
from rushlight.cli.main import main
from rushlight.size.kernels import KernelSizes


def test_an_object_counts_code_constants_and_initial_data(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or pytest.skip("no c++, a C++ compiler, on the PATH")
    source = tmp_path / "thing.cpp"
    source.write_text("extern const char kText[1000] = {1};\nint zeroed[100];\nint filled[50] = {1};\n")
    process.run([compiler, "-Os", "-g", "-c", source, "-o", tmp_path / "thing.o"], check=True)
    assert read_object_size(tmp_path / "thing.o") == 1200


def test_the_total_is_of_everything() -> None:
    sizes = KernelSizes(
        "t",
        (),
        {"operators/elementwise/op_add": 10},
        {"walk/fill": 5},
        3,
        {"operators/elementwise/op_add": ["a"]},
    )
    assert sizes.total == 18 and sizes.to_json()["total"] == 18


def test_operators_are_listed_with_their_dtypes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["kernels", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert not done.value.code
    assert rows["aten::add.out"]["source"] == "operators/elementwise/op_add"
    assert {"float32", "int64"} <= set(rows["aten::add.out"]["dtypes"])


def test_an_unknown_target_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["kernels", "--sizes", "--target", "cortex-m99"])
    assert done.value.code and "cortex-m99" in capsys.readouterr().err
