# SPDX-License-Identifier: BSD-3-Clause
"""Networks quantized by the official CortexMQuantizer compute in integers throughout, exported by rushlight
and converted from the official exporter's programs. Their biases are int32 with separate scales."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")
pytest.importorskip("executorch.exir", reason="executorch is not installed")

import executorch.kernels.quantized  # noqa: E402, F401 (registers out variants)
from executorch.exir import EdgeCompileConfig, to_edge  # noqa: E402
from torch import nn  # noqa: E402

import rushlight  # noqa: E402
from rushlight.convert.api import convert  # noqa: E402
from rushlight.convert.files import own_operators  # noqa: E402
from rushlight.program import Program, read_program  # noqa: E402
from support.interop.models import DsCnn, ResNet8, mlp, with_statistics  # noqa: E402
from support.quantizers import official_graph  # noqa: E402


class Attention(nn.Module):
    """One head between linear layers."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = torch.bmm(self.q(x), self.k(x).transpose(1, 2)) * x.shape[-1] ** -0.5
        return self.out(torch.bmm(scores.softmax(-1), self.v(x)))


# The model, its input's shape, and its operators with how often they are called.
NETS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], dict[str, int]]] = {
    "dscnn": (
        DsCnn,
        (1, 1, 49, 10),
        {"convolution": 9, "avg_pool2d": 1, "linear": 1, "softmax": 1, "lookup": 1},
    ),
    "resnet8": (
        ResNet8,
        (1, 3, 32, 32),
        {"convolution": 9, "add": 3, "avg_pool2d": 1, "linear": 1, "softmax": 1, "lookup": 1},
    ),
    "autoencoder": (lambda: mlp(64, 32, 32, 8, 32, 32, 64), (3, 64), {"linear": 6}),
    "attention": (
        lambda: Attention(32), (1, 10, 32), {"linear": 4, "matmul": 2, "softmax": 1, "lookup": 1},
    ),
}  # fmt: skip
MOVING = {"_clone_dim_order", "_to_dim_order_copy", "permute_copy", "view_copy", "transpose_copy"}


@functools.cache
def graph_of(net: str) -> torch.fx.GraphModule:
    torch.manual_seed(4)
    make, shape, _ = NETS[net]
    with torch.no_grad():
        return official_graph("cortex-m", with_statistics(make()).eval(), (torch.randn(shape),))


@functools.cache
def program_of(net: str, exporter: str) -> bytes:
    x = torch.randn(NETS[net][1])
    with torch.no_grad():
        if exporter == "own":
            return rushlight.export(graph_of(net), (x,)).buffer
        program = torch.export.export(graph_of(net), (x,))
        edge = to_edge(program, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    done = convert(read_program(bytes(edge.to_executorch().buffer)), own_operators())
    assert done.methods[0].in_float == []
    return done.buffer


def called(program: Program) -> dict[str, int]:
    """The number of calls of each operator, except operators that only move elements."""
    (plan,) = program.plans
    names = [name.partition("::")[2].partition(".")[0] for name, _ in plan.calls()]
    return {name: names.count(name) for name in dict.fromkeys(names) if name not in MOVING}


@pytest.mark.parametrize("exporter", ["own", "official"])
@pytest.mark.parametrize("net", NETS)
def test_a_network_computes_in_integers_whole(net: str, exporter: str) -> None:
    expected = {f"quantized_{name}": count for name, count in NETS[net][2].items()}
    ends = {"quantize_per_tensor": 1, "dequantize_per_tensor": 1}
    assert called(read_program(program_of(net, exporter))) == {**expected, **ends}


@pytest.mark.parametrize("exporter", ["own", "official"])
@pytest.mark.parametrize("net", NETS)
def test_outputs_are_those_of_the_graph(net: str, exporter: str) -> None:
    """A number that is a step off on the way moves a few of those behind it."""
    graph, program = graph_of(net), rushlight.load(program_of(net, exporter))
    (outputs,) = (node.args[0] for node in graph.graph.nodes if node.op == "output")
    step = float(outputs[0].args[1])
    torch.manual_seed(9)
    apart = []
    with torch.no_grad():
        for _ in range(8):
            x = torch.randn(NETS[net][1])
            apart.append(np.rint((np.asarray(program.forward(x)[0]) - graph(x).numpy()) / step))
    steps = np.abs(np.concatenate([each.ravel() for each in apart]))
    assert steps.max() <= 2
    assert (steps > 0).mean() <= 0.03
