# SPDX-License-Identifier: BSD-3-Clause
"""Every pattern that quantizers make computes in integers: nothing but the first quantize and the last
dequantize sees a float. Graphs of our quantizer and of the official one, each beside its program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

import rushlight  # noqa: E402
from rushlight.quantize import RushlightQuantizer, Static, quantize  # noqa: E402
from support.quantizers import official_graph  # noqa: E402
from support.samples import sampled  # noqa: E402

# Operators whose tensors are bytes wherever these tests call them, and those at both ends.
MOVING = {
    "_clone_dim_order", "cat", "constant_pad_nd", "expand_copy", "max_pool2d", "maximum",
    "minimum", "permute_copy", "select_copy", "slice_copy", "split_copy", "split_with_sizes_copy", "stack",
    "upsample_nearest2d", "view_copy",
}  # fmt: skip
ENDS = {"quantize_per_tensor", "dequantize_per_tensor"}


class Model(nn.Module):
    """A function of its layers and inputs."""

    def __init__(self, function: Callable[..., Any], **layers: Any) -> None:
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(self, *inputs)


def attention(m: Any, x: torch.Tensor) -> torch.Tensor:
    batch, length, width = x.shape
    q, k, v = (layer(x).view(batch, length, 4, width // 4).transpose(1, 2) for layer in (m.q, m.k, m.v))
    scores = (q @ k.transpose(-1, -2)) * (width // 4) ** -0.5
    return m.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width))


def encoder(m: Any, x: torch.Tensor) -> torch.Tensor:
    y = x + attention(m, m.norm(x))
    return y + F.gelu(m.up(m.norm(y)))


def squeezed(m: Any, x: torch.Tensor) -> torch.Tensor:
    y = m.conv(x)
    return y * torch.sigmoid(m.expand(y.mean((2, 3), keepdim=True)))


def two(function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[[], Model]:
    """A function of two convolutions of one input."""
    return lambda: Model(lambda m, x: function(m.a(x), m.b(x)), a=nn.Conv2d(3, 6, 3), b=nn.Conv2d(3, 6, 3))


def between(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], Model]:
    """A function between two convolutions."""
    return lambda: Model(lambda m, x: m.b(function(m.a(x))), a=nn.Conv2d(3, 6, 3), b=nn.Conv2d(6, 4, 1))


def lines(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[], Model]:
    """A function between two convolutions of lines."""
    return lambda: Model(lambda m, x: m.b(function(m.a(x))), a=nn.Conv1d(3, 6, 3), b=nn.Conv1d(6, 4, 1))


IMAGE, LINE = (4, 3, 14, 15), (4, 3, 40)
# The model, its input's shape, the operators that compute.
PATTERNS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], set[str]]] = {
    "transposed in one dimension": (
        lambda: nn.Sequential(nn.ConvTranspose1d(3, 6, 3, stride=2), nn.ReLU(), nn.Conv1d(6, 3, 3)),
        LINE,
        {"quantized_convolution"},
    ),
    "transposed in two dimensions": (
        lambda: nn.ConvTranspose2d(3, 5, 3, stride=2, padding=1), IMAGE, {"quantized_convolution"},
    ),
    "sum": (two(torch.add), IMAGE, {"quantized_add"}),
    "difference": (two(torch.sub), IMAGE, {"quantized_add"}),
    "product": (two(torch.mul), IMAGE, {"quantized_mul"}),
    "product that is rectified": (two(lambda a, b: (a * b).relu()), IMAGE, {"quantized_mul"}),
    "sum that broadcasts": (two(lambda a, b: a + b[:, :, :1, :1]), IMAGE, {"quantized_add"}),
    "product that broadcasts": (two(lambda a, b: a[:, :1] * b), IMAGE, {"quantized_mul"}),
    "squeeze and excitation": (
        lambda: Model(squeezed, conv=nn.Conv2d(3, 8, 3), expand=nn.Conv2d(8, 8, 1)),
        IMAGE,
        {"quantized_mean", "quantized_lookup", "quantized_mul"},
    ),
    "hardswish": (between(F.hardswish), IMAGE, {"quantized_lookup"}),
    "hardsigmoid": (between(F.hardsigmoid), IMAGE, {"quantized_lookup"}),
    "sigmoid": (between(torch.sigmoid), IMAGE, {"quantized_lookup"}),
    "tanh": (between(torch.tanh), IMAGE, {"quantized_lookup"}),
    "silu": (between(F.silu), IMAGE, {"quantized_lookup"}),
    "gelu": (between(F.gelu), IMAGE, {"quantized_lookup"}),
    "elu": (between(F.elu), IMAGE, {"quantized_lookup"}),
    "silu before a pool": (
        between(lambda x: F.avg_pool2d(F.silu(x), 2)), IMAGE, {"quantized_lookup", "quantized_avg_pool2d"},
    ),
    "numbers": (between(lambda x: (x * 2 + 1) / 3), IMAGE, set()),
    "maximum": (
        lambda: Model(
            lambda m, x: m.c(torch.maximum(m.a(x), m.b(x))), **{n: nn.Conv2d(3, 3, 1) for n in "abc"}
        ),
        IMAGE,
        {"quantized_lookup"},
    ),
    "max pool": (between(lambda x: F.max_pool2d(x, 2)), IMAGE, set()),
    "average pool": (between(lambda x: F.avg_pool2d(x, 3, 2, 1)), IMAGE, {"quantized_avg_pool2d"}),
    "average pool in one dimension": (lines(lambda x: F.avg_pool1d(x, 3)), LINE, {"quantized_avg_pool2d"}),
    "adaptive pool": (
        between(lambda x: F.adaptive_avg_pool2d(x, (5, 4))), IMAGE, {"quantized_adaptive_avg_pool2d"},
    ),
    "adaptive pool in one dimension": (
        lines(lambda x: F.adaptive_avg_pool1d(x, 5)), LINE, {"quantized_adaptive_avg_pool2d"},
    ),
    "mean": (
        lambda: Model(lambda m, x: m.b(m.a(x).mean((2, 3))), a=nn.Conv2d(3, 6, 3), b=nn.Linear(6, 4)),
        IMAGE,
        {"quantized_mean"},
    ),
    "permuted": (
        lambda: Model(lambda m, x: m.b(m.a(x).permute(0, 2, 3, 1)), a=nn.Conv2d(3, 6, 3), b=nn.Linear(6, 4)),
        IMAGE,
        set(),
    ),
    "sliced": (between(lambda x: x[:, :, 1:, ::2]), IMAGE, set()),
    "concatenated": (two(lambda a, b: torch.cat([a, b], 1)), IMAGE, set()),
    "padded": (between(lambda x: F.pad(x, (1, 2, 1, 1))), IMAGE, set()),
    "repeated": (between(lambda x: F.interpolate(x, scale_factor=2)), IMAGE, set()),
    "classifier": (
        lambda: nn.Sequential(nn.Conv2d(3, 6, 3), nn.Flatten(), nn.Linear(936, 12), nn.Softmax(-1)),
        IMAGE,
        {"quantized_softmax"},
    ),
    "layer norm": (
        lambda: nn.Sequential(nn.Linear(32, 24), nn.LayerNorm(24), nn.GELU(), nn.Linear(24, 6)),
        (40, 32),
        {"quantized_layer_norm", "quantized_lookup"},
    ),
    "encoder": (
        lambda: Model(
            encoder, norm=nn.LayerNorm(32), **{n: nn.Linear(32, 32) for n in ("q", "k", "v", "out", "up")}
        ),
        (4, 10, 32),
        {"quantized_layer_norm", "quantized_matmul", "quantized_softmax", "quantized_add"},
    ),
    "attention": (
        lambda: Model(attention, **{name: nn.Linear(32, 32) for name in ("q", "k", "v", "out")}),
        (4, 10, 32),
        {"quantized_matmul", "quantized_softmax", "quantized_lookup"},
    ),
}  # fmt: skip
# The official quantizer leaves a part of the others in float.
OFFICIAL = [
    "transposed in two dimensions", "sum that broadcasts", "product", "product that is rectified",
    "squeeze and excitation", "gelu", "numbers", "average pool", "mean", "sliced", "concatenated",
]  # fmt: skip


def graph_of(quantizer: str, module: nn.Module, x: torch.Tensor, scheme: Static) -> torch.fx.GraphModule:
    if quantizer != "own":
        return official_graph(quantizer, module, (x,))
    calibration = [(torch.randn_like(x),) for _ in range(3)]
    return quantize(module, (x,), calibration, RushlightQuantizer(scheme, unroll=True))


def base_names(operators: Any) -> set[str]:
    return {name.partition("::")[2].partition(".")[0] for name in operators}


def run_both(graph: torch.fx.GraphModule, x: torch.Tensor) -> tuple[set[str], list[Any], list[Any]]:
    """The operators that compute; what the program returns, and the graph. Fails where floats compute."""
    with torch.no_grad():
        exported = rushlight.export(graph, (x,))
        (method,) = exported.report.methods
        assert method.remarks == []
        names = base_names(method.operators)
        assert not {name for name in names if not name.startswith("quantized_")} - MOVING - ENDS
        called = {name.partition("::")[2]: count for name, count in method.operators.items()}
        assert called["quantize_per_tensor.out"] == 1
        inputs = [torch.randn_like(x) for _ in range(6)]
        program = rushlight.load(exported.buffer)
        got = [[torch.as_tensor(np.asarray(y)) for y in program.forward(x)] for x in inputs]
        expected = [pytree.tree_leaves(graph(x)) for x in inputs]
    return names - MOVING - ENDS, got, expected


def steps_of(graph: torch.fx.GraphModule) -> list[float]:
    """The steps of the outputs."""
    (outputs,) = (node.args[0] for node in graph.graph.nodes if node.op == "output")
    return [float(node.args[1]) for node in pytree.tree_leaves(outputs)]


# CortexMQuantizer leaves lines, volumes and layer normalization in float. Its means are average pools, inputs
# of a maximum share a range, and nothing is quantized between a convolution and its hardsigmoid.
CORTEX_M = [
    "transposed in two dimensions", "sum", "difference", "product", "sum that broadcasts",
    "product that broadcasts", "squeeze and excitation", "hardswish", "hardsigmoid", "sigmoid", "tanh",
    "silu", "gelu", "silu before a pool", "maximum", "max pool", "average pool", "mean", "permuted", "sliced",
    "concatenated", "padded", "repeated", "classifier", "attention",
]  # fmt: skip
OTHER_OPERATORS = {
    "squeeze and excitation": {"quantized_avg_pool2d", "quantized_lookup", "quantized_mul"},
    "hardsigmoid": {"quantized_convolution"},
    "maximum": set(),
    "mean": {"quantized_avg_pool2d"},
}
CASES = [
    *((name, "own") for name in PATTERNS),
    *((name, "official") for name in OFFICIAL),
    *((name, "cortex-m") for name in CORTEX_M),
]


# Continuous integration takes each pattern with the own quantizer, and some with the others.
@pytest.mark.parametrize(
    ("name", "quantizer"), sampled(CASES, 3, name="-".join, always=lambda case: case[1] == "own")
)
def test_a_pattern_computes_in_integers(name: str, quantizer: str) -> None:
    """A result that is a step off moves what is computed from it. Averages are often halves, which are
    rounded to even here and by the errors of a float32 sum there. export/passes compares single operators."""
    torch.manual_seed(5)
    make, shape, operators = PATTERNS[name]
    graph = graph_of(
        quantizer, make().eval(), torch.randn(shape), Static(matmul=name in ("attention", "encoder"))
    )
    names, got, expected = run_both(graph, torch.randn(shape))
    if quantizer == "cortex-m":
        operators = OTHER_OPERATORS.get(name, operators)
    assert operators <= names
    (step,) = steps_of(graph)
    pairs = zip(got, expected, strict=True)
    off = torch.stack([((a[0] - b[0]) / step).abs().round() for a, b in pairs])
    averages = any("avg_pool" in operator for operator in operators)
    assert off.max() <= (5 if averages else 3)
    assert (off > 0).float().mean() <= (0.2 if averages else 0.03)


@pytest.mark.parametrize(
    ("make", "computing"),
    [
        (lambda: nn.LSTM(5, 6), {"quantized_linear", "quantized_add", "quantized_mul", "quantized_lookup"}),
        (lambda: nn.GRU(5, 6), {"quantized_linear", "quantized_add", "quantized_mul", "quantized_lookup"}),
        (lambda: nn.RNN(5, 6), {"quantized_linear", "quantized_add", "quantized_lookup"}),
        (lambda: nn.LSTM(5, 6, 2, bidirectional=True), {"quantized_linear", "quantized_mul"}),
    ],
    ids=["lstm", "gru", "rnn", "lstm, two layers, bidirectional"],
)
def test_a_recurrent_layer_computes_in_integers(make: Callable[[], nn.Module], computing: set[str]) -> None:
    """A step that is one off changes all later steps."""
    torch.manual_seed(5)
    shape = (4, 3, 5)
    graph = graph_of("own", make().eval(), torch.randn(shape), Static())
    names, got, expected = run_both(graph, torch.randn(shape))
    assert computing <= names
    for step, a, b in zip(steps_of(graph), zip(*got, strict=True), zip(*expected, strict=True), strict=True):
        off = ((torch.stack(a) - torch.stack(b)) / step).abs().round()
        assert off.max() <= 3
        assert (off > 0).float().mean() <= 0.05
