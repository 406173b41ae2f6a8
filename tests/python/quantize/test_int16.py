# SPDX-License-Identifier: BSD-3-Clause
"""Activations of 16 bits beside weights of 8: programs beside the quantized graph in PyTorch, as it computes
in float32, and as it would without roundings on the way (in float64)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import rushlight  # noqa: E402
from rushlight.errors import InvalidArgument  # noqa: E402
from rushlight.export import QuantizedIo  # noqa: E402
from rushlight.quantize import RushlightQuantizer, Static, mixed_precision, quantize  # noqa: E402

ops = torch.ops.quantized_decomposed
INT16 = Static(activations="int16", matmul=True)


class Part(nn.Module):
    """dequantize -> a function -> quantize, as graphs have it, of tensors of int16 and a weight of int8. In
    float64 where it is `exact`, so that nothing rounds but the last quantize."""

    def __init__(
        self, function: Callable[..., torch.Tensor], shapes: Sequence[tuple[int, ...]], weight: Any, axis: int
    ) -> None:
        super().__init__()
        self.function, self.axis, self.exact = function, axis, False
        self.scales = [3 / 32767 * (1 + 0.37 * number) for number in range(len(shapes))]
        self.step, self.has_weight = 1.0, weight is not None
        if weight is not None:
            self.weight = nn.Buffer(torch.randint(-127, 128, weight).to(torch.int8))
            self.weight_scales = nn.Buffer(torch.rand(weight[axis]) * 0.01 + 0.001)
            self.bias = nn.Parameter(torch.randn(weight[axis]), requires_grad=False)
            self.points = nn.Buffer(torch.zeros(weight[axis], dtype=torch.int64))

    def _layer(self) -> tuple[torch.Tensor, ...]:
        """The weight in floats, and the bias."""
        if not self.has_weight:
            return ()
        if self.exact:
            along = [-1 if d == self.axis else 1 for d in range(self.weight.dim())]
            return self.weight.double() * self.weight_scales.double().reshape(along), self.bias.double()
        form = (self.weight_scales, self.points, self.axis, -127, 127, torch.int8)
        return ops.dequantize_per_channel(self.weight, *form), self.bias

    def forward(self, *xs: torch.Tensor) -> torch.Tensor:
        if self.exact:
            reals = [x.double() * scale for x, scale in zip(xs, self.scales, strict=True)]
            steps = self.function(*reals, *self._layer()) / self.step
            return steps.round().clamp(-32768, 32767).to(torch.int16)
        form = (0, -32768, 32767, torch.int16)
        reals = [ops.dequantize_per_tensor(x, s, *form) for x, s in zip(xs, self.scales, strict=True)]
        result: torch.Tensor = ops.quantize_per_tensor(
            self.function(*reals, *self._layer()), self.step, *form
        )
        return result


IMAGE, ROWS = (2, 6, 24, 25), (300, 24)
# The function, the shapes of its inputs and of its weight, whose channels lie along an axis; the operator.
Case = tuple[Callable[..., torch.Tensor], list[tuple[int, ...]], tuple[int, ...] | None, int, str]
OPERATORS: dict[str, Case] = {
    "convolution": (lambda x, w, b: F.conv2d(x, w, b, 2, 1), [IMAGE], (20, 6, 3, 3), 0, "convolution"),
    "convolution and relu": (
        lambda x, w, b: F.relu(F.conv2d(x, w, b)), [IMAGE], (8, 6, 3, 3), 0, "convolution",
    ),
    "many products": (
        lambda x, w, b: F.conv2d(x, w, b), [(2, 128, 12, 12)], (9, 128, 3, 3), 0, "convolution",
    ),
    "depthwise": (
        lambda x, w, b: F.conv2d(x, w, b, padding=1, groups=6), [IMAGE], (6, 1, 3, 3), 0, "convolution",
    ),
    "groups": (
        lambda x, w, b: F.conv2d(x, w, b, dilation=2, groups=3), [IMAGE], (9, 2, 3, 3), 0, "convolution",
    ),
    "transposed": (
        lambda x, w, b: F.conv_transpose2d(x, w, b, 2), [IMAGE], (6, 5, 3, 3), 1, "convolution",
    ),
    "one dimension": (lambda x, w, b: F.conv1d(x, w, b, 1, 2), [(4, 6, 500)], (5, 6, 5), 0, "convolution"),
    "linear": (lambda x, w, b: F.linear(x, w, b), [ROWS], (30, 24), 0, "linear"),
    "linear of many products": (lambda x, w, b: F.linear(x, w, b), [(70, 2000)], (60, 2000), 0, "linear"),
    "sum": (lambda a, b: a + b, [IMAGE, IMAGE], None, 0, "add"),
    "sum that is rectified": (lambda a, b: F.relu(a + b), [IMAGE, IMAGE], None, 0, "add"),
    "difference": (lambda a, b: a - b, [IMAGE, (6, 1, 1)], None, 0, "add"),
    "product": (lambda a, b: a * b, [IMAGE, IMAGE], None, 0, "mul"),
    "product of matrices": (lambda a, b: a @ b, [(4, 40, 70), (4, 70, 50)], None, 0, "matmul"),
    "softmax": (lambda x: x.softmax(1), [(300, 12)], None, 0, "softmax"),
    "softmax of channels": (lambda x: x.softmax(1), [IMAGE], None, 0, "softmax"),
    "sigmoid": (torch.sigmoid, [IMAGE], None, 0, "curve"),
    "tanh": (lambda x: torch.tanh(2 * x), [IMAGE], None, 0, "curve"),
    "silu": (F.silu, [IMAGE], None, 0, "curve"),
    "gelu": (F.gelu, [IMAGE], None, 0, "curve"),
    "elu": (F.elu, [IMAGE], None, 0, "curve"),
    "leaky relu": (F.leaky_relu, [IMAGE], None, 0, "curve"),
    "hardswish": (F.hardswish, [IMAGE], None, 0, "curve"),
    "other numbers": (lambda x: x * 1.0, [IMAGE], None, 0, "curve"),
    "mean": (lambda x: x.mean((2, 3)), [(40, 300, 3, 5)], None, 0, "mean"),
    "average pool": (lambda x: F.avg_pool2d(x, 3, 2), [IMAGE], None, 0, "avg_pool2d"),
    "pool of volumes": (lambda x: F.avg_pool3d(x, 2, 1), [(2, 3, 6, 8, 9)], None, 0, "avg_pool3d"),
    "adaptive pool": (lambda x: F.adaptive_avg_pool2d(x, (5, 7)), [IMAGE], None, 0, "adaptive_avg_pool2d"),
}  # fmt: skip


@functools.cache
def apart(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The distances in steps of the program's outputs from the graph's in float32, and in float64."""
    function, shapes, weight, axis, operator = OPERATORS[name]
    torch.manual_seed(3)
    with torch.no_grad():
        part = Part(function, shapes, weight, axis)
        xs = [(torch.randn(shape) * 9000).round().clamp(-32768, 32767).to(torch.int16) for shape in shapes]
        part.exact, part.step = True, 1e-6
        reals = [x.double() * scale for x, scale in zip(xs, part.scales, strict=True)]
        part.step = float(function(*reals, *part._layer()).abs().max()) / 31973
        exact = part(*xs).numpy().astype(np.int64)
        part.exact = False
        in_float32 = part(*xs).numpy().astype(np.int64)
        exported = rushlight.export(part, tuple(xs))
        (method,) = exported.report.methods
        assert all(row.integers for row in method.arithmetic), method.arithmetic
        assert list(method.operators) == [f"rushlight::quantized_{operator}.out"]
        got = np.asarray(rushlight.load(exported.buffer).forward(*xs)[0]).astype(np.int64)
    return np.abs(got - in_float32).ravel(), np.abs(got - exact).ravel()


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_is_a_step_from_the_graph_at_most(name: str) -> None:
    in_float32, exact = apart(name)
    assert in_float32.max() <= 1
    assert exact.max() <= 1


def test_all_but_a_thousandth_of_the_results_are_equal() -> None:
    """Equal to the graph in float32, whose own rounding errors are hundredths of a step, and in float64. The
    differences that remain come from biases of whole steps and from averages that end in halves."""
    for name in OPERATORS:
        in_float32, exact = apart(name)
        assert (in_float32 > 0).mean() <= 0.004
        assert (exact > 0).mean() <= 0.002
    for distances in zip(*map(apart, OPERATORS), strict=True):
        assert (np.concatenate(distances) > 0).mean() <= 0.001


def quantized(module: nn.Module, shape: tuple[int, ...], scheme: Static = INT16) -> torch.fx.GraphModule:
    torch.manual_seed(3)
    calibration = [(torch.randn(shape),) for _ in range(3)]
    return quantize(module.eval(), calibration[0], calibration, RushlightQuantizer(scheme))


def step_of(graph: torch.fx.GraphModule) -> float:
    """The scale with which the output is dequantized."""
    last = next(node for node in reversed(graph.graph.nodes) if "dequantize_per_tensor" in str(node.target))
    return float(last.args[1])


def test_activations_of_16_bits_are_nearer_to_the_float_model() -> None:
    torch.manual_seed(3)
    module, shape = nn.Sequential(nn.Conv2d(6, 16, 3), nn.ReLU(), nn.Conv2d(16, 8, 3)).eval(), IMAGE
    x, errors = torch.randn(shape), {}
    with torch.no_grad():
        for scheme in (Static(), INT16):
            errors[scheme] = float((quantized(module, shape, scheme)(x) - module(x)).square().mean())
    assert errors[INT16] < errors[Static()] / 2


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(6, 6, 3, padding=1) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


def test_layers_of_16_bits_stand_beside_layers_of_8_bits() -> None:
    """Integers of one size are converted to the other by a table, or a curve."""
    module = Net().eval()
    torch.manual_seed(3)
    calibration = [(torch.randn(IMAGE),) for _ in range(3)]
    quantizer = RushlightQuantizer(Static(), by_module_name={"b": INT16})
    graph = quantize(module, calibration[0], calibration, quantizer)
    exported = rushlight.export(graph, calibration[0])
    (method,) = exported.report.methods
    assert all(row.integers for row in method.arithmetic)
    assert {"rushlight::quantized_lookup.out", "rushlight::quantized_curve.out"} <= method.operators.keys()
    x = torch.randn(IMAGE)
    got = np.asarray(rushlight.load(exported.buffer).forward(x)[0])
    with torch.no_grad():
        steps = np.rint((got - graph(x).numpy()) / step_of(graph))
    assert np.abs(steps).max() <= 2
    assert (steps != 0).mean() <= 0.02


def test_mixed_precision_gives_sensitive_layers_16_bits() -> None:
    module = Net().eval()
    torch.manual_seed(3)
    calibration = [(torch.randn(IMAGE),) for _ in range(3)]
    plain = mixed_precision(module, calibration[0], calibration, bound=1.0)
    assert not plain.left_out
    mixed = mixed_precision(module, calibration[0], calibration, bound=plain.error * 0.8, fallback=INT16)
    assert mixed.left_out
    assert mixed.error <= plain.error * 0.8
    graph = quantize(module, calibration[0], calibration, mixed.quantizer)
    exported = rushlight.export(graph, calibration[0])
    assert all(row.integers for row in exported.report.methods[0].arithmetic)


def test_inputs_and_outputs_are_integers_of_16_bits() -> None:
    module = nn.Conv2d(6, 4, 3).eval()
    graph = quantized(module, IMAGE)
    exported = rushlight.export(graph, (torch.randn(IMAGE),), quantize_io=True)
    program = rushlight.load(exported.buffer)
    (scale,), (point,) = program.method("input0_scale")(), program.method("input0_zp")()
    assert point == 0
    x = torch.randn(IMAGE)
    integers = (x / scale).round().clamp(-32767, 32767).to(torch.int16)
    got = torch.as_tensor(np.asarray(program.forward(integers)[0]))
    assert got.dtype == torch.int16
    with torch.no_grad():
        expected = (graph(integers * torch.tensor(scale)) / step_of(graph)).round()
    assert (got - expected).abs().max() <= 1


def test_bytes_go_into_a_program_of_16_bits() -> None:
    graph = quantized(nn.Conv2d(6, 4, 3).eval(), IMAGE)
    io = QuantizedIo(inputs={0: {"scale": 1 / 64, "zp": 128, "dtype": "uint8"}}, outputs=[])
    exported = rushlight.export(graph, (torch.randn(IMAGE),), quantize_io=io)
    assert "rushlight::quantized_lookup.out" in exported.report.methods[0].operators
    x = torch.randint(0, 256, IMAGE, dtype=torch.uint8)
    got = np.asarray(rushlight.load(exported.buffer).forward(x)[0])
    with torch.no_grad():
        expected = graph((x.float() - 128) / 64).numpy()
    assert np.abs(got - expected).max() <= 1.01 * step_of(graph)


def test_what_has_no_form_on_numbers_of_16_bits_stays_in_float_and_says_why() -> None:
    module = nn.Sequential(nn.Linear(24, 24), nn.LayerNorm(24), nn.Linear(24, 6))
    graph = quantized(module, ROWS)
    (method,) = rushlight.export(graph, (torch.randn(ROWS),)).report.methods
    reasons = {row.operator: row.reason for row in method.arithmetic if not row.integers}
    assert reasons == {"aten::native_layer_norm": "no kernel normalizes int16"}


def test_other_activations_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="activations: expected 'int8' or 'int16', got 'int32'"):
        Static(activations="int32")  # type: ignore[arg-type]
