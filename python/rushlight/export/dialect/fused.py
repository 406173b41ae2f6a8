# SPDX-License-Identifier: BSD-3-Clause
"""Fused float operators that only rushlight's runtime has; programs for the official runtime do not use them.
The operators with the suffix `_act` compute activation(op(...) + residual). Their overload `clamp`
supports bounds only (infinite ones too), so that a program that needs no other activation does not link
the others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional

NAMESPACE = "rushlight"

_CONVOLUTION = (
    "Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
    "bool transposed, SymInt[] output_padding, SymInt groups"
)
_LINEAR = "Tensor input, Tensor weight, Tensor? bias"
_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
for _name, _arguments in (("convolution_act", _CONVOLUTION), ("linear_act", _LINEAR)):
    _after = f"{_arguments}, Tensor? residual"
    _LIBRARY.define(f"{_name}({_after}, str activation, float low, float high) -> Tensor")
    _LIBRARY.define(f"{_name}.clamp({_after}, float low, float high) -> Tensor")
_LIBRARY.define("rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, float eps) -> Tensor")
_LIBRARY.define(
    "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, "
    "bool ceil_mode=False) -> Tensor"
)

_LIBRARY.define(
    "lstm(Tensor gates, Tensor hidden, Tensor cell, Tensor weight, bool reverse) -> (Tensor, Tensor, Tensor)"
)
_LIBRARY.define(
    "gru(Tensor gates, Tensor hidden, Tensor weight, Tensor? bias, bool reverse) -> (Tensor, Tensor)"
)
for _name in ("rnn_tanh", "rnn_relu"):
    _LIBRARY.define(f"{_name}(Tensor gates, Tensor hidden, Tensor weight, bool reverse) -> (Tensor, Tensor)")

_ACTIVATIONS: dict[str, Callable[[torch.Tensor, float, float], torch.Tensor]] = {
    "none": lambda x, low, high: x,
    "clamp": torch.clamp,
    "leaky_relu": lambda x, low, high: functional.leaky_relu(x, low),
    "hardsigmoid": lambda x, low, high: functional.hardsigmoid(x),
    "hardswish": lambda x, low, high: functional.hardswish(x),
    "sigmoid": lambda x, low, high: torch.sigmoid(x),
    "silu": lambda x, low, high: functional.silu(x),
    "tanh": lambda x, low, high: torch.tanh(x),
    "gelu": lambda x, low, high: functional.gelu(x),
    "gelu_tanh": lambda x, low, high: functional.gelu(x, approximate="tanh"),
}


def _finished(
    plain: torch.Tensor, residual: torch.Tensor | None, activation: str, low: float, high: float
) -> torch.Tensor:
    return _ACTIVATIONS[activation](plain if residual is None else plain + residual, low, high)


def _convolution_act(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, *rest: Any
) -> torch.Tensor:
    return _finished(torch.ops.aten.convolution(input, weight, bias, *rest[:6]), *rest[6:])


def _linear_act(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, *rest: Any
) -> torch.Tensor:
    return _finished(functional.linear(input, weight, bias), *rest)


def _convolution_clamp(*arguments: Any) -> torch.Tensor:
    return _convolution_act(*arguments[:10], "clamp", *arguments[10:])


def _linear_clamp(*arguments: Any) -> torch.Tensor:
    return _linear_act(*arguments[:4], "clamp", *arguments[4:])


def _rms_norm(input: torch.Tensor, sizes: list[int], weight: torch.Tensor | None, eps: float) -> torch.Tensor:
    return functional.rms_norm(input, sizes, weight, eps)


def _max_pool2d(*arguments: Any) -> torch.Tensor:
    largest: torch.Tensor = torch.ops.aten.max_pool2d_with_indices(*arguments)[0]
    return largest


def _steps(
    gates: torch.Tensor, states: tuple[torch.Tensor, ...], reverse: bool, step: Callable[..., Any]
) -> tuple[torch.Tensor, ...]:
    """The hidden states of all steps, and the last states. `step(gates, *states)` returns the next states,
    the hidden one first."""
    outputs = []
    for each in gates.flip(0) if reverse else gates:
        states = step(each, *states)
        outputs.append(states[0])
    output = torch.stack(outputs) if outputs else gates.new_empty(0, *states[0].shape)
    return output.flip(0) if reverse else output, *(state.clone() for state in states)


def _lstm(
    gates: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor, weight: torch.Tensor, reverse: bool
) -> tuple[torch.Tensor, ...]:
    def step(
        given: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        inner, forget, candidate, out = functional.linear(hidden, weight).add(given).chunk(4, 1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(inner) * torch.tanh(candidate)
        return torch.sigmoid(out) * torch.tanh(cell), cell

    return _steps(gates, (hidden, cell), reverse, step)


def _gru(
    gates: torch.Tensor, hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, reverse: bool
) -> tuple[torch.Tensor, ...]:
    def step(given: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor]:
        reset, update, candidate = given.chunk(3, 1)
        of_reset, of_update, of_candidate = functional.linear(hidden, weight).chunk(3, 1)
        inner = of_candidate if bias is None else of_candidate + bias
        new = torch.tanh(candidate + torch.sigmoid(reset + of_reset) * inner)
        return (new + torch.sigmoid(update + of_update) * (hidden - new),)

    return _steps(gates, (hidden,), reverse, step)


def _rnn(
    function: Callable[[torch.Tensor], torch.Tensor],
    gates: torch.Tensor,
    hidden: torch.Tensor,
    weight: torch.Tensor,
    reverse: bool,
) -> tuple[torch.Tensor, ...]:
    def step(given: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor]:
        return (function(given + functional.linear(hidden, weight)),)

    return _steps(gates, (hidden,), reverse, step)


def _lstm_shapes(
    gates: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor, weight: torch.Tensor, reverse: bool
) -> tuple[torch.Tensor, ...]:
    return *_shapes(gates, hidden), torch.empty_like(cell)


def _shapes(gates: torch.Tensor, hidden: torch.Tensor, *_rest: Any) -> tuple[torch.Tensor, ...]:
    return gates.new_empty(gates.shape[0], *hidden.shape), torch.empty_like(hidden)


for _name, _function in (
    ("convolution_act", _convolution_act),
    ("convolution_act.clamp", _convolution_clamp),
    ("linear_act", _linear_act),
    ("linear_act.clamp", _linear_clamp),
    ("rms_norm", _rms_norm),
    ("max_pool2d", _max_pool2d),
    ("lstm", _lstm),
    ("gru", _gru),
    ("rnn_tanh", partial(_rnn, torch.tanh)),
    ("rnn_relu", partial(_rnn, torch.relu)),
):
    _LIBRARY.impl(_name, _function, "CompositeExplicitAutograd")

# The output's shape depends on gates and hidden alone: tracing needs no loop over the steps.
torch.library.register_fake(f"{NAMESPACE}::lstm", _lstm_shapes)
for _name in ("gru", "rnn_tanh", "rnn_relu"):
    torch.library.register_fake(f"{NAMESPACE}::{_name}", _shapes)

convolution_act = torch.ops.rushlight.convolution_act.default
convolution_clamp = torch.ops.rushlight.convolution_act.clamp
linear_act = torch.ops.rushlight.linear_act.default
linear_clamp = torch.ops.rushlight.linear_act.clamp
max_pool2d = torch.ops.rushlight.max_pool2d.default
rms_norm = torch.ops.rushlight.rms_norm.default
lstm = torch.ops.rushlight.lstm.default
gru = torch.ops.rushlight.gru.default
rnn_tanh = torch.ops.rushlight.rnn_tanh.default
rnn_relu = torch.ops.rushlight.rnn_relu.default
