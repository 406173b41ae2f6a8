# SPDX-License-Identifier: BSD-3-Clause
"""Damaged quantized programs through the converter: the result is the same program, one with the same
outputs, or one that is refused as the damaged one is."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight
from rushlight.convert.api import convert
from rushlight.convert.files import own_operators
from rushlight.errors import RushlightError
from rushlight.program import parts_of, read_program
from support.official_int8 import SHAPES, model
from support.program_mutants import LIMITS, mutants

STEPS = 0.02
"""Softmax outputs of networks that differ by a step here and there."""


def outputs(data: bytes, shape: tuple[int, ...]) -> list[np.ndarray] | str:
    """The program's outputs for random inputs, or the error."""
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    try:
        program = rushlight.load(data, integers=False, **LIMITS)
        return [np.array(output) for output in program.forward(x)]
    except RushlightError as error:
        return str(error)


@pytest.mark.parametrize("name", SHAPES)
def test_a_damaged_program_is_not_converted_to_another_one(name: str) -> None:
    parts = parts_of(read_program(model(name)))
    converted = compared = 0
    for data in mutants(parts, seed=11, count=150):
        done = convert(read_program(data), own_operators())
        if not done.is_changed:
            continue
        converted += 1
        before, after = (outputs(each, SHAPES[name]) for each in (data, done.buffer))
        if isinstance(before, str):
            continue
        assert not isinstance(after, str), f"ran before, now: {after}"
        compared += 1
        for a, b in zip(before, after, strict=True):
            np.testing.assert_allclose(np.nan_to_num(b), np.nan_to_num(a), rtol=0, atol=STEPS)
    assert converted >= 40
    assert compared >= 20
