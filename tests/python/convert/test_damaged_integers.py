# SPDX-License-Identifier: BSD-3-Clause
"""Damaged programs that compute in integers: arguments, tensors and constants are changed. Each runs or is
refused: multipliers, shifts, biases, tables and positions are proven before they are used."""

from __future__ import annotations

import functools
import random
from collections import Counter

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch.ao.quantization.fx import _decomposed  # noqa: E402, F401  # defines operators
from torch.nn import functional as F  # noqa: E402

import rushlight  # noqa: E402
from rushlight.convert.api import convert  # noqa: E402
from rushlight.convert.files import own_operators  # noqa: E402
from rushlight.errors import RushlightError  # noqa: E402
from rushlight.program import parts_of, read_program  # noqa: E402
from support.graphs import Fn  # noqa: E402
from support.official_int8 import SHAPES, model  # noqa: E402
from support.program_mutants import LIMITS, mutants  # noqa: E402

Q = torch.ops.quantized_decomposed
EXTREMES = (0, 1, -1, 127, -128, 2**31 - 1, -(2**31), 1 << 30)
FUNCTIONS = "functions"


def functions(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """A chain of operators that official networks here do not have."""

    def again(y: torch.Tensor, scale: float = 0.05) -> torch.Tensor:
        q = Q.quantize_per_tensor(y, scale, 3, -128, 127, torch.int8)
        return Q.dequantize_per_tensor(q, scale, 3, -128, 127, torch.int8)

    y = again(F.group_norm(again(x), 2, weight, weight))
    y = again(F.interpolate(y, scale_factor=2, mode="bilinear"))
    y = again(y / again(y + 0.5))
    y = again(F.rms_norm(again(y.flatten(2)), (64,)))
    y = again(F.layer_norm(y, (64,)))
    y = again(torch.bmm(y, again(y.transpose(1, 2))), 0.9)
    y = again(F.avg_pool3d(y.reshape(1, 1, 2, 2, 4), (2, 2, 2)))
    return again(again(y * again(y.sigmoid())).softmax(-1), 1 / 256)


@functools.cache
def program(name: str) -> bytes:
    if name == FUNCTIONS:
        module = Fn(functions, weight=torch.linspace(-1, 2, 4))
        exported = rushlight.export(module, (torch.randn(1, 4, 4, 4),))
        called = exported.report.methods[0].operators
        assert sum(count for row, count in called.items() if row.startswith("rushlight::quantized_")) >= 10
        return exported.buffer
    return convert(read_program(model(name)), own_operators()).buffer


def outcome(data: bytes, shape: tuple[int, ...]) -> str:
    """ "ran" or the kind of the error."""
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    try:
        rushlight.load(data, integers=False, **LIMITS).forward(x)
    except RushlightError as error:
        return type(error).__name__
    return "ran"


NAMES = {**SHAPES, FUNCTIONS: (1, 4, 4, 4)}


@pytest.mark.parametrize("name", NAMES)
def test_changed_calls_and_tensors_run_or_are_refused(name: str) -> None:
    parts = parts_of(read_program(program(name)))
    found = Counter(outcome(data, NAMES[name]) for data in mutants(parts, seed=5, count=250))
    assert found["ran"] >= 20 and found.total() - found["ran"] >= 60, found


@pytest.mark.parametrize("name", NAMES)
def test_changed_constants_run_or_are_refused(name: str) -> None:
    """Words of 32 bits anywhere behind the program's own tables."""
    data, choices = program(name), random.Random(7)
    begin = read_program(data).program_size
    found: Counter[str] = Counter()
    for _ in range(250):
        changed = bytearray(data)
        for _ in range(choices.choice((1, 8, 64))):
            at = choices.randrange(begin, len(data) - 4) & ~3
            changed[at : at + 4] = choices.choice(EXTREMES).to_bytes(4, "little", signed=True)
        found[outcome(bytes(changed), NAMES[name])] += 1
    assert found["ran"] >= 20, found
