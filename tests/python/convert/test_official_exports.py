# SPDX-License-Identifier: BSD-3-Clause
"""Programs that the official exporter makes of quantized networks, converted, beside the same programs as
they were made."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")
xnnpack = pytest.importorskip(
    "executorch.backends.xnnpack.quantizer.xnnpack_quantizer", reason="executorch is not installed"
)

import executorch.kernels.quantized  # noqa: E402, F401 (registers out variants)
from executorch.exir import EdgeCompileConfig, to_edge  # noqa: E402
from torch import nn  # noqa: E402
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e  # noqa: E402

import rushlight  # noqa: E402
from rushlight.convert.api import Conversion, convert  # noqa: E402
from rushlight.convert.files import own_operators  # noqa: E402
from rushlight.program import read_program  # noqa: E402
from rushlight.quantize import quantize  # noqa: E402


class Joined(nn.Module):
    """Two convolutions of one input, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 5, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([self.left(x).relu(), self.right(x).relu()], 1)


class Sum(nn.Module):
    """A convolution and its input, added."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.layer(x) + x).relu()


# The layers, the input's shape, and how many sums of products there are.
NETS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], int]] = {
    "strided stack": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU()
        ),
        (2, 3, 25, 25),
        2,
    ),
    "depthwise separable": (
        lambda: nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU(), nn.Conv2d(8, 12, 1)),
        (2, 8, 10, 9),
        2,
    ),
    "groups": (lambda: nn.Conv2d(8, 12, 3, groups=4, padding=1, bias=False), (2, 8, 9, 9), 1),
    "transposed": (lambda: nn.ConvTranspose2d(6, 5, 3, stride=2, output_padding=1), (2, 6, 7, 8), 1),
    "linear stack": (
        lambda: nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 20)),
        (50, 32),
        2,
    ),
    "pool and classifier": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(200, 10)
        ),
        (2, 3, 12, 12),
        2,
    ),
    "joined": (Joined, (2, 3, 9, 9), 2),
    "sum": (Sum, (2, 4, 9, 9), 1),
}
PAIRS = [(net, quantizer) for net in NETS for quantizer in ("own", "official")]


def graph_of(module: nn.Module, x: torch.Tensor, quantizer: str) -> torch.fx.GraphModule:
    calibration = [(torch.randn_like(x),) for _ in range(3)]
    if quantizer == "own":
        return quantize(module, (x,), calibration)
    config = xnnpack.get_symmetric_quantization_config(is_per_channel=True)
    chosen = xnnpack.XNNPACKQuantizer().set_global(config)
    prepared = prepare_pt2e(torch.export.export(module, (x,)).module(check_guards=False), chosen)
    for inputs in calibration:
        prepared(*inputs)
    return convert_pt2e(prepared)


@functools.cache
def official(net: str, quantizer: str) -> bytes:
    torch.manual_seed(5)
    make, shape, _ = NETS[net]
    module, x = make().eval(), torch.randn(shape)
    with torch.no_grad():
        graph = graph_of(module, x, quantizer)
        edge = to_edge(
            torch.export.export(graph, (x,)), compile_config=EdgeCompileConfig(_check_ir_validity=False)
        )
    return bytes(edge.to_executorch().buffer)


@functools.cache
def converted(net: str, quantizer: str) -> Conversion:
    return convert(read_program(official(net, quantizer)), own_operators())


def last_step(data: bytes) -> float:
    """The scale with which the output is dequantized."""
    (plan,) = read_program(data).plans
    calls = [arguments for name, arguments in plan.calls() if "dequantize_per_tensor" in name]
    scale = calls[-1][1].data
    assert isinstance(scale, float)
    return scale


@pytest.mark.parametrize(("net", "quantizer"), PAIRS)
def test_all_sums_of_products_compute_in_integers(net: str, quantizer: str) -> None:
    done = converted(net, quantizer)
    (plan,) = read_program(done.buffer).plans
    names = [name for name, _ in plan.calls()]
    products = [
        n for n in names if n in ("rushlight::quantized_convolution.out", "rushlight::quantized_linear.out")
    ]
    assert len(products) == NETS[net][2]
    assert done.methods[0].in_float == []
    assert not any("convolution" in name or "addmm" in name for name in names if name.startswith("aten::"))


@pytest.mark.parametrize(("net", "quantizer"), PAIRS)
def test_no_output_is_more_than_a_step_from_before(net: str, quantizer: str) -> None:
    data, step = official(net, quantizer), last_step(official(net, quantizer))
    before, after = rushlight.load(data), rushlight.load(converted(net, quantizer).buffer)
    random = np.random.default_rng(7)
    apart = []
    for _ in range(6):
        x = random.standard_normal(NETS[net][1]).astype(np.float32)
        apart.append(np.rint((after.forward(x)[0] - before.forward(x)[0]) / step))
    steps = np.abs(np.concatenate([each.ravel() for each in apart]))
    assert steps.max() <= 1
    assert (steps > 0).mean() <= 0.04


@pytest.mark.parametrize(("net", "quantizer"), PAIRS)
def test_planned_memory_falls(net: str, quantizer: str) -> None:
    (method,) = converted(net, quantizer).methods
    assert method.planned_after < method.planned_before
