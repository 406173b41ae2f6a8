# SPDX-License-Identifier: BSD-3-Clause
"""Long short-term memories: one operator takes all steps of a layer in one direction."""

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

OPERATOR = "rushlight::lstm.out"
LAYERS: dict[str, tuple[nn.LSTM, int]] = {
    "one layer": (nn.LSTM(5, 6), 1),
    "batch first": (nn.LSTM(5, 6, batch_first=True), 1),
    "without bias": (nn.LSTM(5, 6, bias=False), 1),
    "bidirectional": (nn.LSTM(5, 6, bidirectional=True), 2),
    "three layers, bidirectional": (nn.LSTM(5, 6, 3, bidirectional=True, batch_first=True), 6),
    "with dropout": (nn.LSTM(5, 6, 2, dropout=0.5), 2),
}


class Steps(nn.Module):
    """All that the layer returns."""

    def __init__(self, layer: nn.LSTM) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor, *state: torch.Tensor) -> Any:
        output, (hidden, cell) = self.layer(x, state or None)
        return output, hidden, cell


def exported(layer: nn.LSTM, *inputs: torch.Tensor, **options: Any) -> tuple[Counter[str], list[np.ndarray]]:
    """How often the program calls each operator, and what it computes."""
    program = rushlight.export(Steps(layer).eval(), inputs, **options)
    (method,) = program.parts.methods
    calls = [each for chain in method.chains for each in chain if isinstance(each, KernelCall)]
    outputs = rushlight.load(program.buffer).forward(*(each.numpy() for each in inputs))
    return Counter(method.operators[call.operator] for call in calls), outputs


def assert_same(outputs: list[np.ndarray], layer: nn.LSTM, *inputs: torch.Tensor) -> None:
    with torch.no_grad():
        expected = Steps(layer).eval()(*inputs)
    for got, wanted in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(got, wanted.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_one_call_for_each_direction(name: str) -> None:
    torch.manual_seed(0)
    layer, expected = LAYERS[name]
    x = torch.randn(4, 3, 5)
    calls, outputs = exported(layer, x)
    assert calls[OPERATOR] == expected
    assert not set(calls) & {"aten::sigmoid.out", "aten::tanh.out", "aten::mul.out"}
    assert_same(outputs, layer, x)


def test_longer_sequences_take_no_more_calls() -> None:
    layer = nn.LSTM(5, 6, batch_first=True)
    short, _ = exported(layer, torch.randn(1, 2, 5))
    long, outputs = exported(layer, x := torch.randn(1, 50, 5))
    assert short == long
    assert_same(outputs, layer, x)


def test_a_given_state_is_where_a_layer_begins() -> None:
    layer = nn.LSTM(5, 6, 2)
    inputs = torch.randn(4, 3, 5), torch.randn(2, 3, 6), torch.randn(2, 3, 6)
    calls, outputs = exported(layer, *inputs)
    assert calls[OPERATOR] == 2
    assert_same(outputs, layer, *inputs)


def test_half_precision_stays_one_call() -> None:
    layer, x = nn.LSTM(5, 6).half(), torch.randn(4, 3, 5).half()
    calls, outputs = exported(layer, x)
    assert calls[OPERATOR] == 1
    with torch.no_grad():
        expected = Steps(nn.LSTM(5, 6)).eval()
        expected.layer.load_state_dict(layer.state_dict())
        wanted = expected(x.float())
    for got, each in zip(outputs, wanted, strict=True):
        np.testing.assert_allclose(got, each.numpy(), atol=4e-3)


@pytest.mark.parametrize(
    ("layer", "options"),
    [
        (nn.LSTM(5, 6, proj_size=2), {}),
        (nn.LSTM(5, 6), {"runtime": "executorch"}),
        (nn.LSTM(5, 6), {"partitioner": AffinePartitioner()}),
    ],
    ids=["projected", "for the official runtime", "before a backend"],
)
def test_other_layers_are_taken_apart(layer: nn.LSTM, options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    x = torch.randn(4, 3, 5)
    calls, outputs = exported(layer, x, **options)
    assert calls[OPERATOR] == 0
    assert calls["aten::sigmoid.out"] > 0
    assert_same(outputs, layer, x)
