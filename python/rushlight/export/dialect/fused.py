# SPDX-License-Identifier: BSD-3-Clause
"""Fused float operators that only rushlight's runtime has; programs for the official runtime do not use them.
The operators with the suffix `_act` compute activation(op(...) + residual). Their overload `clamp`
supports bounds only (infinite ones too), so that a program that needs no other activation does not link
the others."""

from __future__ import annotations

from collections.abc import Callable
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


def _lstm(
    gates: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor, weight: torch.Tensor, reverse: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    outputs = []
    for step in gates.flip(0) if reverse else gates:
        inner, forget, candidate, out = functional.linear(hidden, weight).add(step).chunk(4, 1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(inner) * torch.tanh(candidate)
        hidden = torch.sigmoid(out) * torch.tanh(cell)
        outputs.append(hidden)
    output = torch.stack(outputs) if outputs else gates.new_empty(0, *hidden.shape)
    return output.flip(0) if reverse else output, hidden.clone(), cell.clone()


def _lstm_shapes(
    gates: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor, weight: torch.Tensor, reverse: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    output = gates.new_empty(gates.shape[0], *hidden.shape)
    return output, torch.empty_like(hidden), torch.empty_like(cell)


for _name, _function in (
    ("convolution_act", _convolution_act),
    ("convolution_act.clamp", _convolution_clamp),
    ("linear_act", _linear_act),
    ("linear_act.clamp", _linear_clamp),
    ("rms_norm", _rms_norm),
    ("max_pool2d", _max_pool2d),
    ("lstm", _lstm),
):
    _LIBRARY.impl(_name, _function, "CompositeExplicitAutograd")

# The output's shape depends on gates and hidden alone: tracing needs no loop over the steps.
torch.library.register_fake(f"{NAMESPACE}::lstm", _lstm_shapes)

convolution_act = torch.ops.rushlight.convolution_act.default
convolution_clamp = torch.ops.rushlight.convolution_act.clamp
linear_act = torch.ops.rushlight.linear_act.default
linear_clamp = torch.ops.rushlight.linear_act.clamp
max_pool2d = torch.ops.rushlight.max_pool2d.default
rms_norm = torch.ops.rushlight.rms_norm.default
lstm = torch.ops.rushlight.lstm.default
