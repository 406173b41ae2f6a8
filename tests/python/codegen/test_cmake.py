# SPDX-License-Identifier: BSD-3-Clause
"""The CMake options, from a project that only selects."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

import pytest

from rushlight import process
from rushlight.process import Result
from support.programs import Plan, program

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[3]
INTEROP = ROOT / "tests" / "interop"
PROJECT = f"""
cmake_minimum_required(VERSION 3.22)
project(selecting NONE)
include("{ROOT}/cmake/options.cmake")
include("{ROOT}/cmake/selection.cmake")
rushlight_select_kernels("${{CMAKE_BINARY_DIR}}/generated")
message(STATUS "operators=${{RUSHLIGHT_SELECTED_OPERATORS}}")
message(STATUS "sources=${{RUSHLIGHT_KERNEL_SOURCES}}")
message(STATUS "shared=${{RUSHLIGHT_SHARED_KERNEL_SOURCES}}")
message(STATUS "level=${{RUSHLIGHT_LOG_LEVEL_NUMBER}}")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    if shutil.which("cmake") is None or shutil.which("ninja") is None:
        pytest.skip("needs cmake and ninja")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    return tmp_path


def configure(project: Path, **options: object) -> Result:
    defines = [f"-D{name}={value}" for name, value in options.items()]
    defines.append(f"-DPython_EXECUTABLE={sys.executable}")
    return process.run(["cmake", "-S", project, "-B", project / "out", "-G", "Ninja", *defines])


def listed(result: Result, name: str) -> list[str]:
    (line,) = [line for line in result.stdout.splitlines() if line.startswith(f"-- {name}=")]
    value = line.partition("=")[2]
    return value.split(";") if value else []


def test_a_list_selects_operators_and_their_sources(project: Path) -> None:
    result = configure(project, EXECUTORCH_SELECT_OPS_LIST="aten::add.out,aten::mm.out")
    assert listed(result, "operators") == ["aten::add.out", "aten::mm.out"]
    # The fronts, and their backs.
    assert {Path(path).name for path in listed(result, "sources")} == {
        "op_add.cpp",
        "arithmetic.cpp",
        "op_mm.cpp",
        "matmul.cpp",
    }
    shared = {Path(path).name for path in listed(result, "shared")}
    assert {"elementwise.cpp", "gemm.cpp"} <= shared and not shared & {"convolution.cpp", "fft.cpp"}


def test_selections_are_united(project: Path) -> None:
    shutil.copy(INTEROP / "f64_mul" / "model.pte", project / "mul.pte")
    (project / "ops.yaml").write_text("- op: mm.out")
    result = configure(
        project,
        EXECUTORCH_SELECT_OPS_LIST="add.out",
        EXECUTORCH_SELECT_OPS_MODEL="mul.pte",
        EXECUTORCH_SELECT_OPS_YAML="ops.yaml",
    )
    assert listed(result, "operators") == ["aten::add.out", "aten::mm.out", "aten::mul.out"]


@pytest.mark.parametrize("separator", [";", ","])
def test_several_models_are_taken(project: Path, separator: str) -> None:
    paths = [INTEROP / case / "model.pte" for case in ("f64_mul", "f64_add")]
    result = configure(project, EXECUTORCH_SELECT_OPS_MODEL=separator.join(map(str, paths)))
    assert listed(result, "operators") == ["aten::add.out", "aten::mul.out"]


def test_without_a_selection_everything_is_selected_and_off_selects_nothing(project: Path) -> None:
    assert "aten::mm.out" in listed(configure(project), "operators")
    assert listed(configure(project, EXECUTORCH_SELECT_ALL_OPS="OFF"), "operators") == []
    assert "aten::mm.out" in listed(configure(project, EXECUTORCH_SELECT_ALL_OPS="ON"), "operators")


def test_a_model_selects_its_dtypes_where_asked(project: Path) -> None:
    options = {"EXECUTORCH_SELECT_OPS_MODEL": INTEROP / "f64_add" / "model.pte"}
    header = project / "out" / "generated" / "rushlight" / "selected_dtypes.h"
    configure(project, **options, EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD="ON")
    assert '{"aten::add.out", 0x00000080u}' in header.read_text()
    configure(project, **options, EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD="OFF")
    assert '{"aten::add.out", 0x00000080u}' not in header.read_text()


def test_several_models_keep_the_dtypes_of_each_and_a_list_every_dtype(project: Path) -> None:
    paths = [INTEROP / case / "model.pte" for case in ("softplus", "f64_mul")]  # float32 and float64
    kernels = project / "out" / "generated" / "selected_kernels.json"
    found = {}
    for listed_too in ("", "mul.out"):
        for order in (paths, paths[::-1]):
            configure(
                project,
                EXECUTORCH_SELECT_OPS_MODEL=";".join(map(str, order)),
                EXECUTORCH_SELECT_OPS_LIST=listed_too,
                EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD="ON",
            )
            dtypes = json.loads(kernels.read_text())["operators"]["aten::mul.out"]["dtypes"]
            found.setdefault(listed_too, []).append(dtypes)
    assert found[""] == [["float32", "float64"]] * 2
    assert all(set(dtypes) > {"float16", "int64", "float32", "float64"} for dtypes in found["mul.out"])


@pytest.mark.parametrize("separator", [";", ","])
def test_kernels_are_built_for_the_dtypes_that_are_named(project: Path, separator: str) -> None:
    named = separator.join(["float32", "int64", "bool"])
    configure(project, EXECUTORCH_SELECT_OPS_LIST="mul.out,mm.out", RUSHLIGHT_DTYPES=named)
    selected = json.loads((project / "out" / "generated" / "selected_kernels.json").read_text())["operators"]
    assert set(selected["aten::mul.out"]["dtypes"]) == {"float32", "int64", "bool"}
    assert set(selected["aten::mm.out"]["dtypes"]) == {"float32", "int64"}


def test_an_unknown_operator_stops_the_configure_step_by_name(project: Path) -> None:
    result = configure(project, EXECUTORCH_SELECT_OPS_LIST="aten::no_such.out")
    assert result.returncode != 0
    assert "aten::no_such.out, asked for by the operator list" in result.stderr


def test_a_model_written_anew_is_selected_anew(project: Path) -> None:
    model = project / "m.pte"
    shutil.copyfile(INTEROP / "f64_add" / "model.pte", model)
    configure(project, EXECUTORCH_SELECT_OPS_MODEL="m.pte")
    time.sleep(1.1)
    shutil.copyfile(INTEROP / "f64_mul" / "model.pte", model)
    result = process.run(["cmake", "--build", project / "out"], check=True)
    assert listed(result, "operators") == ["aten::mul.out"]


def model(path: Path, *operators: tuple[str, str]) -> Path:
    """A program that has these operators, (name, overload) each."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(program(Plan(operators=list(operators))))
    return path


def test_of_two_models_that_differ_by_one_operator_both_are_served(project: Path) -> None:
    common = [("aten::add", "out"), ("aten::mul", "out")]
    one = model(project / "one" / "m.pte", *common)
    two = model(project / "two" / "m.pte", *common, ("aten::exp", "out"))
    result = configure(project, EXECUTORCH_SELECT_OPS_MODEL=f"{one};{two}")
    assert listed(result, "operators") == ["aten::add.out", "aten::exp.out", "aten::mul.out"]
    text = (project / "out" / "generated" / "selected_kernels.json").read_text()
    asked = {name: row["asked_by"] for name, row in json.loads(text)["operators"].items()}
    assert asked == {
        "aten::add.out": ["one/m.pte", "two/m.pte"],
        "aten::exp.out": ["two/m.pte"],
        "aten::mul.out": ["one/m.pte", "two/m.pte"],
    }


def test_one_model_and_a_list_are_united(project: Path) -> None:
    path = model(project / "m.pte", ("aten::add", "out"))
    result = configure(
        project, EXECUTORCH_SELECT_OPS_MODEL=path, EXECUTORCH_SELECT_OPS_LIST="exp.out;add.out"
    )
    assert listed(result, "operators") == ["aten::add.out", "aten::exp.out"]


def test_a_model_that_needs_an_operator_nobody_has_stops_the_configure_step(project: Path) -> None:
    path = model(project / "models" / "m.pte", ("aten::add", "out"), ("my::nobody", "out"))
    result = configure(project, EXECUTORCH_SELECT_OPS_MODEL=path)
    assert result.returncode != 0
    assert "my::nobody.out, asked for by models/m.pte" in " ".join(result.stderr.split())
    # The model is exported again, to the same path, without it: the same build folder goes on.
    model(path, ("aten::add", "out"))
    assert listed(configure(project), "operators") == ["aten::add.out"]


def test_a_backend_that_a_model_hands_work_to_is_named(project: Path) -> None:
    path = INTEROP / "model_mlp" / "model_xnnpack.pte"
    result = configure(project, EXECUTORCH_SELECT_OPS_MODEL=path)
    assert "backend XnnpackBackend, which model_mlp/model_xnnpack.pte delegates to" in result.stdout


@pytest.mark.parametrize(
    ("options", "level"),
    [
        ({}, "2"),
        ({"RUSHLIGHT_LOG_LEVEL": "debug"}, "0"),
        ({"EXECUTORCH_ENABLE_LOGGING": "ON"}, "1"),
        ({"EXECUTORCH_ENABLE_LOGGING": "OFF"}, "3"),
        ({"EXECUTORCH_ENABLE_LOGGING": "OFF", "RUSHLIGHT_LOG_LEVEL": "error"}, "2"),
        ({"EXECUTORCH_LOG_LEVEL": "Debug"}, "0"),
    ],
)
def test_the_log_level_follows_its_options(project: Path, options: dict[str, str], level: str) -> None:
    result = configure(project, EXECUTORCH_SELECT_OPS_LIST="add.out", **options)
    assert listed(result, "level") == [level]
