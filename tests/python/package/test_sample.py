# SPDX-License-Identifier: BSD-3-Clause
"""A package's example runs on an input of the model's own and checks what comes out; its README says what it
takes, how it is called, and what to expect."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from rushlight import process
from rushlight.codegen.bake import bake
from rushlight.codegen.bake.example import MOST_GIVEN, Sample, fits
from rushlight.package import bake_package
from rushlight.package.sample import sample_of
from rushlight.program import read_model
from support.foreign_delegates import foreign_file

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "digits" / "digits.pte"
INTEROP = ROOT / "tests" / "interop"

# In place of a program: outputs that are given, if the inputs are.
STAND_IN = """\
#pragma once
#include <cstddef>
#include <cstring>
namespace it {{
static {element} input[{elements}];
static {element} output[] = {{{outputs}}};
inline {element}* forward_input0() {{ return input; }}
inline const {element}* forward_output0() {{ return output; }}
inline int forward() {{ return input[{elements} - 1] == {last} ? 0 : 7; }}
}}
"""


def test_the_sample_is_a_case_of_the_model_itself() -> None:
    sample = sample_of(DIGITS, [], [])
    assert isinstance(sample, Sample) and sample.source == "the first case of case.json"
    with np.load(DIGITS.with_name("tensors.npz")) as file:
        np.testing.assert_array_equal(sample.inputs[0], file["forward.0.input0"])
        np.testing.assert_allclose(sample.outputs[0], file["forward.0.output0"], rtol=1e-4, atol=1e-6)
    bundled = sample_of(INTEROP / "bundled" / "model.bpte", [], [])
    assert isinstance(bundled, Sample) and bundled.source.endswith("its own cases")


def test_without_cases_inputs_are_random_and_without_kernels_there_is_no_sample(tmp_path: Path) -> None:
    model = tmp_path / "model.pte"
    shutil.copy(INTEROP / "model_mlp" / "model.pte", model)
    sample = sample_of(model, [], [])
    assert isinstance(sample, Sample) and len(np.unique(sample.inputs[0])) > 10
    assert "backend" in str(sample_of(foreign_file(tmp_path), [], []))


def test_a_long_input_repeats_its_beginning() -> None:
    long = np.arange(MOST_GIVEN, dtype=np.float32).reshape(2, -1)
    short = fits(long)
    assert short.shape == long.shape and short.reshape(-1)[MOST_GIVEN // 4] == 0
    assert fits(short[:1, :10]).tolist() == long[:1, :10].tolist()


@pytest.mark.parametrize(
    ("off", "status"),
    [(0.0, 0), (1e-6, 0), (1e-2, 255), (float("nan"), 255)],
    ids=["same", "near", "far", "nan"],
)
def test_the_example_tells_right_outputs_from_wrong_ones(off: float, status: int, tmp_path: Path) -> None:
    sample = sample_of(DIGITS, [], [])
    assert isinstance(sample, Sample)
    bake(DIGITS, tmp_path / "baked", name="it", sample=sample)
    outputs = sample.outputs[0].reshape(-1).astype(np.float64)
    outputs[7] += off
    listed = ", ".join('__builtin_nanf("")' if np.isnan(v) else f"{v!r:}" for v in outputs.tolist())
    last = float(sample.inputs[0].reshape(-1)[-1])
    header = STAND_IN.format(
        element="float", elements=64, outputs=re.sub(r"np\.float64\((.*?)\)", r"\1", listed), last=last
    )
    (tmp_path / "it.h").write_text(header)
    shutil.copy(tmp_path / "baked" / "it_check.cpp", tmp_path / "check.cpp")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-narrowing", "-O0"]
    process.run(["g++", *flags, "check.cpp", "-o", "check"], cwd=tmp_path, check=True)
    assert process.run([tmp_path / "check"]).returncode == status


@pytest.mark.parametrize("name", ["dynamic_mlp", "channels_last_conv", "bf16_mlp", "multi_method", "scan"])
def test_examples_of_all_kinds_of_programs_are_written(name: str, tmp_path: Path) -> None:
    model = INTEROP / name / "model.pte"
    sample = sample_of(model, [], [])
    assert isinstance(sample, Sample), sample
    text = (bake(model, tmp_path, sample=sample).folder / f"{name}_check.cpp").read_text()
    assert "given0[]" in text and "expected0[]" in text and "agrees(" in text
    if name == "channels_last_conv":  # as the elements lie in memory
        (plan,) = read_model(model).plans
        order = plan.values[plan.inputs[0]].data.dim_order
        given = bytes(int(n) for n in re.findall(r"\d+", text.split("given0[] = {")[1].split("}")[0]))
        assert given == np.ascontiguousarray(sample.inputs[0].transpose(order)).tobytes()[:MOST_GIVEN]
    if name == "bf16_mlp":
        assert sample.inputs[0].dtype == ml_dtypes.bfloat16


def test_the_readme_has_sizes_a_call_and_expected_numbers(tmp_path: Path) -> None:
    baked = bake_package(DIGITS, "cmake", tmp_path / "digits")
    text = (tmp_path / "digits" / "README.md").read_text()
    assert f"| constants (flash) | {baked.weights:,} |" in text
    assert f"| arenas of `forward` (RAM) | {baked.planned['forward']:,} |" in text
    assert "`ForwardInput0: float32 [1, 1, 8, 8]`" in text
    assert "return static_cast<int>(digits::forward());" in text
    sample = sample_of(DIGITS, [], [])
    assert isinstance(sample, Sample) and f"{sample.outputs[0].reshape(-1)[0]:.6g}" in text
    main = (tmp_path / "digits" / "examples" / "digits" / "main.cpp").read_text()
    assert "expected0[]" in main and "static int run_example() {" in main
