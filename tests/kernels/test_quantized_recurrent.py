# SPDX-License-Identifier: BSD-3-Clause
"""Recurrent layers of integers against their definition in the exporter's dialect, and against torch.nn in
float64."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from rushlight.export.dialect.integer_recurrent import OPERATORS
from rushlight.integers.recurrent import FRACTION, GATE_FRACTION, cell_bits, tables
from support.harness import KernelRefused, Kernels, poison, with_dim_order
from support.recurrent_samples import arguments

KINDS = ["lstm", "gru"]
BITS = {"lstm": (15, 13, 12, 9, 0), "gru": (15, 13, 12, 10, 9)}
SIZES = [(5, 1, 8, 8), (1, 1, 1, 1), (7, 3, 5, 33), (3, 2, 17, 64), (2, 9, 31, 70), (4, 1, 0, 3)]


def outs(given: list[Any]) -> list[torch.Tensor]:
    steps = given[0].shape[0]
    return [
        poison(torch.empty(steps, *given[1].shape, dtype=torch.int8)),
        poison(torch.empty_like(given[2])),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_bits_are_as_defined(kernels: Kernels, kind: str, sizes: tuple[int, int, int, int]) -> None:
    name = f"rushlight::quantized_{kind}.out"
    for seed, (reverse, bits) in enumerate(itertools.product((False, True), BITS[kind])):
        given = arguments(kind, sizes, seed, bits=bits, reverse=reverse)
        expected = OPERATORS[kind](*given)
        for variant, is_dynamic in itertools.product(kernels.variants(name), (False, True)):
            made = outs(given)
            kernels.run(name, [*given, *made], dynamic=made if is_dynamic else (), variant=variant)
            assert all(map(torch.equal, made, expected)), (seed, variant)


@pytest.mark.parametrize("kind", KINDS)
def test_tensors_may_lie_in_any_order(kernels: Kernels, kind: str) -> None:
    name, given = f"rushlight::quantized_{kind}.out", arguments(kind, (3, 4, 5, 6))
    expected = OPERATORS[kind](*given)
    orders = {0: [2, 0, 1], 1: [1, 0], 2: [1, 0], 3: [1, 0], 4: [1, 0]}
    for variant, which in itertools.product(kernels.variants(name), [*orders, -1]):
        moved = {which: orders[which]} if which >= 0 else orders
        laid_out = [with_dim_order(x, moved[i]) if i in moved else x for i, x in enumerate(given)]
        made = outs(given)
        if which < 0:
            made = [poison(with_dim_order(made[0], [2, 0, 1])), poison(with_dim_order(made[1], [1, 0]))]
        kernels.run(name, [*laid_out, *made], variant=variant)
        assert all(map(torch.equal, made, expected)), which


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(0, 2, 3, 4), (4, 0, 3, 4), (4, 2, 3, 0)], ids=str)
def test_nothing_may_be_there(kernels: Kernels, kind: str, sizes: tuple[int, int, int, int]) -> None:
    given = arguments(kind, (4, 2, 3, 4))
    steps, batch, features, units = sizes
    rows = given[3].shape[0] // 4 * units
    shapes = [(steps, batch, features), (batch, units), (batch, units), (rows, features), (rows, units)]
    shapes += [(rows,), (rows,), (4 * units,)]
    empty = [torch.zeros(s, dtype=x.dtype) for s, x in zip(shapes, given, strict=False)]
    made = outs([*empty, *given[8:]])
    kernels.run(f"rushlight::quantized_{kind}.out", [*empty, *given[8:], *made])
    if not steps:
        assert torch.equal(made[1], empty[2]), "the cell stays"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("changed", "value", "named"),
    [
        (0, torch.ones(2, 5, dtype=torch.int8), "input: expected 3 dimensions, got 2"),
        (0, torch.ones(3, 4, 5, dtype=torch.uint8), "dtype uint8 is not supported"),
        (1, torch.ones(3, 6, dtype=torch.int8), "hidden: expected rank 2"),
        (1, torch.ones(4, dtype=torch.int8), "hidden: expected 2 dimensions"),
        (2, torch.ones(4, 5, dtype=torch.int16), "cell: expected rank 2"),
        (2, torch.ones(4, 6, dtype=torch.int8), "cell"),
        (3, torch.ones(6, 5, dtype=torch.int8), "weight: expected rank 2"),
        (4, torch.ones(24, 7, dtype=torch.int8), "hidden_weight: expected rank 2"),
        (5, torch.ones(7, dtype=torch.int32), "multipliers: expected rank 1"),
        (5, -1, "multipliers: expected 0 to 2147483647, got -1"),
        (6, -1, "hidden_multipliers: expected 0 to 2147483647, got -1"),
        (7, (1 << 60) + 1, "bias: element 0 exceeds 2^60"),
        (7, torch.ones(24, dtype=torch.int32), "bias: expected dtype int64, got int32"),
        (8, 0, "shift: expected 1 to 62, got 0"),
        (8, 63, "shift: expected 1 to 62, got 63"),
        (9, torch.ones(2, 256, dtype=torch.int16), "tables: expected 2 rows of 2^k + 1"),
        (9, torch.ones(2, 2, dtype=torch.int16), "tables: expected 2 rows of 2^k + 1"),
        (9, torch.ones(3, 257, dtype=torch.int16), "tables: expected 2 rows of 2^k + 1"),
        (9, torch.ones(2, 257, dtype=torch.int8), "tables: expected dtype int16, got int8"),
        (10, 16, "cell_bits: expected 0 to 15, got 16"),
        (11, -1, "output_multiplier"),
        (12, -1, "output_shift: expected -31 to -2, got -1"),
        (12, -32, "output_shift: expected -31 to -2, got -32"),
        (13, 128, "output_min"),
        (14, 1, "output_min"),
        (17, torch.ones(3, 4, 5, dtype=torch.int8), "shape"),
        (18, torch.ones(4, 7, dtype=torch.int16), "shape"),
        (18, torch.ones(4, 6, dtype=torch.int32), "cell and out1"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    kernels: Kernels, kind: str, changed: int, value: Any, named: str
) -> None:
    given = arguments(kind, (3, 4, 5, 6))
    given[13] = 0
    whole = [*given, *outs(given)]
    untouched = [each.clone() for each in whole[17:]]
    if isinstance(value, int) and isinstance(whole[changed], torch.Tensor):
        whole[changed][0] = value
    else:
        whole[changed] = value
    with pytest.raises(KernelRefused) as refused:
        kernels.run(f"rushlight::quantized_{kind}.out", whole)
    assert named in str(refused.value)
    if changed < 17:
        assert all(map(torch.equal, whole[17:], untouched)), "nothing is written before"


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_are_proven_may_not_be_written_over(kernels: Kernels, kind: str) -> None:
    given = arguments(kind, (1, 1, 4, 4))
    result = outs(given)
    result[1] = given[7].view(torch.int16)[:4].reshape(1, 4)
    with pytest.raises(KernelRefused, match="bias"):
        kernels.run(f"rushlight::quantized_{kind}.out", [*given, *result])


def test_tables_are_near_the_functions() -> None:
    x = np.arange(-32768, 32768) / 2**GATE_FRACTION
    for table, exact in zip(tables(), (1 / (1 + np.exp(-x)), np.tanh(x)), strict=True):
        knots = np.linspace(-8, 8, len(table))
        assert np.abs(np.interp(x, knots, table / 2**FRACTION) - exact).max() < 4.1e-4


@pytest.mark.parametrize(("largest", "bits"), [(0.0, 15), (0.9, 15), (1.0, 14), (3.9, 13), (1e9, 0)])
def test_a_cell_has_as_many_bits_as_fit(largest: float, bits: int) -> None:
    assert cell_bits(largest) == bits


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_those_of_the_float_layer(kernels: Kernels, kind: str) -> None:
    """Weights that int8 holds exactly, in steps of the hidden state: only each step is rounded."""
    torch.manual_seed(0)
    steps, features, units = 40, 12, 24
    given = arguments(kind, (steps, 2, features, units), bits=13)
    made = outs(given)
    given[1].fill_(given[13])
    given[2].zero_()
    kernels.run(f"rushlight::quantized_{kind}.out", [*given, *made])
    layer = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[kind](features, units, dtype=torch.float64)
    half, unit = 2.0 ** (given[8] - 1), 2.0 ** -(given[8] + GATE_FRACTION)
    real = [given[i + 3].double() * given[i + 5].double()[:, None] * unit for i in (0, 1)]
    with torch.no_grad():
        starts = (given[7].double() - half) * unit
        rows = [starts, torch.zeros_like(starts)]
        if kind == "gru":
            rows = [starts[: 3 * units], torch.cat([torch.zeros(2 * units), starts[3 * units :]])]
        # The input is the integers themselves; the zero point of the hidden state is in the bias.
        point, scale = given[13], 1 / 120
        hidden = real[1] / scale
        shift = real[1].sum(1) * point
        if kind == "gru":
            rows = [
                rows[0] + torch.cat([shift[: 2 * units], torch.zeros(units)]),
                rows[1] + torch.cat([torch.zeros(2 * units), shift[2 * units :]]),
            ]
        else:
            rows[0] = rows[0] + shift
        for parameter, value in zip(layer.parameters(), [real[0], hidden, *rows], strict=True):
            parameter.copy_(value)
        expected = layer(given[0].double())[0] / scale + point
    difference = (made[0].double() - expected.clamp(-128, 127)).abs()
    assert difference.mean() < 0.6 and difference.max() < 6
