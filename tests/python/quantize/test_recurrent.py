# SPDX-License-Identifier: BSD-3-Clause
"""Recurrent layers as what they stand for, quantized and as programs."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

import rushlight  # noqa: E402
from rushlight.quantize import Dynamic, RushlightQuantizer, Static, WeightOnly, quantize  # noqa: E402
from rushlight.quantize.recurrent import expand_recurrent  # noqa: E402
from support.quantized_models import relative_error, targets  # noqa: E402

LAYERS = {
    "lstm": lambda: nn.LSTM(5, 6),
    "lstm, batch first, two layers, bidirectional": lambda: nn.LSTM(
        5, 6, 2, batch_first=True, bidirectional=True
    ),
    "lstm without bias": lambda: nn.LSTM(5, 6, bias=False),
    "lstm with dropout": lambda: nn.LSTM(5, 6, 2, dropout=0.5),
    "gru": lambda: nn.GRU(5, 6, 2),
    "gru bidirectional": lambda: nn.GRU(5, 6, bidirectional=True, batch_first=True),
    "rnn": lambda: nn.RNN(5, 6),
    "rnn of relu": lambda: nn.RNN(5, 6, nonlinearity="relu", bias=False),
}
CELLS = {
    "lstm cell": lambda: nn.LSTMCell(5, 6),
    "gru cell": lambda: nn.GRUCell(5, 6, bias=False),
    "rnn cell": lambda: nn.RNNCell(5, 6),
    "rnn cell of relu": lambda: nn.RNNCell(5, 6, nonlinearity="relu"),
}


def traced(module: nn.Module, *inputs) -> torch.fx.GraphModule:
    return torch.export.export(module.eval(), inputs, strict=False).module(check_guards=False)


@pytest.mark.parametrize("name", [*LAYERS, *CELLS])
def test_a_layer_computes_the_same_in_parts(name: str) -> None:
    torch.manual_seed(0)
    module = (LAYERS | CELLS)[name]()
    x = torch.randn(3, 4, 5) if name in LAYERS else torch.randn(4, 5)
    graph = traced(module, x)
    expand_recurrent(graph, lambda node: Dynamic(), unroll=True)
    graph.recompile()
    graph.graph.lint()
    assert not {t.removesuffix("_cell") for t in targets(graph)} & {"lstm", "gru", "rnn_tanh", "rnn_relu"}
    for got, expected in zip(pytree.tree_leaves(graph(x)), pytree.tree_leaves(module(x)), strict=True):
        assert torch.allclose(got, expected, atol=1e-6)


def test_a_given_state_is_where_a_layer_begins() -> None:
    torch.manual_seed(0)
    module, x, state = (
        nn.LSTM(5, 6).eval(),
        torch.randn(3, 4, 5),
        (torch.randn(1, 4, 6), torch.randn(1, 4, 6)),
    )
    graph = traced(module, x, state)
    expand_recurrent(graph, lambda node: Dynamic(), unroll=True)
    graph.recompile()
    assert torch.allclose(graph(x, state)[0], module(x, state)[0], atol=1e-6)


def test_a_layer_with_a_projection_stays() -> None:
    graph = traced(nn.LSTM(5, 6, proj_size=3), torch.randn(3, 4, 5))
    expand_recurrent(graph, lambda node: Dynamic(), unroll=True)
    assert "lstm" in targets(graph)


def test_a_layer_without_a_scheme_stays_whole() -> None:
    graph = quantize(nn.GRU(5, 6), (torch.randn(3, 4, 5),), None, RushlightQuantizer(None))
    assert "gru" in targets(graph)


@pytest.mark.parametrize(
    ("scheme", "allowed"), [(Dynamic(), 0.03), (WeightOnly(), 0.02), (Static(ranges="minmax"), 0.15)], ids=str
)
@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_a_quantized_layer_runs_as_a_program(name: str, scheme, allowed: float) -> None:
    torch.manual_seed(0)
    module = LAYERS[name]().eval()
    calibration = [(torch.randn(3, 8, 5),) for _ in range(6)]
    x = calibration[0][0]
    graph = quantize(module, (x,), calibration, RushlightQuantizer(scheme, unroll=True))
    weights = [v for v in graph.state_dict().values() if v.dtype == torch.int8 and v.numel() > 60]
    assert len(weights) == (2 if name == "lstm" else 4), "each weight once, however many steps read it"
    expected = graph(x)[0].detach()
    assert 0 < relative_error(expected, module(x)[0]) < allowed
    program = rushlight.export(graph, (x,)).buffer
    got = torch.as_tensor(np.asarray(rushlight.load(program).forward(x)[0]))
    assert relative_error(got, expected) < 0.02
