# SPDX-License-Identifier: BSD-3-Clause
"""Quantized models whose layers compute in integers, beside the graphs of PyTorch that they were exported
from: our quantizer's and the official one's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")
xnnpack = pytest.importorskip(
    "executorch.backends.xnnpack.quantizer.xnnpack_quantizer", reason="executorch is not installed"
)

from torch import nn  # noqa: E402
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e  # noqa: E402

import rushlight  # noqa: E402
from rushlight.quantize import RushlightQuantizer, Static, quantize  # noqa: E402


def conv_norm_relu(inputs: int, outputs: int, kernel: int = 3, **settings: Any) -> nn.Sequential:
    """A convolution with batch norm of some statistics, and ReLU."""
    norm = nn.BatchNorm2d(outputs)
    norm.running_mean.normal_(0, 0.3)
    norm.running_var.uniform_(0.5, 2.0)
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, **settings), norm, nn.ReLU())


# The layers, the input's shape, and how many of the layers are sums of products.
NETS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], int]] = {
    "convolution": (lambda: nn.Conv2d(3, 8, 3), (4, 3, 12, 12), 1),
    "batch norm and ReLU": (lambda: conv_norm_relu(3, 16, padding=1), (4, 3, 12, 12), 1),
    "strided stack": (
        lambda: nn.Sequential(conv_norm_relu(3, 8, stride=2), conv_norm_relu(8, 16, stride=2, padding=1)),
        (4, 3, 25, 25),
        2,
    ),
    "depthwise separable": (
        lambda: nn.Sequential(conv_norm_relu(8, 8, groups=8, padding=1), conv_norm_relu(8, 12, 1)),
        (4, 8, 10, 9),
        2,
    ),
    "groups": (lambda: nn.Conv2d(8, 12, 3, groups=4, padding=1, bias=False), (4, 8, 9, 9), 1),
    "depth multiplier": (lambda: nn.Conv2d(5, 15, 3, groups=5, padding=1), (4, 5, 9, 9), 1),
    "dilation": (lambda: nn.Conv2d(4, 6, 3, dilation=(2, 3), padding=(1, 4)), (4, 4, 12, 12), 1),
    "hardtanh": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.Hardtanh(-0.5, 0.75)), (4, 3, 12, 12), 1),
    "conv1d": (lambda: nn.Sequential(nn.Conv1d(4, 8, 5, padding=2), nn.ReLU()), (4, 4, 40), 1),
    "transposed": (lambda: nn.ConvTranspose2d(6, 5, 3, stride=2, output_padding=1), (4, 6, 7, 8), 1),
    "linear": (lambda: nn.Linear(40, 30), (40, 40), 1),
    "linear stack": (
        lambda: nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 20)),
        (50, 32),
        3,
    ),
    "linear of three dimensions": (lambda: nn.Linear(24, 16, bias=False), (4, 9, 24), 1),
}
# For these, the official quantizer leaves an operator in float.
UNKNOWN = {"conv1d", "hardtanh"}
PAIRS = [
    *((net, "own") for net in NETS),
    *((net, "official") for net in NETS if net not in UNKNOWN),
    ("strided stack", "own per tensor"),
    ("strided stack", "own symmetric"),
    ("linear stack", "official per tensor"),
]


def quantized(module: nn.Module, x: torch.Tensor, quantizer: str) -> torch.fx.GraphModule:
    """The graph of PyTorch that quantizes its input, the layers and the output."""
    calibration = [(torch.randn_like(x),) for _ in range(3)]
    per_channel = "per tensor" not in quantizer
    if quantizer.startswith("own"):
        scheme = Static(per_channel=per_channel, symmetric_activations="symmetric" in quantizer)
        return quantize(module, (x,), calibration, RushlightQuantizer(scheme))
    config = xnnpack.get_symmetric_quantization_config(is_per_channel=per_channel)
    chosen = xnnpack.XNNPACKQuantizer().set_global(config)
    prepared = prepare_pt2e(torch.export.export(module, (x,)).module(check_guards=False), chosen)
    for inputs in calibration:
        prepared(*inputs)
    return convert_pt2e(prepared)


def step_of(graph: torch.fx.GraphModule) -> float:
    """The scale with which the output is dequantized."""
    last = next(node for node in reversed(graph.graph.nodes) if "dequantize_per_tensor" in str(node.target))
    return float(last.args[1])


@functools.cache
def steps_apart(net: str, quantizer: str) -> np.ndarray:
    """The differences between outputs of the program and of the graph, in steps."""
    torch.manual_seed(3)
    make, shape, layers = NETS[net]
    module, x = make().eval(), torch.randn(shape)
    with torch.no_grad():
        graph = quantized(module, x, quantizer)
        exported = rushlight.export(graph, (x,))
        called = exported.report.methods[0].operators
        products = sum(count for name, count in called.items() if name.startswith("rushlight::quantized_"))
        assert products == layers
        assert not any(name.startswith("aten::") for name in called)
        program = rushlight.load(exported.buffer)
        inputs = [torch.randn(shape) for _ in range(10)]
        apart = [np.asarray(program.forward(x)[0]) - graph(x).numpy() for x in inputs]
    return np.abs(np.rint(np.concatenate([each.ravel() for each in apart]) / step_of(graph)))


@pytest.mark.parametrize(("net", "quantizer"), PAIRS)
def test_no_output_is_more_than_a_step_apart(net: str, quantizer: str) -> None:
    steps = steps_apart(net, quantizer)
    assert steps.max() <= 1
    assert (steps > 0).mean() <= 0.02


@pytest.mark.parametrize("quantizer", ["own", "official"])
def test_all_but_a_thousandth_of_the_outputs_are_equal(quantizer: str) -> None:
    """A layer's bias becomes a whole number of steps of its sums, which are some hundredths of an output's
    step: about 0.1 % of a layer's outputs are then on the other side of a half."""
    steps = np.concatenate([steps_apart(*pair) for pair in PAIRS if pair[1] == quantizer])
    assert (steps > 0).mean() <= 0.001


@pytest.mark.parametrize("quantizer", ["own", "official"])
def test_layers_without_bias_have_the_outputs_of_the_graph(quantizer: str) -> None:
    """So that nothing but the bias is the reason for the differences above."""
    for net in ("groups", "linear of three dimensions"):
        assert not steps_apart(net, quantizer).any()
