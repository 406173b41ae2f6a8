# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites the quantizer's recurrent layers, `rushlight::recurrent_layer`, to integer operators. Program
files never contain such a layer, so this is a pass and not a rule of rushlight.integers."""

from __future__ import annotations

from collections.abc import Mapping
from operator import getitem
from typing import Any

import numpy as np
import torch
from torch.export import ExportedProgram
from torch.fx import Node

from rushlight.export.dialect.integer_recurrent import OPERATORS
from rushlight.export.frontend.decompositions import recurrent_layers
from rushlight.export.graph.nodes import copy_meta, value_of
from rushlight.export.graph.rewrite import fake_mode_of, insert_before
from rushlight.export.passes.base import Pass, PassContext
from rushlight.export.passes.compute_in_integers import FxCall, FxGraph
from rushlight.integers.graph import Array, Quantized, dequantized, weights
from rushlight.integers.names import QUANTIZE
from rushlight.integers.recurrent import Factor, Numbers, Scaled, scaled
from rushlight.integers.rules.base import Refusal, need

_RANGE = "its scales are out of range"


class RecurrentLayers(Pass):
    """Rewrites `dequantize -> recurrent_layer -> quantize` to `quantized_lstm` or `quantized_gru` if the
    runtime has it; other layers are remarked and decomposed later."""

    name = "recurrent_layers"

    def run(self, program: ExportedProgram, context: PassContext) -> bool:
        """See Pass."""
        graph, modified = FxGraph(program, context), False
        for call in graph.calls():
            node = call.node
            if node.target not in recurrent_layers():
                continue
            if context.library.find(OPERATORS[call.arguments["kind"]]) is None:
                continue
            try:
                _replace(graph, node)
                modified = True
            except Refusal as reason:
                context.remarks.append(f"{self.name}: {node.name} computes in steps: {reason}")
        if modified:
            program.graph.eliminate_dead_code()
        graph.constants.remove_unused()
        return modified


def _replace(graph: FxGraph, node: Node) -> None:
    given = FxCall(node).arguments
    results = {int(str(user.args[1])): user for user in node.users if user.target is getitem}
    need(2 not in results, "its output of largest cells is read")
    arguments, numbers = _arguments(graph, given)
    with fake_mode_of(value_of(node)):
        output, state = (torch.empty_like(each) for each in value_of(node)[:2])
        values = output.to(torch.int8), state.to(torch.int16)
    tensors = {name: _placed(graph, node, name, each) for name, each in arguments.items()}
    made = insert_before(node, OPERATORS[given["kind"]], [*tensors.values()], value=values, origin=node)
    forms = _form(numbers.scale, numbers.zero_point, numbers.low, numbers.high, torch.int8), _cell_form(given)
    for position, result in results.items():
        item = insert_before(node, getitem, (made, position), value=values[position], origin=node)
        _hand_on(result, item, forms[position])


def _placed(graph: FxGraph, node: Node, name: str, argument: Any) -> Any:
    if not isinstance(argument, np.ndarray):
        return argument
    return graph.constants.add(torch.from_numpy(np.ascontiguousarray(argument)), f"{node.name}_{name}")


def _form(scale: float, zero_point: int, low: int, high: int, dtype: torch.dtype) -> tuple[Any, ...]:
    return scale, zero_point, low, high, dtype


def _cell_form(given: Mapping[str, Any]) -> tuple[Any, ...]:
    return _form(2.0 ** -given["cell_bits"], 0, -32768, 32767, torch.int16)


def _hand_on(result: Node, item: Node, form: tuple[Any, ...]) -> None:
    """Lets quantize calls with the same parameters read the integers, and all other readers a dequantized
    copy."""
    for user in list(result.users):
        if FxCall(user).operator == QUANTIZE and tuple(user.args[1:]) == form:
            user.replace_all_uses_with(item)
    if any(user.users for user in result.users) or any(u.op == "output" for u in result.users):
        ops = torch.ops.quantized_decomposed
        real = insert_before(
            result, ops.dequantize_per_tensor.default, (item, *form), value=value_of(result), origin=result
        )
        result.replace_all_uses_with(real)
        copy_meta(result, real)


def _arguments(graph: FxGraph, given: Mapping[str, Any]) -> tuple[dict[str, Any], Quantized]:
    """The operator's arguments by name (arrays become new constants), and the quantization of the hidden
    states."""
    kind = given["kind"]
    source, hidden, cell = (dequantized(graph, given[name]) for name in ("input", "hidden", "cell"))
    need(bool(given["scale"]), "its states have no ranges")
    need(
        source is not None and hidden is not None and cell is not None, "its input or state is not quantized"
    )
    assert source is not None and hidden is not None and cell is not None
    states = Quantized(None, given["scale"], given["zero_point"], given["low"], given["high"], "int8")
    need(
        (hidden.scale, hidden.zero_point) == (states.scale, states.zero_point),
        "its first hidden state is quantized differently from its steps",
    )
    need(
        (cell.scale, cell.zero_point) == (2.0 ** -given["cell_bits"], 0),
        "its first cell is quantized differently from its steps",
    )
    dtypes = [graph.dtype(each.value) for each in (source, hidden, cell)]
    need(dtypes == ["int8", "int8", "int16"], "its input and states are not int8 and int16")
    of_input = _factor(graph, given["weight"], given["bias"], source)
    of_hidden = _factor(graph, given["hidden_weight"], given["hidden_bias"], states)
    gates = scaled(kind, of_input[1], of_hidden[1])
    numbers = Numbers.of(kind, given["cell_bits"], states.scale, states.zero_point, states.low, states.high)
    need(gates is not None and numbers is not None, _RANGE)
    assert gates is not None and numbers is not None
    tensors = {
        "input": source.value,
        "hidden": hidden.value,
        "cell": cell.value,
        "weight": of_input[0],
        "hidden_weight": of_hidden[0],
    }
    return tensors | _numbers(gates, numbers) | {"reverse": given["reverse"]}, states


def _numbers(gates: Scaled, numbers: Numbers) -> dict[str, Any]:
    return {
        "multipliers": gates.multipliers,
        "hidden_multipliers": gates.hidden_multipliers,
        "bias": gates.bias,
        "shift": gates.shift,
        "tables": numbers.tables,
        "cell_bits": numbers.cell_bits,
        "output_multiplier": numbers.multiplier,
        "output_shift": numbers.shift,
        "output_zero_point": numbers.zero_point,
        "output_min": numbers.low,
        "output_max": numbers.high,
    }


def _factor(graph: FxGraph, weight: Node, bias: Node | None, source: Quantized) -> tuple[Any, Factor]:
    """The weight's integers, and its scales, bias and input quantization."""
    found = weights(graph, weight)
    need(found is not None, "its weight is not constant int8 with one scale per row")
    assert found is not None
    real: Array | None = None
    if bias is not None:
        real = graph.constant(bias)
        need(real is not None, "its bias is not constant")
    return found.value, Factor(found.numbers, found.scales, real, source.scale, source.zero_point)
