# SPDX-License-Identifier: BSD-3-Clause
"""rushlight.build for the host: what is selected is what is compiled."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight import process, targets
from rushlight.build import cmake
from rushlight.build.sizes import read_object_size
from rushlight.errors import (
    BackendNotFound,
    BuildFailed,
    InvalidArgument,
    InvalidProgram,
    InvalidSelection,
    OperatorNotFound,
    UnknownTarget,
)
from rushlight.run.cases import compare, load_case
from rushlight.sources import source_root
from support.foreign_delegates import FOREIGN, foreign_file

INTEROP = Path(__file__).parents[2] / "interop"
SOFTPLUS = INTEROP / "softplus" / "model.pte"
CAT = INTEROP / "list_split_cat" / "model.pte"


def _objects(binary: Path) -> list[Path]:
    """The objects of kernels and of what they share, without microkernels."""
    return [path for path in binary.glob("**/kernels/*/**/*.cpp.o") if "/kernels/ukernel/" not in str(path)]


def _compiled_kernels(binary: Path) -> set[str]:
    """The fronts of operators: "op_add"."""
    return {path.name.removesuffix(".cpp.o") for path in _objects(binary) if path.name.startswith("op_")}


def _compiled_backs(binary: Path) -> set[str]:
    """Backs, and what they share: "host/arithmetic"."""
    return {name for name in map(_name, _objects(binary)) if name.startswith("host/")}


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('.cpp.o')}"


def test_a_list_of_two_operators_compiles_their_kernel_sources_only(tmp_path):
    entries = {"CMAKE_BUILD_TYPE": "Release", "EXECUTORCH_SELECT_OPS_LIST": "aten::add.out,aten::mm.out"}
    cmake.configure(source_root(), tmp_path, entries, {})
    cmake.build(tmp_path, ["executor_runner"])
    assert _compiled_kernels(tmp_path) == {"op_add", "op_mm"}
    assert {"host/arithmetic", "host/matmul"} <= _compiled_backs(tmp_path)
    assert "host/convolution" not in _compiled_backs(tmp_path)
    assert (tmp_path / "executor_runner").is_file()


def test_models_and_lists_are_united_and_run_from_the_extension(tmp_path):
    built = rushlight.build([SOFTPLUS, CAT], target="host", ops=["aten::sub.out"], output=tmp_path)
    names = built.module().operator_names()
    assert names == sorted(built.selection)
    assert set(names) >= {"aten::exp.out", "aten::cat.out", "aten::sub.out"} and "aten::mm.out" not in names
    for model in (SOFTPLUS, CAT):
        case = load_case(model.with_name("case.json"))
        program = rushlight.load(model, module=built.module())
        for call in case.calls:
            assert compare(program.run(call.method, call.inputs), call.expected, case.tolerance).passed
    other = rushlight.load(INTEROP / "f64_mm" / "model.pte", module=built.module())
    with pytest.raises(OperatorNotFound, match=r"aten::mm\.out"):
        other.forward(np.zeros((3, 3)), np.zeros((3, 3)))


def test_dtype_selection_makes_the_runner_smaller_and_it_still_runs(tmp_path):
    model = INTEROP / "model_dscnn" / "model.pte"
    selected = rushlight.build(model, dtypes="model", output=tmp_path / "model")
    everything = rushlight.build(model, dtypes="all", output=tmp_path / "all")
    # Microkernels, most of a host's runner, are for float32 in three instruction sets: they stay.
    kernels = [sum(map(read_object_size, _objects(build.output))) for build in (selected, everything)]
    assert 50_000 < kernels[0] < 0.6 * kernels[1]
    assert selected.sizes.flash < everything.sizes.flash
    assert all(dtypes == ["float32"] for dtypes in selected.selection.values())
    result = process.run([selected.executable, f"--model_path={model}"])
    assert (result.returncode, result.stdout) == (0, "forward\n")


def test_a_second_build_of_the_same_compiles_nothing(tmp_path):
    lines = []
    for _ in range(2):
        lines.append([])
        rushlight.build(CAT, output=tmp_path, progress=lambda what, share: lines[-1].append(what))
    assert any("op_cat" in line for line in lines[0])
    assert not any(re.search("op_|method", line) for line in lines[1])


def test_what_code_generation_refuses_is_its_own_error_whole(tmp_path):
    with pytest.raises(OperatorNotFound) as caught:
        rushlight.build([], ops=["aten::sub.out", "aten::nope.out"], output=tmp_path / "operators")
    assert caught.value.operators == ["aten::nope.out"] and "aten::nope.out" in caught.value.near
    (tmp_path / "list.yaml").write_text("operators: [1,")
    defines = {"EXECUTORCH_SELECT_OPS_YAML": str(tmp_path / "list.yaml")}
    with pytest.raises(InvalidSelection) as refused:
        rushlight.build(SOFTPLUS, defines=defines, output=tmp_path / "list")
    assert (
        "expected YAML" in refused.value.message
        and refused.value.next_step == InvalidSelection.default_next_step
    )
    # The error of one attempt is not that of the next, which CMake ends.
    with pytest.raises(BuildFailed):
        rushlight.build(SOFTPLUS, defines={"RUSHLIGHT_LOG_LEVEL": "loud"}, output=tmp_path / "list")


def test_a_program_for_a_backend_that_nobody_has_is_not_built(tmp_path):
    with pytest.raises(BackendNotFound, match=FOREIGN):
        rushlight.build([foreign_file(tmp_path)], output=tmp_path / "out")
    assert not list(tmp_path.glob("out/executor_runner*"))


@pytest.mark.parametrize(
    ("models", "arguments", "error", "words"),
    [
        (
            [],
            {},
            InvalidArgument,
            "selection: expected a model, operators, a YAML file or all operators, got none",
        ),
        (["none.pte"], {}, InvalidArgument, r"none\.pte"),
        ([SOFTPLUS], {"target": "cortex-m9"}, UnknownTarget, "cortex-m9"),
        ([SOFTPLUS], {"dtypes": "some"}, InvalidArgument, "some"),
        ([__file__], {}, InvalidProgram, "ET12"),
        ([], {"ops": ["aten::nope.out"]}, OperatorNotFound, r"aten::nope\.out"),
    ],
)
def test_what_cannot_be_built_is_refused_and_leaves_no_executable(models, arguments, error, words, tmp_path):
    with pytest.raises(error, match=words):
        rushlight.build(models, output=tmp_path, **arguments)
    assert not list(tmp_path.glob("executor_runner*"))


def test_a_failed_build_removes_the_executable_of_the_one_before(tmp_path):
    built = rushlight.build(ops=["aten::add.out"], output=tmp_path)
    assert built.executable.is_file()
    with pytest.raises(OperatorNotFound):
        rushlight.build(ops=["aten::nope.out"], output=tmp_path)
    assert not built.executable.exists()


def test_a_folder_that_was_built_in_for_another_target_is_built_in_anew(tmp_path):
    others = [
        target for target in targets.all_targets() if target.kind != "host" and not target.requirements()
    ]
    if not others:
        pytest.skip("no target besides the host has its toolchain here")
    rushlight.build(CAT, target=others[0].name, output=tmp_path)
    built = rushlight.build(CAT, target="host", output=tmp_path)
    assert process.run([built.executable, f"--model_path={CAT}"]).stdout == "forward\n"
