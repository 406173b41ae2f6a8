# SPDX-License-Identifier: BSD-3-Clause
"""The checks that loaders and kernels make on calls that conversion reads or removes: a program that fails at
run time must not be converted to one that works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rushlight.codegen.schema import Argument
from rushlight.integers.names import DEQUANTIZE, QUANTIZE
from rushlight.lowered.instructions import Call, TensorOperand
from rushlight.program.dtypes import NAMES, NUMBERS
from rushlight.program.model import Kind

_PER_CHANNEL = "quantized_decomposed::dequantize_per_channel"
_CLAMPS = ("aten::relu", "aten::hardtanh", "aten::hardsigmoid", "aten::clamp")
_MAKERS = (
    "aten::convolution", "aten::addmm", "aten::mm", "aten::linear", "aten::mean", "aten::avg_pool2d",
    "aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d", "aten::add", "aten::sub", "aten::mul",
    "aten::div", "aten::avg_pool3d", "aten::upsample_bilinear2d", "aten::native_layer_norm",
    "aten::native_group_norm", "aten::pow", "aten::rsqrt",
)  # fmt: skip


_PLAIN = (Kind.INT, Kind.BOOL, Kind.DOUBLE)
_LISTS = {"float": Kind.DOUBLE_LIST, "bool": Kind.BOOL_LIST}


def fits(argument: Argument, kind: Kind) -> bool:
    """True if an argument accepts a value of that kind and would be written back with the same kind."""
    if kind is Kind.NONE and argument.optional:
        return True
    if argument.is_list and argument.base == "Tensor":
        return kind is (Kind.OPTIONAL_TENSOR_LIST if argument.optional_items else Kind.TENSOR_LIST)
    if argument.is_list:
        return kind is _LISTS.get(argument.base, Kind.INT_LIST)
    if argument.base in ("Tensor", "float"):
        return kind is (Kind.TENSOR if argument.base == "Tensor" else Kind.DOUBLE)
    return kind in (*_PLAIN, Kind.STRING, Kind.NONE) or argument.base == "Any"


def hold(call: Call) -> bool:
    """True if a call has dtypes and sizes that its kernel accepts, as far as the rules do not check them."""
    name = call.row.partition(".")[0]
    given = {kind.name: each for kind, each in zip(call.kinds, call.arguments, strict=True)}
    result = call.results[0] if call.results else None
    if not isinstance(result, TensorOperand):
        return True
    match name:
        case _ if name in (QUANTIZE, DEQUANTIZE):
            return _quantization_holds(name, given, result)
        case _ if name == _PER_CHANNEL:
            return _per_channel_holds(given, result)
        case _ if name in _CLAMPS:
            return _same(given["self"], result) and given["self"].dtype == result.dtype
        case _ if name in _MAKERS:
            return _floats_hold(call, result)
    return True


def _same(a: Any, b: Any) -> bool:
    """True if two tensors have the same shape and dim order in every execution. For a dynamic shape only the
    bounds can be compared."""
    both = isinstance(a, TensorOperand) and isinstance(b, TensorOperand)
    return both and (a.sizes, a.dim_order, a.is_dynamic) == (b.sizes, b.dim_order, b.is_dynamic)


def _quantization_holds(name: str, given: Mapping[str, Any], result: TensorOperand) -> bool:
    source = given["input"]
    integers, floats = (result, source) if name == QUANTIZE else (source, result)
    dtype = given["dtype"]
    plain = floats.dtype == "float32" and given.get("out_dtype") in (None, NUMBERS["float32"])
    return _same(source, result) and _range_holds(given, integers.dtype, dtype) and plain


def _per_channel_holds(given: Mapping[str, Any], result: TensorOperand) -> bool:
    source, points = given["input"], given["zero_points"]
    axis = given["axis"]
    if not (_same(source, result) and isinstance(axis, int) and 0 <= axis < len(source.sizes)):
        return False
    counts = (source.sizes[axis],)
    per_channel = given["scales"].sizes == counts and (points is None or points.sizes == counts)
    known = points is None or points.dtype in ("int32", "int64")
    known = known and given.get("out_dtype") in (None, NUMBERS["float32"])
    return (
        per_channel
        and known
        and _range_holds(given, source.dtype, given["dtype"])
        and result.dtype == given["scales"].dtype == "float32"
    )


def _range_holds(given: Mapping[str, Any], dtype: str, number: Any) -> bool:
    """True if `number` is the dtype's, and the quantized range is within the dtype's."""
    low, high = given["quant_min"], given["quant_max"]
    if not (isinstance(number, int) and isinstance(low, int) and isinstance(high, int)):
        return False
    if NAMES.get(number) != dtype or dtype not in ("int8", "uint8", "int16", "uint16", "int32"):
        return False
    limits = np.iinfo(dtype)
    return bool(limits.min <= low <= high <= limits.max)


def _floats_hold(call: Call, result: TensorOperand) -> bool:
    tensors = [each for each in call.arguments if isinstance(each, TensorOperand)]
    return all(each.dtype == result.dtype for each in tensors)
