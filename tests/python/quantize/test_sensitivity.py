# SPDX-License-Identifier: BSD-3-Clause
"""Single layers quantized: their errors, and the layers left out for a bound."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402

from rushlight.errors import InvalidArgument  # noqa: E402
from rushlight.quantize import (  # noqa: E402
    Dynamic,
    RushlightQuantizer,
    Static,
    WeightOnly,
    convert,
    mixed_precision,
    quantize,
    sensitivity,
)
from rushlight.quantize.api import calibrated  # noqa: E402
from rushlight.quantize.layers import QuantizedLayers  # noqa: E402
from support.quantized_models import ConvNet, make_case, relative_error  # noqa: E402

SCHEMES = [
    Static(),
    Static(per_channel=False, ranges="minmax"),
    Static(symmetric_activations=True),
    Dynamic(),
    Dynamic(per_token=True),
    WeightOnly(),
    WeightOnly(bits=4, group_size=8),
]


class Block(nn.Module):
    """A residual sum around two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.up(x)))


class Wide(nn.Module):
    """The second of its three layers has one weight so large that the others of its row vanish."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.wide, self.last = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)
        with torch.no_grad():
            self.wide.weight[:, 0], self.first.weight[0], self.first.bias[0] = 40, 0, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.wide(torch.relu(self.first(x)))))


def wide() -> tuple[nn.Module, list[tuple[torch.Tensor]]]:
    torch.manual_seed(0)
    return Wide().eval(), [(torch.randn(16, 8),) for _ in range(4)]


@pytest.mark.parametrize("name", ["perceptron", "convnet", "transformer"])
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.filterwarnings("ignore:quantize. left in float")
def test_all_layers_quantized_give_the_outputs_of_the_converted_graph(name: str, scheme) -> None:
    case = make_case(name)
    batches = case.calibration()
    prepared = calibrated(case.module, batches[0], batches, RushlightQuantizer(scheme))
    layers = QuantizedLayers(prepared)
    with torch.no_grad():
        [mine] = layers.run(batches[1], layers.layers)
        [float_] = layers.run(batches[1], ())
        torch.testing.assert_close(float_, case.module(*batches[1]), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(mine, convert(prepared)(*batches[1]), rtol=0, atol=0)


def test_the_layer_with_bad_ranges_is_the_most_sensitive() -> None:
    module, batches = wide()
    found = sensitivity(module, batches[0], batches)
    assert found.layers[0].name == "wide"
    assert found.layers[0].operators == ("linear",)
    assert found.layers[0].weight_bytes == 8 * 8 * 4
    assert found.layers[0].alone > 3 * found.layers[1].alone
    assert min(found.layers, key=lambda layer: layer.without).name == "wide"
    assert all(layer.without < 2 * found.error for layer in found.layers)


def test_the_error_is_that_of_the_graph() -> None:
    module, batches = wide()
    graph = quantize(module, batches[0], batches)
    with torch.no_grad():
        mine, theirs = (torch.cat([each(*x) for x in batches]) for each in (graph, module))
    expected = float((mine - theirs).norm() / theirs.norm())
    assert sensitivity(module, batches[0], batches).error == pytest.approx(expected, rel=1e-5)


def test_a_layer_alone_is_what_a_quantizer_with_it_alone_makes() -> None:
    module, batches = wide()
    found = {layer.name: layer for layer in sensitivity(module, batches[0], batches).layers}
    only = quantize(module, batches[0], batches, RushlightQuantizer(None, by_module_name={"last": Static()}))
    with torch.no_grad():
        mine, theirs = (torch.cat([each(*x) for x in batches]) for each in (only, module))
    assert found["last"].alone == pytest.approx(float((mine - theirs).norm() / theirs.norm()), rel=1e-5)


def test_the_picture_and_the_document_have_every_layer() -> None:
    module, batches = wide()
    found = sensitivity(module, batches[0], batches)
    page = found.page()
    assert page.count("<rect") == 3
    assert all(f">{name}<" in page for name in ("first", "wide", "last"))
    assert [layer["name"] for layer in found.to_json()["layers"]] == [each.name for each in found.layers]


def test_layers_are_left_out_until_the_bound_is_kept() -> None:
    module, batches = wide()
    whole = sensitivity(module, batches[0], batches).error
    mixed = mixed_precision(module, batches[0], batches, whole / 2)
    assert mixed.left_out == ("wide",)
    assert mixed.error <= whole / 2
    graph = quantize(module, batches[0], batches, mixed.quantizer)
    with torch.no_grad():
        mine, theirs = (torch.cat([each(*x) for x in batches]) for each in (graph, module))
    assert float((mine - theirs).norm() / theirs.norm()) == pytest.approx(mixed.error, rel=1e-5)


def test_nothing_is_left_out_where_the_bound_is_kept_anyway() -> None:
    module, batches = wide()
    assert mixed_precision(module, batches[0], batches, 0.9).left_out == ()


@pytest.mark.parametrize("bound", [0.003, 1e-6])
def test_every_bound_can_be_kept_in_float(bound: float) -> None:
    torch.manual_seed(0)
    module, batches = ConvNet().eval(), [(torch.randn(1, 3, 8, 8),) for _ in range(4)]
    mixed = mixed_precision(module, batches[0], batches, bound)
    assert mixed.error <= bound
    assert mixed.left_out


def test_layers_inside_of_one_that_is_left_out_stay_quantized() -> None:
    torch.manual_seed(0)
    module, batches = nn.Sequential(Block(), nn.Linear(8, 4)).eval(), [(torch.randn(5, 8),) for _ in range(4)]
    every = {layer.name for layer in sensitivity(module, batches[0], batches).layers}
    assert every == {"0", "0.up", "0.down", "1"}
    mixed = mixed_precision(module, batches[0], batches, 0.006)
    left = set(mixed.left_out)
    graph = quantize(module, batches[0], batches, mixed.quantizer)
    weights = [
        value for value in graph.state_dict().values() if value.dtype == torch.int8 and value.dim() == 2
    ]
    assert len(weights) == len({"0.up", "0.down", "1"} - left)


def test_weights_may_stay_quantized_where_activations_do_not() -> None:
    module, batches = wide()
    whole = sensitivity(module, batches[0], batches).error
    mixed = mixed_precision(module, batches[0], batches, whole * 0.95, fallback=WeightOnly(group_size=2))
    assert mixed.left_out
    graph = quantize(module, batches[0], batches, mixed.quantizer)
    assert relative_error(graph(*batches[0]), module(*batches[0])) < whole * 2
    assert sum(value.dtype == torch.int8 and value.dim() == 2 for value in graph.state_dict().values()) >= 3


@pytest.mark.parametrize("bound", [0.0, -1.0, float("nan"), float("inf")])
def test_a_bound_that_is_no_error_is_refused(bound: float) -> None:
    module, batches = wide()
    with pytest.raises(InvalidArgument, match="bound: expected a finite number above 0"):
        mixed_precision(module, batches[0], batches, bound)


def test_a_measurement_without_inputs_is_refused() -> None:
    module, batches = wide()
    with pytest.raises(InvalidArgument, match="expected inputs on which to measure the error, got none"):
        sensitivity(module, batches[0], [])
