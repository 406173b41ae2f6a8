# SPDX-License-Identifier: BSD-3-Clause
"""The report of a quantization: what stayed float, and recurrent layers that were unrolled or not."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import Tensor, nn  # noqa: E402

import rushlight  # noqa: E402
from rushlight.errors import InvalidArgument  # noqa: E402
from rushlight.quantize import (  # noqa: E402
    Dynamic,
    QuantizationWarning,
    RushlightQuantizer,
    Static,
    WeightOnly,
    quantize,
    report,
)
from support.quantized_models import targets  # noqa: E402


class Words(nn.Module):
    """A bag of words in front of a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(100, 16, mode="sum")
        self.head = nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.bag(x)).log_softmax(-1)


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, self.left, self.right, (x,))


def test_weights_that_stay_float_are_a_warning_and_in_the_report() -> None:
    words = (torch.randint(0, 100, (2, 5)),)
    with pytest.warns(QuantizationWarning, match=r"embedding_bag.* in bag, weights of 6400 bytes"):
        graph = quantize(Words().eval(), words, [words])
    made = report(graph)
    assert made.quantized >= 1
    assert [item.module for item in made.unexpected] == ["bag"]
    assert "log_softmax" in str(made), "functions without weights are listed"


def test_bodies_of_control_flow_are_a_warning() -> None:
    x = (torch.randn(2, 8),)
    with pytest.warns(QuantizationWarning, match="cond.*bodies of control flow are not quantized"):
        graph = quantize(Branches().eval(), x, [x])
    assert [item.operator for item in report(graph).unexpected] == ["cond"]


def test_a_model_that_is_quantized_whole_warns_of_nothing() -> None:
    x = (torch.randn(2, 3, 8, 8),)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4)).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error", QuantizationWarning)
        graph = quantize(model, x, [x])
        quantize(model, x, None, RushlightQuantizer(None))
        quantize(model, x, None, RushlightQuantizer(WeightOnly()))
    assert report(graph).left == ()


def test_functions_that_become_tables_did_not_stay_in_float() -> None:
    x = (torch.randn(2, 3, 8, 8),)
    layers = [nn.Conv2d(3, 8, 3), nn.GELU(), nn.Sigmoid(), nn.Conv2d(8, 4, 1), nn.Sigmoid()]
    graph = quantize(nn.Sequential(*layers).eval(), x, [x])
    (left,) = report(graph).left
    assert (left.operator, left.count, left.module) == ("sigmoid", 1, "4"), (
        "nobody reads its result as integers"
    )
    assert report(graph).quantized == 4


@pytest.mark.parametrize("scheme", [Static(activations="int16"), Dynamic(), WeightOnly()], ids=str)
def test_a_recurrent_layer_is_unrolled_only_where_that_saves_bytes(scheme) -> None:
    torch.manual_seed(0)
    model, x = nn.LSTM(4, 8, bidirectional=True).eval(), torch.randn(12, 1, 4)
    with pytest.warns(QuantizationWarning, match="lstm.*unroll=True"):
        kept = quantize(model, (x,), [(x,)], RushlightQuantizer(scheme))
    assert "lstm" in targets(kept) and not report(kept).unrolled
    unrolled = quantize(model, (x,), [(x,)], RushlightQuantizer(scheme, unroll=True))
    (layer,) = report(unrolled).unrolled
    assert (layer.operator, layer.steps) == ("lstm", 24)
    sizes = [rushlight.export(graph, (x,)).buffer for graph in (model, kept, unrolled)]
    assert len(sizes[1]) <= len(sizes[0]) < len(sizes[2])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_a_static_recurrent_layer_that_is_not_unrolled_is_no_float(kind) -> None:
    model, x = kind(4, 8, bidirectional=True).eval(), torch.randn(12, 1, 4)
    graph = quantize(model, (x,), [(x,)])
    assert "recurrent_layer" in targets(graph) and not report(graph).unrolled
    assert {item.operator for item in report(graph).left} <= {"zeros"}, "the states before the first step"


def test_a_large_recurrent_layer_is_unrolled_and_its_program_is_smaller() -> None:
    model, x = nn.GRU(96, 128).eval(), torch.randn(4, 1, 96)
    graph = quantize(model, (x,), None, RushlightQuantizer(Dynamic()))
    assert report(graph).unrolled[0].steps == 4
    assert len(rushlight.export(graph, (x,)).buffer) < len(rushlight.export(model, (x,)).buffer)


def test_another_graph_has_no_report() -> None:
    with pytest.raises(InvalidArgument, match="a graph from rushlight"):
        report(torch.fx.symbolic_trace(nn.Linear(2, 2)))
