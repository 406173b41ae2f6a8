# SPDX-License-Identifier: BSD-3-Clause
"""bake() writes or refuses programs, and an application can be built from its output."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushlight import process
from rushlight.build.baked import BakedModel, build_baked_programs
from rushlight.codegen.bake import bake
from rushlight.errors import (
    BackendNotFound,
    InvalidArgument,
    InvalidProgram,
    MethodNotFound,
    NotBakeable,
    OperatorNotFound,
    RushlightError,
)
from rushlight.program import (
    DebugRecord,
    Method,
    ProgramParts,
    Storage,
    TensorInfo,
    Value,
    read_program,
    write_program,
)
from rushlight.program.debug import Frame, InstructionOrigin, MethodOrigins, Module, fingerprint
from rushlight.program.model import Dynamism, KernelCall, Kind, Move
from rushlight.run.case_stream import encode_request
from rushlight.status import Status
from support.cmake_projects import configure, folder_near_sources
from support.environments import ROOT
from support.foreign_delegates import FOREIGN, foreign_file
from support.programs import Plan, program, tensor

pytestmark = pytest.mark.heavy

INTEROP = Path(__file__).parents[3] / "interop"


def test_baking_twice_writes_the_same_and_touches_nothing(tmp_path: Path) -> None:
    model = INTEROP / "scan" / "model.pte"
    first = bake(model, tmp_path)
    before = {
        name: ((tmp_path / name).read_bytes(), (tmp_path / name).stat().st_mtime_ns) for name in first.files
    }
    assert bake(model, tmp_path) == first and first.name == "scan"
    after = {
        name: ((tmp_path / name).read_bytes(), (tmp_path / name).stat().st_mtime_ns) for name in first.files
    }
    assert before == after


def test_calls_have_the_layers_and_lines_of_the_debug_record(tmp_path: Path) -> None:
    model = tmp_path / "model.pte"
    shutil.copy(INTEROP / "model_mlp" / "model.pte", model)
    (method,) = read_program(model).plans
    calls = [at for at, each in enumerate(method.instructions) if isinstance(each, KernelCall)]
    hostile = Module("head */ \\\n#error \x1b\u202e", "Linear")
    origins = (
        InstructionOrigin(
            calls[0],
            frames=(Frame("/home/me/net.py", 12, code="self.fc(x)"),),
            modules=(Module("fc.0", "Linear"),),
        ),
        InstructionOrigin(calls[1], modules=(hostile,)),
    )
    record = DebugRecord(fingerprint(read_program(model)), (MethodOrigins("forward", origins),))
    record.save(model.with_name("model.debug.json"))
    lines = (bake(model, tmp_path / "out", name="it").folder / "it.cpp").read_text().splitlines()
    assert any(line.strip().endswith(", fc.0 (Linear), net.py:12: self.fc(x)") for line in lines)
    (odd,) = [line for line in lines if "head */" in line]
    assert odd.strip().startswith(f"// {calls[1]}: aten::") and odd.isascii() and not odd.endswith("\\")
    assert not any(line.strip().startswith("#error") or "/home/me" in line for line in lines)
    model.with_name("model.debug.json").write_text("[")  # a damaged one is no reason to refuse
    assert "net.py" not in (bake(model, tmp_path / "other", name="it").folder / "it.cpp").read_text()


def test_the_methods_that_are_named_are_baked(tmp_path: Path) -> None:
    model = INTEROP / "multi_method" / "model.pte"
    assert "get_name" in bake(model, tmp_path / "all").methods
    one = bake(model, tmp_path / "one", methods=["encode"])
    assert one.methods == ("encode",) and set(one.planned) == {"encode"}
    with pytest.raises(MethodNotFound):
        bake(model, tmp_path / "none", methods=["decoded"])


def test_shared_weights_are_kept_once(tmp_path: Path) -> None:
    model = INTEROP / "multi_method" / "model.pte"
    both, one = bake(model, tmp_path / "all"), bake(model, tmp_path / "one", methods=["encode"])
    assert both.weights == one.weights > 0


def test_a_delegate_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendNotFound, match=FOREIGN):
        bake(foreign_file(tmp_path), tmp_path / "out")


def test_tensors_outside_the_program_are_asked_for(tmp_path: Path) -> None:
    model = INTEROP / "external_ptd" / "model.pte"
    with pytest.raises(InvalidArgument, match="expected a data file with it"):
        bake(model, tmp_path)
    assert bake(model, tmp_path, data_files=[INTEROP / "external_ptd" / "weights.ptd"]).weights > 3000


def planned(at: int = 0, **more: Any) -> Value:
    """Two floats."""
    fields = {"storage": Storage.PLANNED, "memory_id": 1, "memory_offset": at, **more}
    return Value(Kind.TENSOR, TensorInfo("float32", (2,), (0,), Dynamism.STATIC, **fields))


ONE = Value(Kind.INT, 1)
LIST = Value(Kind.BOOL_LIST, (True,))
GOOD = Method(
    "forward", (planned(), planned(16), ONE), (0,), (1,),
    ((KernelCall(0, (0, 0, 2, 1, 1)),),), ("aten::add.out",), (), (0, 64),
)  # fmt: skip
CONSTANT = planned(storage=Storage.CONSTANT, memory_id=0, buffer_index=1)


@pytest.mark.parametrize(
    ("method", "error", "words"),
    [
        (replace(GOOD, operators=("a::b",)), OperatorNotFound, "a::b"),
        (replace(GOOD, chains=((KernelCall(0, (0, 0, 0, 1, 1)),),)), InvalidProgram, "alpha.*got tensor"),
        (replace(GOOD, chains=((KernelCall(0, (0, 0)),),)), InvalidProgram, "expected 4 arguments, got 2"),
        (replace(GOOD, chains=()), InvalidProgram, "expected instructions"),
        (
            replace(GOOD, values=(planned(), CONSTANT, ONE)),
            InvalidProgram,
            "got value 1, which is constant",
        ),
        (replace(GOOD, values=(CONSTANT, planned(), ONE)), InvalidProgram, "input 0 is a constant"),
        (
            replace(GOOD, values=(planned(1), planned(16), ONE)),
            InvalidProgram,
            "expected an offset aligned for .*, got 1",
        ),
        (replace(GOOD, chains=((Move(2, 1),),)), InvalidProgram, "moves a int to a tensor"),
        (replace(GOOD, chains=((Move(1, 0),),)), InvalidProgram, "is moved to input 0"),
        (replace(GOOD, values=(*GOOD.values, LIST), outputs=(3,)), NotBakeable, "output 0 is a bool list"),
        (
            replace(GOOD, values=(*GOOD.values, LIST), chains=((Move(3, 3),),)),
            NotBakeable,
            "moves a bool list",
        ),
    ],
)
def test_what_cannot_be_baked_is_told(
    method: Method, error: type[RushlightError], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.pte"
    write_program(ProgramParts((method,), [bytes(8)])).save(path)
    with pytest.raises(error, match=words):
        bake(path, tmp_path / "baked")
    assert not (tmp_path / "baked").exists()


def test_a_tensor_that_is_resized_and_read_is_refused(tmp_path: Path) -> None:
    bounded = replace(planned().data, dynamism=Dynamism.BOUNDED)  # type: ignore[type-var]
    values = (Value(Kind.TENSOR, bounded), planned(16), ONE)
    method = replace(GOOD, values=values, chains=((KernelCall(0, (0, 1, 2, 0, 0)),),))
    write_program(ProgramParts((method,))).save(tmp_path / "model.pte")
    with pytest.raises(InvalidProgram, match="resize value 0, which it also reads"):
        bake(tmp_path / "model.pte", tmp_path / "baked")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    data = (INTEROP / "softplus" / "model.pte").read_bytes()
    (tmp_path / "model.pte").write_bytes(data[: len(data) // 2])
    with pytest.raises(InvalidProgram):
        bake(tmp_path / "model.pte", tmp_path / "baked")


APPLICATION = """
#include <cstdio>

#include "dynamic_mlp.h"

alignas(16) uint8_t dynamic_mlp_forward_arena1[dynamic_mlp::kForwardArena1Bytes];

int main() {
  const int32_t sizes[] = {3, 16};
  float input[3 * 16];
  for (int i = 0; i < 3 * 16; ++i) input[i] = static_cast<float>(i) / 48;
  float output[dynamic_mlp::ForwardOutput0::kElements];
  int32_t output_sizes[dynamic_mlp::ForwardOutput0::kRank];
  const rushlight::Error error = dynamic_mlp::forward(input, sizes, output, output_sizes);
  if (error != rushlight::Error::Ok) return static_cast<int>(error);
  const int32_t too_many[] = {65, 16};
  if (dynamic_mlp::forward(input, too_many, output, output_sizes) == rushlight::Error::Ok) return 1;
  std::printf("%d %d", output_sizes[0], output_sizes[1]);
  for (int i = 0; i < 3 * 8; ++i) std::printf(" %a", output[i]);
  return 0;
}
"""
LISTS = """
cmake_minimum_required(VERSION 3.24)
project(app LANGUAGES C CXX ASM)
add_subdirectory(baked)
target_compile_definitions(dynamic_mlp PRIVATE DYNAMIC_MLP_EXTERN_ARENAS)
add_executable(app app.cpp)
target_link_libraries(app PRIVATE dynamic_mlp)
"""


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["incbin", pytest.param("array", marks=pytest.mark.exhaustive)])
def test_an_application_brings_its_arena_and_gets_what_the_interpreter_gives(
    weights: str, tmp_path: Path
) -> None:
    scratch = 64 if weights == "array" else None
    baked = bake(
        INTEROP / "dynamic_mlp" / "model.pte", tmp_path / "baked", weights=weights, temporary_bytes=scratch
    )
    assert baked.temporary == {"forward": scratch or 0}
    assert (tmp_path / "baked" / "dynamic_mlp_weights.S").exists() == (weights == "incbin")
    (tmp_path / "CMakeLists.txt").write_text(LISTS)
    (tmp_path / "app.cpp").write_text(APPLICATION)
    with folder_near_sources("baked") as out:
        configure(tmp_path, out, RUSHLIGHT_TREE=ROOT, CMAKE_BUILD_TYPE="Release")
        process.run(["cmake", "--build", out, "--target", "app"], check=True, timeout=300)
        words = process.run([out / "app"], check=True).stdout.split()
    program = read_program(INTEROP / "dynamic_mlp" / "model.pte")
    (expected,) = run_here(program.data, np.arange(48, dtype=np.float32).reshape(3, 16) / np.float32(48))
    assert words[:2] == ["3", "8"]
    got = np.array([float.fromhex(word) for word in words[2:]], np.float32).reshape(3, 8)
    assert got.tobytes() == expected.tobytes()


def run_here(program: memoryview, *inputs: np.ndarray) -> list[Any]:
    """The interpreter's outputs in this process."""
    from rushlight import runtime

    return runtime.load(bytes(program)).method("forward").execute(list(inputs))


def test_an_output_that_the_machine_has_no_memory_for_is_named(tmp_path: Path) -> None:
    plan = Plan(values=[tensor("float64", (1 << 15, 1 << 15), memory_id=0)], outputs=[0])
    (tmp_path / "model.pte").write_bytes(program(plan))
    (tmp_path / "request").write_bytes(encode_request([("forward", [], [])]))
    built = build_baked_programs([BakedModel(tmp_path / "model.pte")], output=tmp_path / "build")
    limited = ["sh", "-c", 'ulimit -v 4000000; exec "$0" "$@"', str(built.result.executable)]
    done = process.run([*limited, "--inputs=request", "--outputs=response"], cwd=tmp_path)
    assert done.returncode == Status.MemoryAllocationFailed
    assert f"output: no memory for {8 << 30} bytes" in done.stdout + done.stderr
