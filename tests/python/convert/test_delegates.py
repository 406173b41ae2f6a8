# SPDX-License-Identifier: BSD-3-Clause
"""Plain calls in place of what the official exporter lowered to XNNPACK, with the official outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.convert.api import convert
from rushlight.convert.files import own_operators
from rushlight.program import read_model
from rushlight.run.cases import load_case
from support.foreign_delegates import FOREIGN, foreign_program

INTEROP = Path(__file__).parents[2] / "interop"
CASES = sorted(path.parent.name for path in INTEROP.glob("delegated_*/model_xnnpack.pte"))
EXPECTED = {
    "delegated_cnn": ("rushlight::convolution_act.clamp_out", "rushlight::linear_act.clamp_out"),
    "delegated_cnn_int8": ("rushlight::quantized_convolution.out", "rushlight::quantized_linear.out"),
    "delegated_mlp_dynamic": ("rushlight::dynamic_linear.out",),
    "delegated_linear_4bit": ("rushlight::dynamic_linear.out",),
}
"""Operators that the layers of each become."""


@pytest.mark.parametrize("name", CASES)
def test_a_delegate_becomes_calls_with_its_outputs(name: str) -> None:
    case = load_case(INTEROP / name / "case.json")
    done = convert(read_model(INTEROP / name / "model_xnnpack.pte"), own_operators())
    (method,) = done.methods
    assert (method.delegates, method.kept_delegates) == (1, [])
    (plan,) = read_model(memoryview(done.buffer)).plans
    assert plan.delegates == () and set(EXPECTED[name]) <= set(plan.operators)
    program = rushlight.load(done.buffer)
    for call in case.calls:
        outputs = program.run(call.method, call.inputs)
        assert call.expected is not None
        for found, expected in zip(outputs, call.expected, strict=True):
            largest = float(np.abs(expected).max())
            np.testing.assert_allclose(found, expected, rtol=0, atol=case.tolerance * largest)


@pytest.mark.parametrize("name", CASES)
def test_each_new_instruction_has_its_origin(name: str) -> None:
    program = read_model(INTEROP / name / "model_xnnpack.pte")
    (method,) = convert(program, own_operators()).methods
    count = len(program.plans[0].instructions)
    assert len(method.origins) >= 1 and set(method.origins) <= set(range(count))


def test_another_backends_delegate_stays() -> None:
    done = convert(read_model(memoryview(foreign_program())), own_operators())
    assert not done.is_changed
    assert [method.delegates for method in done.methods] == [0]
    assert FOREIGN.startswith("Acm")


def test_a_delegate_that_is_damaged_is_refused() -> None:
    data = (INTEROP / "delegated_cnn" / "model_xnnpack.pte").read_bytes()
    assert b"XN01" in data or b"XN00" in data
    broken = data.replace(b"XN01", b"XN99").replace(b"XN00", b"XN99")
    with pytest.raises(rushlight.errors.InvalidProgram, match="XN00 or XN01"):
        convert(read_model(memoryview(broken)), own_operators())
    with pytest.raises(rushlight.errors.InvalidProgram, match="XN00 or XN01"):
        rushlight.load(broken).method("forward")
