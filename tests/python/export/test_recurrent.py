# SPDX-License-Identifier: BSD-3-Clause
"""Recurrent layers: one operator takes all steps of a layer in one direction."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import rushlight
from rushlight.program.model import KernelCall
from support.example_backends import AffinePartitioner

KINDS: dict[str, tuple[type[nn.RNNBase], dict[str, Any]]] = {
    "rushlight::lstm.out": (nn.LSTM, {}),
    "rushlight::gru.out": (nn.GRU, {}),
    "rushlight::rnn_tanh.out": (nn.RNN, {}),
    "rushlight::rnn_relu.out": (nn.RNN, {"nonlinearity": "relu"}),
}
"""The operator -> the layer and its options."""
LAYERS: dict[str, tuple[dict[str, Any], int]] = {
    "one layer": ({}, 1),
    "batch first": ({"batch_first": True}, 1),
    "without bias": ({"bias": False}, 1),
    "bidirectional": ({"bidirectional": True}, 2),
    "three layers, bidirectional": ({"num_layers": 3, "bidirectional": True, "batch_first": True}, 6),
    "with dropout": ({"num_layers": 2, "dropout": 0.5}, 2),
}
of_every_kind = pytest.mark.parametrize("operator", KINDS)


def made(operator: str, **options: Any) -> nn.RNNBase:
    torch.manual_seed(0)
    layer, more = KINDS[operator]
    return layer(5, 6, **more, **options)


class Steps(nn.Module):
    """All that the layer returns."""

    def __init__(self, layer: nn.RNNBase) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor, *state: torch.Tensor) -> Any:
        given = state if len(state) > 1 else state[0] if state else None
        output, last = self.layer(x, given)
        return output, *(last if isinstance(last, tuple) else (last,))


def exported(
    layer: nn.RNNBase, *inputs: torch.Tensor, **options: Any
) -> tuple[Counter[str], list[np.ndarray]]:
    """How often the program calls each operator, and what it computes."""
    program = rushlight.export(Steps(layer).eval(), inputs, **options)
    (method,) = program.parts.methods
    calls = [each for chain in method.chains for each in chain if isinstance(each, KernelCall)]
    outputs = rushlight.load(program.buffer).forward(*(each.numpy() for each in inputs))
    return Counter(method.operators[call.operator] for call in calls), outputs


def assert_same(outputs: list[np.ndarray], layer: nn.RNNBase, *inputs: torch.Tensor) -> None:
    with torch.no_grad():
        expected = Steps(layer).eval()(*inputs)
    for got, wanted in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(got, wanted.numpy(), rtol=1e-5, atol=1e-6)


@of_every_kind
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_one_call_for_each_direction(operator: str, name: str) -> None:
    options, expected = LAYERS[name]
    layer, x = made(operator, **options), torch.randn(4, 3, 5)
    calls, outputs = exported(layer, x)
    assert calls[operator] == expected
    assert calls["aten::linear.out"] == expected
    assert not set(calls) & {"aten::sigmoid.out", "aten::tanh.out", "aten::relu.out", "aten::mul.out"}
    assert_same(outputs, layer, x)


@of_every_kind
def test_longer_sequences_take_no_more_calls(operator: str) -> None:
    layer = made(operator, batch_first=True)
    short, _ = exported(layer, torch.randn(1, 2, 5))
    long, outputs = exported(layer, x := torch.randn(1, 50, 5))
    assert short == long
    assert_same(outputs, layer, x)


@of_every_kind
def test_a_given_state_is_where_a_layer_begins(operator: str) -> None:
    layer = made(operator, num_layers=2)
    states = 2 if isinstance(layer, nn.LSTM) else 1
    inputs = torch.randn(4, 3, 5), *(torch.randn(2, 3, 6) for _ in range(states))
    calls, outputs = exported(layer, *inputs)
    assert calls[operator] == 2
    assert_same(outputs, layer, *inputs)


@of_every_kind
def test_sequences_without_a_batch(operator: str) -> None:
    layer, x = made(operator, bidirectional=True), torch.randn(4, 5)
    calls, outputs = exported(layer, x)
    assert calls[operator] == 2
    assert_same(outputs, layer, x)


@of_every_kind
def test_half_precision_stays_one_call(operator: str) -> None:
    layer, x = made(operator).half(), torch.randn(4, 3, 5).half()
    calls, outputs = exported(layer, x)
    assert calls[operator] == 1
    with torch.no_grad():
        expected = Steps(made(operator)).eval()
        expected.layer.load_state_dict(layer.state_dict())
        wanted = expected(x.float())
    for got, each in zip(outputs, wanted, strict=True):
        np.testing.assert_allclose(got, each.numpy(), atol=4e-3)


@pytest.mark.parametrize(
    ("operator", "layer_options", "options"),
    [
        ("rushlight::lstm.out", {"proj_size": 2}, {}),
        *((operator, {}, {"runtime": "executorch"}) for operator in KINDS),
        *((operator, {}, {"partitioner": AffinePartitioner()}) for operator in KINDS),
    ],
)
def test_other_layers_are_taken_apart(
    operator: str, layer_options: dict[str, Any], options: dict[str, Any]
) -> None:
    layer, x = made(operator, **layer_options), torch.randn(4, 3, 5)
    calls, outputs = exported(layer, x, **options)
    assert calls[operator] == 0
    assert sum(calls.values()) > len(x)  # at least one call for each step
    assert_same(outputs, layer, x)
