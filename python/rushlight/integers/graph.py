# SPDX-License-Identifier: BSD-3-Clause
"""What rules see of a graph: calls of operators, and the values between them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Value = Any
"""A tensor of the graph. Two are the same where they are equal; it is hashable."""


QUANTIZE = "quantized_decomposed::quantize_per_tensor"
DEQUANTIZE = "quantized_decomposed::dequantize_per_tensor"


class Call(Protocol):
    """A call of an operator that returns one tensor."""

    @property
    def operator(self) -> str:
        """Its name without an overload: "aten::convolution"."""

    @property
    def arguments(self) -> Mapping[str, Any]:
        """By the names of the operator's schema and in its order, defaults too: values, numbers, lists,
        strings or None."""

    @property
    def result(self) -> Value:
        """What it returns."""


class Graph(Protocol):
    """A graph that rules may change."""

    def calls(self) -> Sequence[Call]:
        """All calls, in the order of execution."""

    def maker(self, value: Value) -> Call | None:
        """The call that returns a value; None for inputs and constants."""

    def is_there(self, call: Call) -> bool:
        """Whether the graph still has the call: one that nothing reads any more goes with the last reader."""

    def inputs(self, call: Call) -> Sequence[Value]:
        """The values that a call reads, each once."""

    def results(self, call: Call) -> Sequence[Value | None]:
        """The tensors that a call of any operator returns, without those behind the last that is read; None
        for others that nothing reads."""

    def is_pointwise(self, call: Call) -> bool:
        """Whether the call does nothing but compute each element of its one result from the elements of its
        inputs at that index."""

    def readers(self, value: Value) -> Sequence[Call]:
        """The calls that read a value."""

    def is_output(self, value: Value) -> bool:
        """Whether the graph puts a value out, or something that is no call reads it."""

    def constant(self, value: Value) -> Array | None:
        """The elements of a constant; None for other values."""

    def dtype(self, value: Value) -> str:
        """The dtype's name: "int8"."""

    def is_tensor(self, value: Any) -> bool:
        """Whether an argument is a tensor of the graph."""

    def sizes(self, value: Value) -> tuple[Any, ...]:
        """The sizes, numbers where they are known."""

    def can_call(self, operator: str, dtype: str) -> bool:
        """Whether the runtime has an operator with such tensors."""

    def replace(self, last: Call, operator: str, arguments: Mapping[str, Any]) -> None:
        """Let a call of another operator compute what `last` returned, with the same sizes and dtype. Arrays
        among the arguments become constants, named after the first value that is one."""

    def can_repeat(self, call: Call, dtype: str) -> bool:
        """Whether the runtime has the call's operator with tensors of that dtype."""

    def repeat(self, call: Call, changes: Mapping[str, Any], dtype: str) -> Sequence[Value | None]:
        """Before a call another one of its operator, with some arguments changed. Its results are those of
        the call, and of the dtype where those are of floats."""

    def substitute(self, old: Value, new: Value) -> None:
        """Let whatever reads `old`, the graph's outputs too, read `new`, which exists before."""

    def compute(self, call: Call, known: Mapping[Value, Array]) -> Array | None:
        """What a pointwise call returns for these inputs, besides constants; None where that is not known."""

    def insert(
        self, before: Call, operator: str, arguments: Mapping[str, Any], like: Value, dtype: str
    ) -> Value:
        """A new call before another one, whose result has the sizes of `like`."""


@dataclass(frozen=True)
class Quantized:
    """A tensor of integers and what they stand for: (integer - zero_point) * scale."""

    value: Value
    scale: float
    zero_point: int
    low: int
    high: int
    dtype: str


def is_alone(graph: Graph, value: Value) -> bool:
    """Whether one call reads a value, once."""
    return len(graph.readers(value)) == 1 and not graph.is_output(value)


def dequantized(graph: Graph, value: Value) -> Quantized | None:
    """What a value is dequantized from, with one scale for all elements."""
    call = graph.maker(value)
    if call is None or call.operator != DEQUANTIZE:
        return None
    return quantization(call)


def quantization(call: Call) -> Quantized | None:
    """The numbers of a call that quantizes or dequantizes per tensor, if all are numbers that can be: a
    finite scale above 0, and integers of 32 bits."""
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
    """Constant integers with a scale for each of the first dimension's elements, or one for all."""

    value: Value
    numbers: Array
    scales: Array


def weights(graph: Graph, value: Value, axis: int = 0) -> Weights | None:
    """The constant that a value is dequantized from, if its zero points are 0 and its scales along `axis`."""
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
