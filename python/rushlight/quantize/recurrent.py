# SPDX-License-Identifier: BSD-3-Clause
"""Expands recurrent layers to linear layers and elementwise operators, which can be quantized; or to one
operator per layer and direction.

The choice compares the bytes that int8 weights save with the bytes of the unrolled steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch.fx import GraphModule, Node, Proxy
from torch.fx.node import map_arg
from torch.fx.proxy import GraphAppendingTracer

from rushlight.quantize.config import Scheme, Static
from rushlight.quantize.recurrent_layer import gru_step, lstm_step, recurrent_layer
from rushlight.quantize.scope import module_stack
from rushlight.quantize.summary import NOT_UNROLLED, TOO_LONG, Unrolled

aten = torch.ops.aten

# (input's part of the gates, state's part, state) -> state after a step. A state is a list of tensors whose
# first element is the step's output.
_Step = Callable[[Any, Any, Sequence[Any]], list[Any]]
# (input, first state, weights, order of steps, time dimension) -> (outputs in the order of the input, last
# state), for one layer and direction.
_Sequence = Callable[[Any, list[Any], Sequence[Any], range, int], tuple[Any, list[Any]]]

_ORIGIN = ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn")


# Bytes of one step in a program, with quantized activations and without: the measured growth from 5 to 15
# steps, with Static() and Dynamic().
_STEP_BYTES: dict[Any, tuple[int, int]] = {
    aten.lstm.input: (4750, 1500),
    aten.gru.input: (5260, 1570),
    aten.rnn_tanh.input: (1280, 700),
    aten.rnn_relu.input: (1280, 700),
}


@dataclass
class Expansion:
    """The result of expand_recurrent: unrolled layers, and layers that stayed whole with the reason."""

    unrolled: list[Unrolled] = field(default_factory=list)
    kept: dict[Node, str] = field(default_factory=dict)


def expand_recurrent(
    model: GraphModule,
    scheme_of: Callable[[Node], Scheme | None],
    *,
    unroll: bool | None = None,
    whole: bool = True,
) -> Expansion:
    """Expands LSTM, GRU and RNN layers and cells that have a scheme.

    Layers with packed sequences, projections, or dropout between layers in training stay unchanged. With
    `unroll` None a layer is unrolled if its steps take fewer bytes than 8-bit weights save; with False
    none is. LSTM and GRU layers that are not unrolled and have a static int8 scheme become `recurrent_layer`
    if `whole` is set; the others stay unchanged.
    """
    done = Expansion()
    for node in list(model.graph.nodes):
        scheme = scheme_of(node) if node.op == "call_function" and node.target in _EXPANSIONS else None
        if scheme is None:
            continue
        if not _can_expand(node):
            done.kept[node] = NOT_UNROLLED
        elif node.target not in _CELLS and not (_pays(node, scheme) if unroll is None else unroll):
            if whole and node.target in _WHOLE and _is_bytes(scheme):
                _inline(model, node, _WHOLE[node.target])
            else:
                done.kept[node] = TOO_LONG
        else:
            before, steps = len(model.graph.nodes), _steps(node)
            name, module = node.target._schema.name.partition("::")[2], module_stack(node)
            _inline(model, node, _EXPANSIONS[node.target])
            if steps > 1:
                grown = len(model.graph.nodes) - before
                done.unrolled.append(Unrolled(name, module[-1][0] if module else "", steps, grown))
    return done


def _steps(node: Node) -> int:
    """The number of steps over all layers and directions."""
    if node.target in _CELLS:
        return 1
    source, _, _, _, layers, _, _, both, batch_first = _arguments(node)
    length = source.meta["val"].shape[int(batch_first)]
    return int(length * layers * (2 if both else 1))


def _pays(node: Node, scheme: Scheme) -> bool:
    """True if 8-bit weights save more bytes than the steps take."""
    weights: int = sum(
        math.prod(value.shape) * (value.element_size() - 1)
        for value in (source.meta["val"] for source in _arguments(node)[2])
        if value.dim() > 1
    )
    static, other = _STEP_BYTES[node.target]
    return _steps(node) * (static if isinstance(scheme, Static) else other) < weights


def _is_bytes(scheme: Scheme) -> bool:
    return isinstance(scheme, Static) and scheme.activations == "int8"


def _can_expand(node: Node) -> bool:
    if node.target in _CELLS:
        return True
    _, _, params, biased, layers, dropout, training, both, _ = _arguments(node)
    plain = len(params) == layers * (2 if both else 1) * (4 if biased else 2)
    return bool(plain and not (training and dropout > 0))


def _arguments(node: Node) -> tuple[Any, ...]:
    return node.args


def _proxies(arguments: Any, tracer: GraphAppendingTracer) -> Any:
    """The arguments with each node replaced by a proxy."""
    if isinstance(arguments, Node):
        return Proxy(arguments, tracer)
    if isinstance(arguments, (tuple, list)):
        return [_proxies(each, tracer) for each in arguments]
    return arguments


def _inline(model: GraphModule, node: Node, function: Callable[..., Any]) -> None:
    """Replaces the node by the operators that `function` traces from the node's arguments."""
    known = set(model.graph.nodes)
    with model.graph.inserting_before(node):
        tracer = GraphAppendingTracer(model.graph)
        results = function(*_proxies(node.args, tracer))
    with node.all_input_nodes[0].meta["val"].fake_mode:
        for made in [n for n in model.graph.nodes if n not in known]:
            args, kwargs = map_arg((made.args, made.kwargs), lambda n: n.meta["val"])
            made.meta.update({key: node.meta[key] for key in _ORIGIN if key in node.meta})
            made.meta["val"] = made.target(*args, **kwargs)
    if isinstance(results, Proxy):
        node.replace_all_uses_with(results.node)
    else:
        for user in list(node.users):
            user.replace_all_uses_with(results[user.args[1]].node)
            model.graph.erase_node(user)
    model.graph.erase_node(node)


def _rnn_step(function: Any, given: Any, kept: Any, state: Sequence[Any]) -> list[Any]:
    return [function(aten.add.Tensor(given, kept))]


def _cell(step: _Step, source: Any, state: Any, w: Any, v: Any, b: Any = None, c: Any = None) -> Any:
    """One step of one layer; `w` and `b` belong to the input, `v` and `c` to the state."""
    several = isinstance(state, (tuple, list))
    states = list(state) if several else [state]
    given, kept = aten.linear.default(source, w, b), aten.linear.default(states[0], v, c)
    after = step(given, kept, states)
    return tuple(after) if several else after[0]


def _layers(
    sequence: _Sequence,
    source: Any,
    state: Any,
    params: Sequence[Any],
    biased: bool,
    layers: int,
    dropout: float,
    training: bool,
    both: bool,
    batch_first: bool,
) -> tuple[Any, ...]:
    """All layers: returns the outputs, and the stacked last states of each layer and direction."""
    several = isinstance(state, (tuple, list))
    states = list(state) if several else [state]
    time, directions, each = int(batch_first), 2 if both else 1, 4 if biased else 2
    length = source.node.meta["val"].shape[time]
    last: list[list[Any]] = []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            position = layer * directions + direction
            weights = params[position * each : (position + 1) * each]
            first = [aten.select.int(s, 0, position) for s in states]
            order = range(length)[:: -1 if direction else 1]
            shown, after = sequence(source, first, weights, order, time)
            outputs.append(shown)
            last.append(after)
        source = aten.cat.default(outputs, 2) if both else outputs[0]
    return source, *(aten.stack.default(list(column)) for column in zip(*last, strict=True))


def _in_steps(
    step: _Step, source: Any, state: list[Any], weights: Sequence[Any], order: range, time: int
) -> tuple[Any, list[Any]]:
    w, v, b, c = weights if len(weights) == 4 else (*weights, None, None)
    given = aten.linear.default(source, w, b)
    outputs: dict[int, Any] = {}
    for index in order:
        kept = aten.linear.default(state[0], v, c)
        state = step(aten.select.int(given, time, index), kept, state)
        outputs[index] = state[0]
    return aten.stack.default([outputs[index] for index in sorted(order)], time), state


def _as_one(
    kind: str, source: Any, state: list[Any], weights: Sequence[Any], order: range, time: int
) -> tuple[Any, list[Any]]:
    w, v, b, c = weights if len(weights) == 4 else (*weights, None, None)
    steps_first = aten.transpose.int(source, 0, 1) if time else source
    # A GRU has one state, used in two forms: int8 and int16.
    cell = state[1] if kind == "lstm" else aten.alias.default(state[0])
    reverse = order.step < 0
    made = recurrent_layer(kind, steps_first, state[0], cell, w, v, b, c, reverse)
    output, last, _ = made[0], made[1], made[2]
    hidden = aten.select.int(output, 0, 0 if reverse else -1)
    shown = aten.transpose.int(output, 0, 1) if time else output
    return shown, [hidden, last] if kind == "lstm" else [hidden]


_tanh_step, _relu_step = partial(_rnn_step, aten.tanh.default), partial(_rnn_step, aten.relu.default)
_CELLS: dict[Any, Callable[..., Any]] = {
    aten.lstm_cell.default: partial(_cell, lstm_step),
    aten.gru_cell.default: partial(_cell, gru_step),
    aten.rnn_tanh_cell.default: partial(_cell, _tanh_step),
    aten.rnn_relu_cell.default: partial(_cell, _relu_step),
}
_EXPANSIONS: dict[Any, Callable[..., Any]] = _CELLS | {
    aten.lstm.input: partial(_layers, partial(_in_steps, lstm_step)),
    aten.gru.input: partial(_layers, partial(_in_steps, gru_step)),
    aten.rnn_tanh.input: partial(_layers, partial(_in_steps, _tanh_step)),
    aten.rnn_relu.input: partial(_layers, partial(_in_steps, _relu_step)),
}
_WHOLE: dict[Any, Callable[..., Any]] = {
    aten.lstm.input: partial(_layers, partial(_as_one, "lstm")),
    aten.gru.input: partial(_layers, partial(_as_one, "gru")),
}
