# SPDX-License-Identifier: BSD-3-Clause
"""The rules' interface to a graph: calls of operators, and the values between them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rushlight.integers.names import DEQUANTIZE

Array = NDArray[Any]
Value = Any
"""A tensor of the graph: hashable, compared with ==."""


class Call(Protocol):
    """A call of an operator."""

    @property
    def operator(self) -> str:
        """The operator's name without overload: "aten::convolution"."""

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments by name in the schema's order, including defaults: values, scalars, lists, strings or
        None."""

    @property
    def result(self) -> Value:
        """The value that the call returns."""


class Graph(Protocol):
    """A graph that rules can read and rewrite."""

    def calls(self) -> Sequence[Call]:
        """All calls, in order of execution."""

    def maker(self, value: Value) -> Call | None:
        """The call that returns a value; None for inputs and constants."""

    def is_present(self, call: Call) -> bool:
        """True if the graph still has the call. A call without readers is removed with its last reader."""

    def inputs(self, call: Call) -> Sequence[Value]:
        """The values that a call reads, without duplicates."""

    def results(self, call: Call) -> Sequence[Value | None]:
        """The tensors that a call returns, up to the last one that is read; None for tensors before it
        without readers."""

    def is_pointwise(self, call: Call) -> bool:
        """True if the call only computes each element of its single result from the input elements at the
        same index."""

    def readers(self, value: Value) -> Sequence[Call]:
        """The calls that read a value."""

    def is_output(self, value: Value) -> bool:
        """True if the value is an output of the graph, or something other than a call reads it."""

    def constant(self, value: Value) -> Array | None:
        """The elements of a constant; None for other values."""

    def dtype(self, value: Value) -> str:
        """The name of the dtype: "int8"."""

    def is_tensor(self, value: Any) -> bool:
        """True if an argument is a tensor of the graph."""

    def sizes(self, value: Value) -> tuple[Any, ...]:
        """The sizes, as ints if they are static."""

    def can_call(self, operator: str, dtype: str) -> bool:
        """True if the runtime has an operator for that dtype."""

    def replace(self, last: Call, operator: str, arguments: Mapping[str, Any]) -> None:
        """Replaces the result of `last` by a call of another operator, with the same sizes and dtype. Arrays
        among the arguments become constants, named after the first argument that is a constant."""

    def can_repeat(self, call: Call, dtype: str) -> bool:
        """True if the runtime has the call's operator for that dtype."""

    def repeat(self, call: Call, changes: Mapping[str, Any], dtype: str) -> Sequence[Value | None]:
        """Inserts a copy of a call before it, with some arguments changed. Returns its results; float results
        get the given dtype."""

    def substitute(self, old: Value, new: Value) -> None:
        """Makes all readers of `old`, and the graph's outputs, read `new`, which must be computed earlier."""

    def compute(self, call: Call, known: Mapping[Value, Array]) -> Array | None:
        """The result of a pointwise call for these inputs and the constants; None if it cannot be
        evaluated."""

    def insert(
        self, before: Call, operator: str, arguments: Mapping[str, Any], like: Value, dtype: str
    ) -> Value:
        """Inserts a call before another one and returns its result, which has the sizes of `like`."""


@dataclass(frozen=True)
class Quantized:
    """A tensor of integers and its quantization: real = (integer - zero_point) * scale."""

    value: Value
    scale: float
    zero_point: int
    low: int
    high: int
    dtype: str


def has_one_reader(graph: Graph, value: Value) -> bool:
    """True if exactly one call reads the value, once, and it is no output."""
    return len(graph.readers(value)) == 1 and not graph.is_output(value)


def dequantized(graph: Graph, value: Value) -> Quantized | None:
    """The quantized tensor from which a value is dequantized, per tensor; None if it is not."""
    call = graph.maker(value)
    if call is None or call.operator != DEQUANTIZE:
        return None
    return quantization(call)


def quantization(call: Call) -> Quantized | None:
    """The parameters of a per-tensor quantize or dequantize call; None unless the scale is finite and above 0
    and the others are 32-bit integers."""
    given = call.arguments
    scale, zero_point = given.get("scale"), given.get("zero_point")
    low, high = given.get("quant_min"), given.get("quant_max")
    if not isinstance(scale, (int, float)) or not all(isinstance(n, int) for n in (zero_point, low, high)):
        return None
    integers = (int(zero_point or 0), int(low or 0), int(high or 0))
    if not 0 < scale < math.inf or not all(-(2**31) <= each < 2**31 for each in integers):
        return None
    return Quantized(given["input"], float(scale), int(zero_point or 0), int(low or 0), int(high or 0), "")


@dataclass(frozen=True)
class Weights:
    """Constant integers with one scale per element of the first dimension, or one for all."""

    value: Value
    numbers: Array
    scales: Array


def weights(graph: Graph, value: Value, axis: int = 0) -> Weights | None:
    """The constant from which a value is dequantized, if it is int8, its zero points are 0 and its scales are
    along `axis`; else None."""
    call = graph.maker(value)
    if call is None:
        return None
    numbers = graph.constant(call.arguments.get("input"))
    if numbers is None or numbers.dtype != np.int8 or not axis < numbers.ndim:
        return None
    if call.operator == DEQUANTIZE:
        found = quantization(call)
        if found is None or found.zero_point != 0:
            return None
        return Weights(call.arguments["input"], numbers, np.array([found.scale], np.float64))
    if call.operator != "quantized_decomposed::dequantize_per_channel":
        return None
    scales = graph.constant(call.arguments.get("scales"))
    points = call.arguments.get("zero_points")
    known = graph.constant(points) if points is not None else np.zeros(1)
    if scales is None or known is None or known.any() or call.arguments.get("axis") != axis:
        return None
    if scales.shape != (numbers.shape[axis],) or scales.dtype.kind != "f":
        return None
    return Weights(call.arguments["input"], numbers, scales.astype(np.float64))
