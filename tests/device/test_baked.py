# SPDX-License-Identifier: BSD-3-Clause
"""Baked programs return the interpreter's bytes on each target, and link nothing of the interpreter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushlight import process, targets
from rushlight.build.baked import BakedBuild, BakedModel, build_baked_programs
from rushlight.run.api import run
from rushlight.run.cases import load_case

pytestmark = [pytest.mark.device, pytest.mark.slow]

INTEROP = Path(__file__).parents[1] / "interop"
PROGRAMS = sorted(
    path.parent.name for path in INTEROP.glob("*/model.pte") if path.with_name("case.json").is_file()
)
TARGETS: dict[str, list[pytest.MarkDecorator]] = {
    "host": [pytest.mark.exhaustive],
    "cortex-m55": [pytest.mark.cortex_m55],
    "rv32imafc": [pytest.mark.rv32imafc, pytest.mark.exhaustive],
}

# Bytes of DS-CNN baked on a Cortex-M55: the image without weights, and the RAM besides arenas.
DSCNN_FLASH = 28_500
DSCNN_RAM = 200

# Symbols of the interpreter: reading programs, running their instructions, finding operators by name.
INTERPRETER = re.compile(r"rushlight::(Program|Method|flatbuffer|schema|OperatorTable|MethodMeta|selected_)")
HEAP = re.compile(
    r"operator (new|delete)|(^| )(_?malloc|_?free|calloc|realloc|_?sbrk)\b|__cxa_|_Unwind|typeinfo|std::__"
)


@dataclass(frozen=True)
class Built:
    """All programs baked for a target, in one executable, beside an interpreter with the same kernels."""

    target: str
    build: BakedBuild


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=marks) for name, marks in TARGETS.items()],
)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The builds for one target after another."""
    if missing := targets.get(request.param).requirements():
        pytest.skip(f"{request.param}: missing " + ", ".join(item.name for item in missing))
    models = [
        BakedModel(INTEROP / name / "model.pte", tuple(load_case(INTEROP / name / "case.json").data_files))
        for name in PROGRAMS
    ]
    folder = tmp_path_factory.mktemp(f"baked-{request.param}")
    return Built(
        request.param, build_baked_programs(models, target=request.param, output=folder, interpreter=True)
    )


def bits(value: Any) -> Any:
    """The properties that two equal outputs share: type, shape and bytes."""
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.shape, value.tobytes()
    return type(value), value


def test_all_outputs_have_the_bytes_of_the_interpreters(built: Built) -> None:
    assert len(PROGRAMS) >= 45
    different = []
    for name in PROGRAMS:
        model, case = INTEROP / name / "model.pte", load_case(INTEROP / name / "case.json")
        baked = run(model, case, target=built.target, baked=built.build)
        interpreter, prepares = built.build.interpreter, built.target != "host"  # boards never do
        plain = run(model, case, target=built.target, built=interpreter, prepare=prepares)
        for call, expected in zip(baked.calls, plain.calls, strict=True):
            if list(map(bits, call.result.outputs)) != list(map(bits, expected.result.outputs)):
                different.append(name)
        assert baked.passed and len(baked.calls) == len(case.calls), name
    assert different == []


def test_nothing_of_the_interpreter_is_linked(built: Built) -> None:
    names = symbols(built.target, built.build.result.executable)
    assert any("model_dscnn::" in name for name in names)
    assert [name for name in names if INTERPRETER.search(name)] == []


def test_the_interpreter_would_be_seen(built: Built) -> None:
    assert built.build.interpreter is not None
    names = symbols(built.target, built.build.interpreter.executable)
    assert any(INTERPRETER.search(name) for name in names)


@pytest.mark.cortex_m55
def test_a_cnn_takes_little_beside_weights_and_arenas(tmp_path: Path) -> None:
    if missing := targets.get("cortex-m55").requirements():
        pytest.skip("cortex-m55: missing " + ", ".join(item.name for item in missing))
    dscnn = [BakedModel(INTEROP / "model_dscnn" / "model.pte")]
    build = build_baked_programs(dscnn, target="cortex-m55", output=tmp_path, minimal=True)
    sizes, executable = build.minimal["model_dscnn"], build.minimal_executables["model_dscnn"]
    assert sizes.flash < DSCNN_FLASH and sizes.ram < DSCNN_RAM
    assert sizes.sections[".arena"] == build.programs[0].planned["forward"] == 64_000
    assert sizes.model == build.programs[0].weights < 100_000
    names = symbols("cortex-m55", executable)
    assert [name for name in names if HEAP.search(name) or INTERPRETER.search(name)] == []
    ended = targets.get("cortex-m55").run(executable, [], cwd=tmp_path, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "")


def symbols(target: str, executable: Path) -> list[str]:
    """Lines of nm, with demangled C++ names."""
    tools = {"cortex-m55": "arm-none-eabi-", "rv32imafc": "riscv64-unknown-elf-"}.get(target, "")
    return process.run([f"{tools}nm", "-C", executable], check=True).stdout.splitlines()
