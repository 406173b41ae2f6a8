# SPDX-License-Identifier: BSD-3-Clause
"""The official quantized programs on all targets, computed in integers: the host's bytes, with a fraction of
the unconverted programs' instructions."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight.run.api import run
from rushlight.run.cases import Call, Case
from support.boards import marker, need, usual
from support.official_int8 import PLANNED, SHAPES, before_softmax, model

pytestmark = pytest.mark.device

SMALL = {"microbit"}
"""Boards with too little memory for the programs: 16 kB of RAM."""


def cases() -> list[Any]:
    """Each program on each target; continuous integration takes one of them in turn. Their operators run on
    every target in test_quantized_functions.py and test_quantized_products.py."""
    names = [each.name for each in usual() if each.name not in SMALL]
    taken = set(zip(names, itertools.cycle(SHAPES), strict=False))
    return [
        pytest.param(
            target_name,
            name,
            id=f"{target_name}-{name}",
            marks=[marker(target_name), *([] if (target_name, name) in taken else [pytest.mark.exhaustive])],
        )
        for target_name in names
        for name in SHAPES
    ]


@pytest.mark.parametrize(("target_name", "name"), cases())
def test_a_converted_program_has_the_bytes_of_the_host(target_name: str, name: str, tmp_path: Path) -> None:
    need(target_name)
    path = tmp_path / f"{name}.pte"
    path.write_bytes(before_softmax(model(name).read_bytes()))
    x = np.random.default_rng(1).standard_normal(SHAPES[name]).astype(np.float32)
    expected = rushlight.load(path).forward(x)
    case = Case(name, 0.0, [Call("forward", [x], expected)])
    outcome = run(path, case, target=target_name, build_folder=tmp_path / "build")
    assert outcome.passed, outcome.reasons
    assert outcome.report is not None
    assert outcome.report.planned_bytes == PLANNED[name]


def test_integers_take_few_of_the_instructions(tmp_path: Path) -> None:
    need("cortex-m4")
    x = np.zeros(SHAPES["model_dscnn_int8"], np.float32)
    case = Case("zeros", 0.0, [Call("forward", [x], None)])
    counts = []
    for integers in (True, False):
        folder = tmp_path / str(integers)
        path = model("model_dscnn_int8")
        outcome = run(path, case, target="cortex-m4", build_folder=folder, integers=integers)
        counts.append(outcome.calls[0].result.instructions)
    assert 1.8 * counts[0] < counts[1]
