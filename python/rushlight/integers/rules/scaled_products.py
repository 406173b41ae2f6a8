# SPDX-License-Identifier: BSD-3-Clause
"""Rules for torchao's decomposed int8 linear layers: a matrix product whose columns are multiplied with
scales. With quantized inputs it is a product of integers, and rows have scales too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rushlight.integers.graph import Array, Call, Graph, Value, has_one_reader
from rushlight.integers.rules.base import Rule, Settings
from rushlight.integers.rules.layers import Source, Weight, chosen_affine, has_kernels, replace_layer

_VIEWS = ("aten::view", "aten::reshape", "aten::flatten")
_COPIES = (*_VIEWS, "aten::_to_copy")
_QUANTIZE = "torchao::quantize_affine"
_OFFSET = 128


@dataclass(frozen=True)
class _Product:
    """A product with a weight [features, depth]; the value is a float32 matrix."""

    value: Value
    numbers: Value
    source: Source | None = None


def _through(graph: Graph, value: Value, operators: tuple[str, ...]) -> Value:
    """The value before a chain of calls of these operators."""
    call = graph.maker(value)
    while call is not None and call.operator in operators:
        value = call.arguments["self"]
        call = graph.maker(value)
    return value


def _call(graph: Graph, value: Value, operator: str, operators: tuple[str, ...] = _COPIES) -> Call | None:
    """The call of `operator` that produces a value, with the given operators in between; else None."""
    call = graph.maker(_through(graph, value, operators))
    return call if call is not None and call.operator == operator else None


def _numbers(graph: Graph, value: Value) -> Value | None:
    """The constant int8 [features, depth] whose transpose is a right factor; else None."""
    transposed = _call(graph, value, "aten::permute", ("aten::_to_copy",))
    if transposed is None or list(transposed.arguments["dims"]) != [1, 0]:
        return None
    found = graph.constant(transposed.arguments["self"])
    return transposed.arguments["self"] if found is not None and found.dtype == np.int8 else None


def _of_floats(graph: Graph, value: Value) -> _Product | None:
    """view -> mm with a float copy of the weight."""
    product = _call(graph, value, "aten::mm", _VIEWS)
    numbers = None if product is None else _numbers(graph, product.arguments["mat2"])
    if product is None or numbers is None or graph.dtype(product.result) != "float32":
        return None
    return _Product(product.arguments["self"], numbers)


def _counted(graph: Graph, value: Value) -> Call | None:
    """The call that quantized the values to which 128 was added; else None."""
    call = _call(graph, value, "aten::add")
    if call is None or call.arguments["other"] != _OFFSET:
        return None
    return _call(graph, call.arguments["self"], _QUANTIZE)


def _is_correction(graph: Graph, value: Value, weight: Value) -> bool:
    """True if a value is 128 times the sums of a weight's columns."""
    call = _call(graph, value, "aten::mul")
    if call is None or call.arguments["other"] != _OFFSET:
        return False
    total = _call(graph, call.arguments["self"], "aten::sum")
    return total is not None and (total.arguments["self"], list(total.arguments["dim"])) == (weight, [0])


def _whole_product(graph: Graph, value: Value) -> tuple[Call, Call] | None:
    """The _int_mm that an int32 matrix comes from, and the call that quantized its left factor. torchao
    writes quantize -> _int_mm; where the machine that exports has VNNI without AMX, quantize -> add 128 ->
    _int_mm -> subtract 128 times the sums of columns."""
    product = _call(graph, value, "aten::_int_mm")
    if product is not None:
        quantizer = _call(graph, product.arguments["self"], _QUANTIZE)
        return None if quantizer is None else (product, quantizer)
    less = _call(graph, value, "aten::sub")
    product = None if less is None else _call(graph, less.arguments["self"], "aten::_int_mm")
    if less is None or product is None:
        return None
    quantizer = _counted(graph, product.arguments["self"])
    if quantizer is None or not _is_correction(graph, less.arguments["other"], product.arguments["mat2"]):
        return None
    return product, quantizer


def _of_integers(graph: Graph, value: Value) -> _Product | None:
    """choose -> quantize -> a product of integers -> multiply with the scales of rows."""
    scaled = _call(graph, value, "aten::mul")
    whole = None if scaled is None else _whole_product(graph, scaled.arguments["self"])
    if scaled is None or whole is None:
        return None
    product, quantizer = whole
    numbers = _numbers(graph, product.arguments["mat2"])
    source = chosen_affine(graph, quantizer)
    if numbers is None or source is None or source.mapping != "symmetric" or not source.per_token:
        return None
    if _through(graph, scaled.arguments["other"], _COPIES) != quantizer.arguments["scale"]:
        return None
    return _Product(source.value, numbers, source)


def _column_scales(graph: Graph, value: Value, features: int) -> Array | None:
    found = graph.constant(_through(graph, value, _COPIES))
    if found is None or found.size != features or found.dtype != np.float32:
        return None
    return found.reshape(-1)


def _ends(graph: Graph, call: Call, features: int) -> list[tuple[Call, Value | None]]:
    """Candidates for the layer's last call, latest first: views of the result, and an addition of the bias,
    each with that bias."""
    ends: list[tuple[Call, Value | None]] = [(call, None)]
    while has_one_reader(graph, ends[0][0].result):
        reader = graph.readers(ends[0][0].result)[0]
        given = reader.arguments
        if reader.operator == "aten::add" and given.get("alpha", 1) == 1:
            bias = given["other"]
            if graph.is_tensor(bias) and tuple(graph.sizes(bias)) == (features,):
                ends.insert(0, (reader, bias))
            break
        if reader.operator not in _VIEWS or tuple(graph.sizes(reader.result))[-1:] != (features,):
            break
        ends.insert(0, (reader, None))
    return ends


def _input(graph: Graph, value: Value, last: Call) -> Value | None:
    """The value, or the source of its views, whichever has the rows of the result; else None."""
    rows = tuple(graph.sizes(last.result))[:-1]
    for each in (value, _through(graph, value, _VIEWS)):
        if tuple(graph.sizes(each))[:-1] == rows:
            return each
    return None


def scaled_product(graph: Graph, call: Call, settings: Settings) -> bool:
    """product -> multiply with the scales of columns -> [add a bias]."""
    given = call.arguments
    tensors = graph.is_tensor(given["other"]) and graph.is_tensor(given["self"])
    if not tensors or not has_kernels(graph):
        return False
    found = _of_floats(graph, given["self"]) or _of_integers(graph, given["self"])
    numbers = None if found is None else graph.constant(found.numbers)
    if found is None or numbers is None:
        return False
    scales = _column_scales(graph, given["other"], numbers.shape[0])
    if scales is None:
        return False
    weight = Weight(found.numbers, numbers, scales, False)
    for last, bias in _ends(graph, call, numbers.shape[0]):
        value = _input(graph, found.value, last)
        if value is not None:
            replace_layer(graph, last, value, weight, bias, found.source)
            return True
    return False


RULES: Mapping[str, Rule] = {"aten::mul": scaled_product}
