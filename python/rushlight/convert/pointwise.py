# SPDX-License-Identifier: BSD-3-Clause
"""Pointwise functions in numpy that match the kernels' float32 results, to fill lookup tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rushlight.integers.graph import Array
from rushlight.integers.names import DEQUANTIZE, QUANTIZE

Given = Mapping[str, Any]


def compute(operator: str, given: Given) -> Array | None:
    """The result of an operator of FUNCTIONS for arrays and scalars; None for an unknown operator, a dtype
    other than float32, or an argument that is no number."""
    function = FUNCTIONS.get(operator)
    if function is None:
        return None
    with np.errstate(all="ignore"):
        try:
            found = function(given)
        except (TypeError, ValueError, OverflowError):
            return None  # arguments are no numbers or do not broadcast
    return np.asarray(found) if found is not None else None


def _float(value: Any) -> Array:
    """The value as float32; arrays must be float32 already. Errors: TypeError."""
    array = np.asarray(value)
    if isinstance(value, np.ndarray) and array.dtype != np.float32:
        raise TypeError(f"expected float32, got {array.dtype}")
    return array.astype(np.float32)


def _quantize(given: Given) -> Array:
    scale, point, low, high = (given[n] for n in ("scale", "zero_point", "quant_min", "quant_max"))
    steps = np.rint(_float(given["input"]) * np.float32(1.0 / scale)) + np.float32(point)
    # NaN quantizes to the lowest value, as in the kernel.
    bounded = np.clip(np.nan_to_num(steps, nan=low, posinf=high, neginf=low), low, high)
    result: Array = bounded.astype(_INTEGERS[given["dtype"]])
    return result


def _dequantize(given: Given) -> Array:
    if given.get("out_dtype") not in (None, _FLOAT32):
        raise TypeError("expected float32")
    steps = given["input"].astype(np.int64) - int(given["zero_point"])
    result: Array = steps.astype(np.float32) * np.float32(given["scale"])
    return result


_FLOAT32 = 6
_INTEGERS: Mapping[int, Any] = {0: np.uint8, 1: np.int8, 2: np.int16, 3: np.int32, 27: np.uint16}
"""By PyTorch's ScalarType."""


def _clamp(x: Array, low: Any, high: Any) -> Array:
    lower = x if low is None else np.maximum(x, np.float32(low))
    return lower if high is None else np.minimum(lower, np.float32(high))


def _erf(x: Array) -> Array:
    return np.array([math.erf(each) for each in x.astype(np.float64).ravel()]).reshape(x.shape)


def _gelu(given: Given) -> Array:
    x = _float(given["self"]).astype(np.float64)
    if given.get("approximate", "none") == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        wide = 0.5 * x * (1 + np.tanh(inner))
    else:
        wide = 0.5 * x * (1 + _erf(x / math.sqrt(2)))
    result: Array = wide.astype(np.float32)
    return result


def _elu(given: Given) -> Array:
    x = _float(given["self"]).astype(np.float64)
    alpha, scale, inner = (float(given[name]) for name in ("alpha", "scale", "input_scale"))
    below = np.expm1(np.minimum(x, 0) * inner) * alpha * scale
    return np.where(x <= 0, below, x * scale).astype(np.float32)


def _wide(function: Callable[[Array], Array]) -> Callable[[Given], Array]:
    """A function computed in float64 and rounded once to float32."""
    return lambda given: function(_float(given["self"]).astype(np.float64)).astype(np.float32)


def _sigmoid(x: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-x))
    return result


def _hard(x: Array) -> Array:
    result: Array = np.clip(x + 3, 0, 6) / 6
    return result


def _two(function: Callable[[Array, Array], Array]) -> Callable[[Given], Array]:
    return lambda given: function(_float(given["self"]), _float(given["other"]))


def _added(sign: int) -> Callable[[Given], Array]:
    def added(given: Given) -> Array:
        factor = np.float32(sign * given.get("alpha", 1))
        result: Array = _float(given["self"]) + factor * _float(given["other"])
        return result

    return added


def _divided(given: Given) -> Array:
    if given.get("rounding_mode") is not None:
        raise TypeError("expected no rounding mode")
    result: Array = _float(given["self"]) / _float(given["other"])
    return result


def _powered(given: Given) -> Array:
    base, exponent = (_float(given[name]).astype(np.float64) for name in ("self", "exponent"))
    return np.power(base, exponent).astype(np.float32)


FUNCTIONS: Mapping[str, Callable[[Given], Array]] = {
    QUANTIZE: _quantize,
    DEQUANTIZE: _dequantize,
    "aten::abs": lambda given: np.abs(_float(given["self"])),
    "aten::add": _added(1),
    "aten::clamp": lambda given: _clamp(_float(given["self"]), given["min"], given["max"]),
    "aten::cos": _wide(np.cos),
    "aten::div": _divided,
    "aten::elu": _elu,
    "aten::erf": _wide(_erf),
    "aten::exp": _wide(np.exp),
    "aten::gelu": _gelu,
    "aten::hardsigmoid": _wide(_hard),
    "aten::hardswish": _wide(lambda x: x * _hard(x)),
    "aten::hardtanh": lambda given: _clamp(_float(given["self"]), given["min_val"], given["max_val"]),
    "aten::leaky_relu": lambda given: np.where(
        _float(given["self"]) > 0, given["self"], given["self"] * np.float32(given["negative_slope"])
    ),
    "aten::log": _wide(np.log),
    "aten::log10": _wide(np.log10),
    "aten::log1p": _wide(np.log1p),
    "aten::log2": _wide(np.log2),
    "aten::maximum": _two(np.maximum),
    "aten::minimum": _two(np.minimum),
    "aten::mul": _two(np.multiply),
    "aten::neg": lambda given: -_float(given["self"]),
    "aten::pow": _powered,
    "aten::reciprocal": lambda given: np.float32(1) / _float(given["self"]),
    "aten::relu": lambda given: np.maximum(_float(given["self"]), np.float32(0)),
    "aten::rsqrt": _wide(lambda x: 1 / np.sqrt(x)),
    "aten::sigmoid": _wide(_sigmoid),
    "aten::silu": _wide(lambda x: x * _sigmoid(x)),
    "aten::sin": _wide(np.sin),
    "aten::sqrt": _wide(np.sqrt),
    "aten::sub": _added(-1),
    "aten::tanh": _wide(np.tanh),
}
"""By the operator's name without overload; a function takes the arguments by schema name."""
