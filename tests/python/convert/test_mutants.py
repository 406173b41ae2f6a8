# SPDX-License-Identifier: BSD-3-Clause
"""Damaged quantized programs through the converter: the result is the same program, one with the same
outputs, or one that is refused as the damaged one is."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.convert import convert
from rushlight.convert.files import own_operators
from rushlight.errors import RushlightError
from rushlight.program import ProgramParts, parts_of, read_program, write_program
from support.program_mutants import mutated

INTEROP = Path(__file__).parents[2] / "interop"
MODELS = {"model_dscnn_int8": (1, 1, 49, 10), "model_resnet8_int8": (1, 3, 32, 32)}
LIMITS = {"max_instructions": 1000, "max_memory": 1 << 26, "threads": 1, "prepare": False}
STEPS = 0.02
"""Softmax outputs of networks that differ by a step here and there."""


def outputs(data: bytes, shape: tuple[int, ...]) -> list[np.ndarray] | str:
    """What the program puts out for some numbers, or the error."""
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    try:
        program = rushlight.load(data, integers=False, **LIMITS)
        return [np.array(output) for output in program.forward(x)]
    except RushlightError as error:
        return str(error)


def mutants(parts: ProgramParts, seed: int, count: int) -> list[bytes]:
    """Files of mutants that can be written."""
    choices, files = random.Random(seed), []
    while len(files) < count:
        changed = replace(parts, methods=tuple(mutated(each, choices) for each in parts.methods))
        try:
            files.append(write_program(changed).tobytes())
        except RushlightError:
            continue
    return files


@pytest.mark.parametrize("name", MODELS)
def test_a_damaged_program_is_not_converted_to_another_one(name: str) -> None:
    parts = parts_of(read_program(INTEROP / name / "model.pte"))
    converted = compared = 0
    for data in mutants(parts, seed=11, count=150):
        done = convert(read_program(data), own_operators())
        if not done.is_changed:
            continue
        converted += 1
        before, after = (outputs(each, MODELS[name]) for each in (data, done.buffer))
        if isinstance(before, str):
            continue
        assert not isinstance(after, str), f"ran before, now: {after}"
        compared += 1
        for a, b in zip(before, after, strict=True):
            np.testing.assert_allclose(np.nan_to_num(b), np.nan_to_num(a), rtol=0, atol=STEPS)
    assert converted >= 40
    assert compared >= 20
