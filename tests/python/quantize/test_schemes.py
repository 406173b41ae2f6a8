# SPDX-License-Identifier: BSD-3-Clause
"""Models quantized in one call, in PyTorch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from rushlight.errors import InvalidArgument  # noqa: E402
from rushlight.quantize import Dynamic, RushlightQuantizer, Static, WeightOnly, quantize  # noqa: E402
from support.quantized_models import make_case, relative_error, targets  # noqa: E402

# A scheme, and how far from float a small model may be with it.
SCHEMES = [
    (Static(), 0.05),
    (Static(per_channel=False, ranges="minmax"), 0.05),
    (Static(symmetric_activations=True, ranges="minmax"), 0.05),
    (Static(matmul=True), 0.05),
    (Dynamic(), 0.015),
    (Dynamic(per_channel=False), 0.02),
    (Dynamic(per_token=True), 0.015),
    (WeightOnly(), 0.01),
    (WeightOnly(group_size=8), 0.01),
    (WeightOnly(bits=4, group_size=8), 0.2),
]


def quantized(name: str, quantizer: RushlightQuantizer):
    case = make_case(name)
    inputs = case.draw()
    return quantize(case.module, inputs, case.calibration(), quantizer), case.module, inputs


@pytest.mark.parametrize("name", ["perceptron", "joined"])
@pytest.mark.parametrize(("scheme", "allowed"), SCHEMES, ids=str)
def test_a_quantized_model_computes_nearly_what_the_float_one_does(name, scheme, allowed) -> None:
    graph, module, inputs = quantized(name, RushlightQuantizer(scheme))
    assert relative_error(graph(*inputs), module(*inputs)) < allowed


@pytest.mark.parametrize("scheme", [Static(), Dynamic(), WeightOnly(), WeightOnly(bits=4, group_size=8)])
def test_no_float_copy_of_a_weight_stays(scheme) -> None:
    graph, module, _ = quantized("perceptron", RushlightQuantizer(scheme))
    state = graph.state_dict()
    weights = sorted(v.numel() for v in state.values() if v.dtype == torch.int8 and v.dim() == 2)
    assert [n for n in weights if n in (16 * 32, 32 * 6)] == [32 * 6, 16 * 32]
    floats = {name: value.numel() for name, value in state.items() if value.is_floating_point()}
    assert max(floats.values()) < 32 * 6
    assert module.first.weight.dtype == torch.float32


def test_four_bit_weights_are_between_minus_eight_and_seven() -> None:
    graph, _, _ = quantized("perceptron", RushlightQuantizer(WeightOnly(bits=4, group_size=8)))
    weights = [v for name, v in graph.state_dict().items() if name.startswith("_quantized_weight")]
    assert len(weights) == 2
    for weight in weights:
        assert weight.min() >= -8
        assert weight.max() == 7


def test_a_group_that_does_not_divide_a_row_becomes_the_row() -> None:
    graph, _, _ = quantized("perceptron", RushlightQuantizer(WeightOnly(group_size=12)))
    scales = [tuple(v.shape) for name, v in graph.state_dict().items() if "scale" in name]
    assert scales == [(32, 1), (6, 1)]


def test_a_tensor_has_one_scale_where_channels_share() -> None:
    graph, _, _ = quantized("perceptron", RushlightQuantizer(Static(per_channel=False)))
    assert "dequantize_per_channel" not in targets(graph)


def test_dynamic_quantization_searches_for_ranges_in_the_graph() -> None:
    graph, _, _ = quantized("perceptron", RushlightQuantizer(Dynamic()))
    assert targets(graph).count("choose_qparams") == 2
    graph, _, _ = quantized("perceptron", RushlightQuantizer(Dynamic(per_token=True)))
    assert targets(graph).count("choose_qparams_per_token_asymmetric") == 2


def test_static_quantization_without_calibration_says_what_is_missing() -> None:
    case = make_case("perceptron")
    with pytest.raises(InvalidArgument, match="calibration"):
        quantize(case.module, case.draw())


def test_schemes_refuse_what_they_do_not_know() -> None:
    with pytest.raises(InvalidArgument, match="bits: expected 4 or 8, got 3"):
        WeightOnly(bits=3)
    with pytest.raises(InvalidArgument, match="group_size: expected 2 or more, got 1"):
        WeightOnly(group_size=1)
    with pytest.raises(InvalidArgument, match="ranges"):
        Static(ranges="mean")
    with pytest.raises(InvalidArgument, match="default: expected Static"):
        RushlightQuantizer("int8")


def test_the_module_stays_as_it_was() -> None:
    case = make_case("convnet")
    before = {name: value.clone() for name, value in case.module.state_dict().items()}
    case.module.train()
    quantize(case.module, case.draw(), case.calibration())
    assert case.module.training
    for name, value in case.module.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_sizes_may_change_from_run_to_run() -> None:
    case = make_case("perceptron")
    batch = torch.export.Dim("batch", min=2, max=16)
    for scheme in (Static(), Dynamic(), Dynamic(per_token=True), WeightOnly(bits=4)):
        graph = quantize(
            case.module,
            case.draw(),
            case.calibration(),
            RushlightQuantizer(scheme),
            dynamic_shapes=({0: batch},),
        )
        x = torch.randn(9, 16)
        assert relative_error(graph(x), case.module(x)) < 0.2
