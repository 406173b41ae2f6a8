# SPDX-License-Identifier: BSD-3-Clause
"""Operators that only rushlight's runtime has; programs for the official one are made without. Those called
`_act` are an operator with what comes after it: activation(op(...) + residual)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

NAMESPACE = "rushlight"

_AFTER = "Tensor? residual, str activation, float low, float high"
_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
_LIBRARY.define(
    "convolution_act(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
    f"SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, {_AFTER}) -> Tensor"
)
_LIBRARY.define(f"linear_act(Tensor input, Tensor weight, Tensor? bias, {_AFTER}) -> Tensor")

_LIBRARY.define("rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, float eps) -> Tensor")

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


def _rms_norm(input: torch.Tensor, sizes: list[int], weight: torch.Tensor | None, eps: float) -> torch.Tensor:
    return functional.rms_norm(input, sizes, weight, eps)


for _name, _function in (
    ("convolution_act", _convolution_act),
    ("linear_act", _linear_act),
    ("rms_norm", _rms_norm),
):
    _LIBRARY.impl(_name, _function, "CompositeExplicitAutograd")

convolution_act = torch.ops.rushlight.convolution_act.default
linear_act = torch.ops.rushlight.linear_act.default
rms_norm = torch.ops.rushlight.rms_norm.default
