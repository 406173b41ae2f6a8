# SPDX-License-Identifier: BSD-3-Clause
"""LSTM and GRU layers in integers, bit for bit as kernels/quantization/integer_recurrent.h computes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rushlight.integers.arithmetic import requantization
from rushlight.integers.graph import Array

GATE_FRACTION = 12
"""Fraction bits of a gate, of 16."""
FRACTION = 15
"""Fraction bits of sigmoid and tanh, of 16."""
GATES = {"lstm": 4, "gru": 3}
"""The number of gates of each kind of layer."""

_LINES = 256  # intervals of a table, which stores their ends
_MOST_SHIFT = -2


def tables() -> Array:
    """Sigmoid and tanh tables for gates, int16 [2, 257]."""
    x = np.linspace(-(2.0 ** (15 - GATE_FRACTION)), 2.0 ** (15 - GATE_FRACTION), _LINES + 1)
    both = np.stack([1 / (1 + np.exp(-x)), np.tanh(x)])
    return np.clip(np.rint(both * 2.0**FRACTION), -32767, 32767).astype(np.int16)


def cell_bits(largest: float) -> int:
    """The fraction bits of a cell with this largest magnitude: the most, up to 15, with which it fits in 16
    bits."""
    if not math.isfinite(largest):
        return 0
    return max(0, FRACTION - max(0, math.frexp(largest)[1]))


def short(numbers: Array) -> Array:
    """Saturates to 16 bits."""
    clamped: Array = np.clip(numbers, -32768, 32767)
    return clamped


def _interpolated(table: Array, numbers: Array) -> Array:
    lines = len(table) - 1
    shift = 16 - lines.bit_length() + 1
    position = numbers + 32768
    left, along = position >> shift, position & ((1 << shift) - 1)
    wide = table.astype(np.int64)
    read: Array = wide[left] + (((wide[left + 1] - wide[left]) * along + ((1 << shift) >> 1)) >> shift)
    return read


def _rounded(numbers: Array, bits: int) -> Array:
    """numbers / 2^bits, ties up."""
    return (numbers + ((1 << bits) >> 1)) >> bits


@dataclass(frozen=True)
class Numbers:
    """The constants that compute cells and results, named as the operators' arguments."""

    kind: str
    tables: Array
    cell_bits: int
    multiplier: int
    shift: int
    zero_point: int
    low: int
    high: int

    @staticmethod
    def of(kind: str, bits: int, scale: float, zero_point: int, low: int, high: int) -> Numbers | None:
        """The constants for hidden states of a scale; None if the scale is out of range."""
        fraction = 2 * FRACTION if kind == "lstm" else bits
        to = requantization(np.array([2.0**-fraction / scale]), most_shift=_MOST_SHIFT)
        if to is None or to.shifts is None:
            return None
        return Numbers(kind, tables(), bits, int(to.multipliers[0]), int(to.shifts[0]), zero_point, low, high)

    def quantized(self, numbers: Array) -> Array:
        """The quantized hidden state, int64."""
        steps = (numbers * self.multiplier + (1 << (30 - self.shift))) >> (31 - self.shift)
        made: Array = np.clip(steps + self.zero_point, self.low, self.high)
        return made

    def step(self, gates: Sequence[Array], cell: Array) -> tuple[Array, Array]:
        """The quantized hidden state and the cell after a step. A GRU passes four gates, because its
        candidate has two parts."""
        sigmoid, tanh = self.tables
        if self.kind == "gru":
            reset, update = (_interpolated(sigmoid, gate) for gate in gates[:2])
            candidate = short(gates[2] + _rounded(reset * gates[3], FRACTION))
            fresh = _rounded(_interpolated(tanh, candidate), FRACTION - self.cell_bits)
            cell = short(fresh + _rounded(update * (cell - fresh), FRACTION))
            return self.quantized(cell), cell
        taken = _interpolated(sigmoid, gates[0]) * _interpolated(tanh, gates[2])
        kept = _interpolated(sigmoid, gates[1]) * cell
        cell = short(_rounded(kept + (taken >> (FRACTION - self.cell_bits)), FRACTION))
        return self.quantized(_interpolated(sigmoid, gates[3]) * self._tanh_of(cell)), cell

    def _tanh_of(self, cell: Array) -> Array:
        drop = self.cell_bits - GATE_FRACTION
        gate = _rounded(cell, drop) if drop > 0 else short(cell << -drop)
        return _interpolated(self.tables[1], gate)


Gates = Callable[[int, Array], Sequence[Array]]
"""(step, hidden) -> the gates of the step, int64 [batch, units] each, where hidden is the quantized state
before it."""


def run(
    numbers: Numbers, gates: Gates, steps: int, hidden: Array, cell: Array, reverse: bool
) -> tuple[Array, Array]:
    """The hidden states of all steps, int64 [steps, batch, units], and the last cell."""
    made = np.empty((steps, *hidden.shape), np.int64)
    for step in range(steps)[:: -1 if reverse else 1]:
        hidden, cell = numbers.step(gates(step, hidden), cell)
        made[step] = hidden
    return made, cell


@dataclass(frozen=True)
class Scaled:
    """The constants that convert sums to gates, named as the operators' arguments."""

    multipliers: Array
    hidden_multipliers: Array
    bias: Array
    shift: int


@dataclass(frozen=True)
class Factor:
    """A weight, int8 [gates * units, depth], with one scale per row or one for all; its real bias; and the
    scale and zero point of the values that it multiplies."""

    numbers: Array
    scales: Array
    bias: Array | None
    scale: float
    zero_point: int

    def in_gates(self) -> Array:
        """The value of one unit of a row's sum, in steps of a gate."""
        rows = np.ones(len(self.numbers))
        steps: Array = self.scales.astype(np.float64) * rows * self.scale * 2.0**GATE_FRACTION
        return steps

    def start(self, multipliers: Array, shift: int) -> Array:
        """The bias minus the zero point's share of the sums, in units of 2^-shift of a gate's step."""
        sums = self.numbers.sum(1, dtype=np.int64) * -self.zero_point
        real = np.zeros(len(self.numbers)) if self.bias is None else self.bias.astype(np.float64)
        made: Array = sums * multipliers + np.rint(real * 2.0 ** (GATE_FRACTION + shift)).astype(np.int64)
        return made


MOST_DEPTH = 1 << 14


def scaled(kind: str, of_input: Factor, of_hidden: Factor) -> Scaled | None:
    """The constants for the gates; None if a scale or a bias is out of range."""
    if max(of_input.numbers.shape[1], of_hidden.numbers.shape[1]) > MOST_DEPTH:
        return None
    scales = of_input.in_gates(), of_hidden.in_gates()
    largest = max(float(each.max(initial=0)) for each in scales)
    if not 0 < largest < math.inf:
        return None
    shift = min(62, 31 - math.frexp(largest)[1])
    real = [each.bias for each in (of_input, of_hidden) if each.bias is not None]
    top = max((float(np.abs(each).max(initial=0)) for each in real), default=0.0)
    # A bias far beyond a gate's range needs no more bits.
    while shift > 1 and top * 2.0 ** (GATE_FRACTION + shift) >= 2.0**58:
        shift -= 1
    if shift < 1 or not top * 2.0 ** (GATE_FRACTION + shift) < 2.0**58:
        return None
    multipliers, hidden = (
        np.minimum(np.rint(each * 2.0**shift), 2**31 - 1).astype(np.int64) for each in scales
    )
    starts = of_input.start(multipliers, shift), of_hidden.start(hidden, shift)
    units = len(multipliers) // GATES[kind]
    half = 1 << (shift - 1)
    if kind == "lstm":
        bias = starts[0] + starts[1] + half
    else:
        both = (starts[0] + starts[1])[: 2 * units]
        bias = np.concatenate([both, starts[0][2 * units :], starts[1][2 * units :]]) + half
    if np.abs(bias).max(initial=0) > 1 << 60:
        return None
    return Scaled(multipliers.astype(np.int32), hidden.astype(np.int32), bias, shift)
