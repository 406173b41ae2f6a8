# SPDX-License-Identifier: BSD-3-Clause
"""The work of one operator call: floating-point operations, and bytes read and written."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rushlight.program.model import KernelCall, Method, TensorInfo, Value

Shapes = Sequence[tuple[int, ...] | None]


@dataclass(frozen=True)
class Cost:
    """Operations (a multiplication and an addition count as two; 0 if the call only moves data) and bytes."""

    flops: float
    bytes: int


def _convolution(shapes: Shapes, out: tuple[int, ...], transposed: bool) -> float:
    x, weight = shapes[0], shapes[1]
    assert x is not None and weight is not None
    return 2.0 * math.prod(x if transposed else out) * math.prod(weight[1:])


def _attention(shapes: Shapes, out: tuple[int, ...]) -> float:
    query, key = shapes[0], shapes[1]
    assert query is not None and key is not None
    return 2.0 * math.prod(query) * key[-2] + 2.0 * math.prod(out) * key[-2]


def _product(position: int) -> Callable[[Shapes, tuple[int, ...]], float]:
    """Operations of a product whose sums are as long as the last dimension of the argument at `position`."""

    def count(shapes: Shapes, out: tuple[int, ...]) -> float:
        left = shapes[position]
        assert left is not None
        return 2.0 * math.prod(out) * left[-1]

    return count


_FLOPS: dict[str, Callable[[Shapes, tuple[int, ...]], float]] = {
    "mm": _product(0), "bmm": _product(0), "mv": _product(0), "dot": _product(0), "linear": _product(0),
    "linear_act": _product(0), "addmm": _product(1), "baddbmm": _product(1), "addmv": _product(1),
    "scaled_dot_product_attention": _attention,
}  # fmt: skip


def _name(operator: str) -> str:
    """The short name: mm for "aten::mm.out"."""
    return operator.partition("::")[2].partition(".")[0]


def _shape(value: Value) -> tuple[int, ...] | None:
    return value.data.sizes if isinstance(value.data, TensorInfo) else None


def cost_of(method: Method, call: KernelCall) -> Cost:
    """The cost of a call with the shapes in the program."""
    values = [method.values[index] for index in call.arguments]
    name, flops = _name(method.operators[call.operator]), 0.0
    # An embedding reads only the selected rows: as many bytes as it writes.
    moved = [call.arguments[-1] if name == "embedding" else call.arguments[0], *call.arguments[1:]]
    bytes_of = {i: sum(tensor.nbytes for tensor in method.tensors_of(method.values[i])) for i in moved}
    count = sum(bytes_of.values()) + (bytes_of[call.arguments[-1]] if name == "embedding" else 0)
    shapes, out = [_shape(value) for value in values], _shape(values[-1]) or ()
    if name.startswith("convolution"):
        flops = _convolution(shapes, out, values[6].data is True)
    elif name in _FLOPS:
        flops = _FLOPS[name](shapes, out)
    return Cost(flops, count)


def shapes_of(method: Method, call: KernelCall) -> str:
    """The tensors of a call, as in "1x8x8 4x8 → 1x8x4"."""
    *inputs, out = [method.values[index] for index in call.arguments]

    def shown(value: Value) -> str:
        return ",".join("x".join(map(str, tensor.sizes)) or "()" for tensor in method.tensors_of(value))

    outputs = {call.arguments[-1]}
    given = [shown(v) for v, i in zip(inputs, call.arguments, strict=False) if i not in outputs]
    return f"{' '.join(text for text in given if text)} → {shown(out)}"
