# SPDX-License-Identifier: BSD-3-Clause
"""Which tensors are quantized, and which share a range."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402

from rushlight.quantize import RushlightQuantizer, Static, quantize  # noqa: E402
from support.quantized_models import make_case, relative_error, targets  # noqa: E402

ops = torch.ops.quantized_decomposed


class Lambda(nn.Module):
    def __init__(self, function, **layers: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def graph_of(function, *inputs, scheme: Static | None = None, **layers: nn.Module) -> torch.fx.GraphModule:
    torch.manual_seed(0)
    calibration = [[torch.randn_like(x) for x in inputs] for _ in range(4)]
    module = Lambda(function, **layers).eval()
    return quantize(module, inputs, calibration, RushlightQuantizer(scheme or Static()))


def quantized_values(graph: torch.fx.GraphModule) -> dict[str, tuple[float, int]]:
    """Scale and zero point of each activation that is quantized, by the name of what computed it."""
    return {
        node.args[0].name: node.args[1:3]
        for node in graph.graph.nodes
        if node.target is ops.quantize_per_tensor.default
    }


def test_nothing_between_a_convolution_and_its_activation_is_quantized() -> None:
    case = make_case("convnet")
    graph = quantize(case.module, case.draw(), case.calibration(4))
    names = targets(graph)
    assert "batch_norm" not in names
    for at, name in enumerate(names):
        if name in ("conv2d", "add") and names[at + 1] == "relu":
            assert names[at + 2] == "quantize_per_tensor"
    assert names.count("relu") == 3


def test_what_moves_numbers_keeps_their_range() -> None:
    def run(self, x):
        y = nn.functional.max_pool2d(self.conv(x), 2).permute(0, 2, 3, 1).reshape(1, -1)
        return self.linear(nn.functional.pad(y, (1, 1)))

    graph = graph_of(run, torch.randn(1, 2, 4, 4), conv=nn.Conv2d(2, 4, 1), linear=nn.Linear(18, 3))
    found = quantized_values(graph)
    assert set(found) == {"inputs_0", "conv2d", "max_pool2d", "permute", "reshape", "pad", "linear"}
    ranges = {found[name] for name in ("conv2d", "max_pool2d", "permute", "reshape", "pad")}
    assert len(ranges) == 1
    assert found["linear"] not in ranges


def test_padding_with_another_number_stays_float() -> None:
    def run(self, x):
        return self.conv(nn.functional.pad(self.conv(x), (1, 1, 1, 1), value=100.0))

    found = quantized_values(graph_of(run, torch.randn(1, 2, 4, 4), conv=nn.Conv2d(2, 2, 1)))
    assert set(found) == {"inputs_0", "conv2d", "pad", "conv2d_1"}
    assert found["pad"][0] > 0.3, "it has a separate range, which holds 100"


def test_what_nobody_reads_as_integers_is_not_quantized_again() -> None:
    graph = graph_of(lambda self, x: self.linear(x).reshape(-1), torch.randn(2, 4), linear=nn.Linear(4, 3))
    assert set(quantized_values(graph)) == {"inputs_0", "linear"}


def test_the_parts_of_a_split_keep_its_range() -> None:
    def run(self, x):
        first, second = self.linear(x).chunk(2, 1)
        return first * second

    found = quantized_values(graph_of(run, torch.randn(2, 4), linear=nn.Linear(4, 6)))
    assert found["getitem"] == found["getitem_1"] == found["linear"]


def test_inputs_of_a_concatenation_keep_their_ranges() -> None:
    def run(self, x, y):
        return self.linear(torch.cat([torch.relu(x) * x, self.other(y)], 1))

    inputs = (torch.randn(2, 4), torch.randn(2, 4))
    layers = {"linear": nn.Linear(8, 3), "other": nn.Linear(4, 4)}
    found = quantized_values(graph_of(run, *inputs, **layers))
    assert len({found["mul"], found["linear"], found["cat"]}) == 3


def test_products_of_activations_are_quantized_on_request() -> None:
    inputs = (torch.randn(2, 4), torch.randn(4, 3))
    assert not quantized_values(graph_of(lambda self, x, y: x @ y, *inputs))
    found = quantized_values(graph_of(lambda self, x, y: x @ y, *inputs, scheme=Static(matmul=True)))
    assert set(found) == {"inputs_0", "inputs_1", "matmul"}


def test_integers_and_numbers_stay_as_they_are() -> None:
    def run(self, x):
        index = torch.arange(4) + torch.arange(4)
        return x[:, index.clamp(0, 3)] + 1.0

    assert not quantized_values(graph_of(run, torch.randn(2, 4)))


def test_a_weight_that_changes_stays_as_it_is() -> None:
    graph = graph_of(lambda self, x, w: nn.functional.linear(x, w), torch.randn(2, 4), torch.randn(3, 4))
    assert not quantized_values(graph)


def test_in_place_operators_are_observed_behind_the_write() -> None:
    def run(self, x):
        y = self.linear(x)
        y += x
        y.mul_(x)
        return y * y.relu_()

    graph = graph_of(run, torch.randn(2, 4), linear=nn.Linear(4, 4))
    assert not [name for name in targets(graph) if name.endswith("_")]
    torch.manual_seed(0)
    x = torch.randn(2, 4)
    with torch.no_grad():
        y = torch.relu((nn.functional.linear(x, *_dequantized(graph)) + x) * x)
    assert relative_error(graph(x), y * y) < 0.02


def _dequantized(graph: torch.fx.GraphModule) -> tuple[torch.Tensor, torch.Tensor]:
    state = graph.state_dict()
    weight = next(value for value in state.values() if value.dtype == torch.int8)
    scale = next(value for name, value in state.items() if "scale" in name)
    return weight * scale[:, None], state["linear.bias"]


def test_a_write_to_a_viewed_tensor_stays_in_place() -> None:
    def run(self, x):
        y = self.linear(x)
        rows = y[0]
        y.add_(x)
        return rows

    graph = graph_of(run, torch.randn(2, 4), linear=nn.Linear(4, 4))
    assert "add_" in targets(graph)


def test_a_transposed_convolution_has_a_scale_for_each_output_channel() -> None:
    layers = {"up": nn.ConvTranspose2d(3, 5, 2)}
    graph = graph_of(lambda self, x: self.up(x), torch.randn(1, 3, 4, 4), **layers)
    scales = [value.shape for name, value in graph.state_dict().items() if "scale" in name]
    assert scales == [(5,)]
    grouped = graph_of(
        lambda self, x: self.up(x), torch.randn(1, 4, 4, 4), up=nn.ConvTranspose2d(4, 6, 2, groups=2)
    )
    assert "dequantize_per_channel" not in targets(grouped)
