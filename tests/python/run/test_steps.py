# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of quantized methods may differ from PyTorch's by quantization steps, and other outputs may not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rushlight.program import read_program
from rushlight.run.cases import BY_DTYPE, Tolerance, bundled_case, compare
from rushlight.run.steps import output_steps

INTEROP = Path(__file__).parents[2] / "interop"


def _last_scale(path: Path) -> float:
    calls = [
        call for call in read_program(path).method("forward").calls() if "::dequantize_per_tensor" in call[0]
    ]
    scale = calls[-1][1][1].data
    assert isinstance(scale, float)
    return scale


def test_an_official_quantized_program_has_steps_of_its_last_scale() -> None:
    path = INTEROP / "model_dscnn_int8" / "model.pte"
    (steps,) = output_steps(read_program(path))["forward"]
    quantized = sum(
        name.startswith("quantized_decomposed::") for name, _ in read_program(path).method("forward").calls()
    )
    assert steps == (1 + quantized // 10) * _last_scale(path) > 0


def test_programs_of_floats_have_no_steps() -> None:
    for name in ("model_dscnn", "multi_method", "kv_cache_renamed", "sort_topk"):
        for steps in output_steps(read_program(INTEROP / name / "model.pte")).values():
            assert not any(steps)


def test_integer_outputs_of_quantized_operators_have_steps() -> None:
    cases = [path.parent for path in INTEROP.glob("cortex_m_*/case.json")]
    assert cases
    for folder in cases:
        files = json.loads((folder / "case.json").read_text())["files"]
        assert all(all(steps) for steps in output_steps(read_program(folder / files[0])).values())


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_difference_of_the_steps_passes_and_of_more_fails(dtype: str) -> None:
    want = np.array([0, 5, 10], dtype)
    assert compare([want + np.array([0, 2, -2], dtype)], [want], BY_DTYPE, (2.0,)).passed
    assert not compare([want + np.array([0, 3, 0], dtype)], [want], BY_DTYPE, (2.0,)).passed
    assert not compare([want + np.array([0, 1, 0], dtype)], [want], BY_DTYPE).passed


def test_a_tolerance_of_the_caller_leaves_no_steps() -> None:
    case = bundled_case(INTEROP / "bundled" / "model.bpte")
    given = case.held_to(Tolerance.given(0.1, 0.0))
    assert given.tolerance == Tolerance(0.1, 0.0) and not any(call.steps for call in given.calls)
