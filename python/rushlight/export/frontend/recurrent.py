# SPDX-License-Identifier: BSD-3-Clause
"""Decomposes recurrent layers to one operator for each layer and direction, independent of the number of time
steps: `rushlight::lstm`, `rushlight::gru`, `rushlight::rnn_tanh` or `rushlight::rnn_relu`. The product with
the input is a linear layer over all steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch._ops import OpOverload

from rushlight.export.dialect import fused

aten = torch.ops.aten

Tensors = Sequence[torch.Tensor]
Recurrence = Callable[[torch.Tensor, Tensors, torch.Tensor, torch.Tensor | None, bool], Tensors]
"""Gates of all steps, initial states, hidden weight and bias, reverse -> output and last states."""


def _lstm(gates: torch.Tensor, states: Tensors, weight: torch.Tensor, _bias: Any, reverse: bool) -> Tensors:
    results: Tensors = fused.lstm(gates, *states, weight, reverse)
    return results


def _gru(
    gates: torch.Tensor, states: Tensors, weight: torch.Tensor, bias: torch.Tensor | None, reverse: bool
) -> Tensors:
    results: Tensors = fused.gru(gates, *states, weight, bias, reverse)
    return results


def _rnn(
    operator: OpOverload,
    gates: torch.Tensor,
    states: Tensors,
    weight: torch.Tensor,
    _bias: Any,
    reverse: bool,
) -> Tensors:
    results: Tensors = operator(gates, *states, weight, reverse)
    return results


def _sum(of_input: torch.Tensor, of_hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The bias of the linear layer, and the one that remains inside of the recurrence: none."""
    return of_input + of_hidden, None


def _sum_of_gates(
    of_input: torch.Tensor, of_hidden: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """As `_sum`. A GRU multiplies the hidden part of its candidate by the reset gate, with its bias."""
    gates, candidate = of_hidden.split([2 * (len(of_hidden) // 3), len(of_hidden) // 3])
    return of_input + torch.cat([gates, torch.zeros_like(candidate)]), candidate


def _layers(
    recurrence: Recurrence,
    add: Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor | None]],
    in_steps: Callable[..., Tensors],
    input: torch.Tensor,
    hx: torch.Tensor | Tensors,
    params: Tensors,
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Tensors:
    """All layers and directions. Layers with projections, and dropout in training, use PyTorch's
    decomposition to single steps, `in_steps`."""
    directions = 2 if bidirectional else 1
    each = 4 if has_biases else 2
    # Projected hidden states have one more weight per layer.
    if len(params) != num_layers * directions * each or (train and dropout):
        return in_steps(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
    initial = [hx] if isinstance(hx, torch.Tensor) else hx
    last: list[Tensors] = []
    x = input.transpose(0, 1) if batch_first else input
    for layer in range(num_layers):
        outputs = []
        for reverse in range(directions):
            position = layer * directions + reverse
            of_input, of_hidden, *biases = params[position * each : (position + 1) * each]
            bias, inner = add(*biases) if biases else (None, None)
            gates = aten.linear(x, of_input, bias)
            output, *states = recurrence(
                gates, [s[position] for s in initial], of_hidden, inner, reverse == 1
            )
            outputs.append(output)
            last.append(states)
        x = torch.cat(outputs, -1) if bidirectional else outputs[0]
    return x.transpose(0, 1) if batch_first else x, *(torch.stack(s) for s in zip(*last, strict=True))


_steps = torch._decomp.decompositions

LAYERS: dict[OpOverload, tuple[OpOverload, Callable[..., Tensors]]] = {
    aten.lstm.input: (fused.lstm, partial(_layers, _lstm, _sum, _steps.lstm_impl)),
    aten.gru.input: (fused.gru, partial(_layers, _gru, _sum_of_gates, _steps.gru_impl)),
    aten.rnn_tanh.input: (
        fused.rnn_tanh,
        partial(_layers, partial(_rnn, fused.rnn_tanh), _sum, _steps.rnn_tanh_input),
    ),
    aten.rnn_relu.input: (
        fused.rnn_relu,
        partial(_layers, partial(_rnn, fused.rnn_relu), _sum, _steps.rnn_relu_input),
    ),
}
"""PyTorch's layer -> the operator for one layer and direction, and the decomposition to it."""
