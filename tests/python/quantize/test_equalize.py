# SPDX-License-Identifier: BSD-3-Clause
"""Equalization across layers and bias correction, on models that need them and on one that does not."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402
from torchao.quantization.pt2e.utils import _fuse_conv_bn_  # noqa: E402

import rushlight  # noqa: E402
from rushlight.errors import InvalidArgument  # noqa: E402
from rushlight.quantize import Dynamic, RushlightQuantizer, Static, quantize  # noqa: E402
from rushlight.quantize.equalize import equalize  # noqa: E402

X = (4, 3, 8, 8)
PER_TENSOR = RushlightQuantizer(Static(per_channel=False))


def separable(spread: float) -> nn.Sequential:
    """A depthwise separable net. Its channels between two layers are scaled by up to 2^spread either way, and
    the next layer undoes that: the function is that of spread 0."""
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()]
    for inputs, outputs in ((16, 24), (24, 32)):
        layers += [nn.Conv2d(inputs, inputs, 3, padding=1, groups=inputs), nn.BatchNorm2d(inputs), nn.ReLU()]
        layers += [nn.Conv2d(inputs, outputs, 1), nn.BatchNorm2d(outputs), nn.ReLU()]
    layers += [nn.AvgPool2d(4), nn.Flatten(), nn.Linear(32 * 4, 10)]
    net = nn.Sequential(*layers).eval()
    norms = [layer for layer in net if isinstance(layer, nn.BatchNorm2d)]
    products = [layer for layer in net if isinstance(layer, (nn.Conv2d, nn.Linear))]
    with torch.no_grad():
        for norm, following in zip(norms, products[1:], strict=True):
            scale = torch.exp2((torch.rand(norm.num_features) * 2 - 1) * spread)
            norm.weight *= scale
            norm.bias.uniform_(-0.5, 0.5).mul_(scale)
            columns = scale.repeat_interleave(following.weight.shape[1] * _groups(following) // len(scale))
            shape = (-1, 1, 1, 1) if _groups(following) > 1 else (1, -1, *[1] * (following.weight.dim() - 2))
            following.weight /= columns.reshape(shape)
    return net


def _groups(layer: nn.Module) -> int:
    return getattr(layer, "groups", 1)


def batches(count: int = 6, seed: int = 1) -> list[tuple[torch.Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(X, generator=generator),) for _ in range(count)]


def error(graph: nn.Module, model: nn.Module) -> float:
    """On inputs that calibration did not see."""
    with torch.no_grad():
        mine, theirs = (torch.cat([each(*x) for x in batches(seed=2)]) for each in (graph, model))
    return float((mine - theirs).norm() / theirs.norm())


def captured(model: nn.Module) -> torch.fx.GraphModule:
    graph = torch.export.export(model, batches()[0], strict=False).module(check_guards=False)
    _fuse_conv_bn_(graph)
    return graph


@pytest.mark.parametrize("quantizer", [RushlightQuantizer(), PER_TENSOR], ids=["channels", "tensors"])
def test_equalization_keeps_each_bit_of_float_outputs(quantizer: RushlightQuantizer) -> None:
    model = separable(6.0)
    graph, before = captured(model), captured(model)
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    assert equalize(graph, batches(), quantizer) == 5
    with torch.no_grad():
        for x in batches(seed=3):
            assert torch.equal(graph(*x), before(*x))
    changed = [
        name
        for name, value in graph.state_dict().items()
        if not torch.equal(value, before.state_dict()[name])
    ]
    assert len(changed) >= 6
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize("quantizer", [RushlightQuantizer(), PER_TENSOR], ids=["channels", "tensors"])
def test_equalization_helps_where_ranges_of_channels_differ(quantizer: RushlightQuantizer) -> None:
    model, seen = separable(6.0), batches()
    plain = error(quantize(model, seen[0], seen, quantizer), model)
    equal = error(quantize(model, seen[0], seen, quantizer, equalize=True), model)
    assert equal < plain / 3


def test_equalization_costs_nothing_where_ranges_are_equal() -> None:
    model, seen = separable(0.0), batches()
    plain = error(quantize(model, seen[0], seen), model)
    assert error(quantize(model, seen[0], seen, equalize=True), model) < 1.15 * plain


def test_layers_that_do_more_than_scale_are_not_equalized() -> None:
    torch.manual_seed(0)
    silu = nn.Sequential(nn.Conv2d(3, 4, 3), nn.SiLU(), nn.Conv2d(4, 4, 3))
    read_twice = nn.Sequential(nn.Conv2d(3, 3, 1), nn.ReLU())
    read_twice.append(read_twice[0])
    for model in (silu, read_twice, nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU6(), nn.Conv2d(4, 4, 3))):
        assert equalize(captured(model.eval()), batches(), RushlightQuantizer()) == 0


def test_layers_of_other_schemes_are_not_equalized() -> None:
    assert equalize(captured(separable(1.0)), batches(), RushlightQuantizer(Dynamic())) == 0


def test_groups_are_equalized_each_by_its_own_inputs() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 12, 3, groups=4)).eval()
    with torch.no_grad():
        model[0].weight *= torch.exp2(torch.arange(8.0) - 4).reshape(-1, 1, 1, 1)
    graph, before = captured(model), captured(model)
    assert equalize(graph, batches(), RushlightQuantizer()) == 1
    assert not torch.equal(graph.get_parameter("2.weight"), before.get_parameter("2.weight"))
    with torch.no_grad():
        assert torch.equal(graph(*batches()[0]), before(*batches()[0]))


@pytest.mark.parametrize("spread", [0.0, 4.0])
def test_bias_correction_brings_the_mean_of_outputs_to_that_of_the_float_model(spread: float) -> None:
    model, seen = separable(spread), batches()
    plain = quantize(model, seen[0], seen, PER_TENSOR)
    correct = quantize(model, seen[0], seen, PER_TENSOR, correct_bias=True)

    def shift(graph: nn.Module) -> float:
        with torch.no_grad():
            return float(torch.cat([graph(*x) - model(*x) for x in seen]).mean(0).norm())

    assert shift(correct) < shift(plain) / 2
    assert error(correct, model) < error(plain, model)


def test_layers_without_bias_get_one_and_the_program_computes_with_it() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, bias=False), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5, bias=False)
    )
    model.eval()
    seen = batches()
    graph = quantize(model, seen[0], seen, correct_bias=True)
    biases = [name for name, _ in graph.named_buffers() if name.startswith("_corrected_bias")]
    assert len(biases) == 2
    exported = rushlight.export(graph, seen[0])
    assert exported.report.methods[0].operators["rushlight::quantized_convolution.out"] == 1
    with torch.no_grad():
        expected = graph(*seen[1])
    [y] = rushlight.load(exported.buffer).forward(*seen[1])
    assert float((torch.as_tensor(y) - expected).abs().max()) < 0.02 * float(expected.abs().max())


def test_a_bias_that_two_layers_read_stays() -> None:
    torch.manual_seed(0)
    shared = nn.Conv2d(3, 3, 1)
    model, seen = nn.Sequential(shared, nn.ReLU(), shared).eval(), batches()
    graph = quantize(model, seen[0], seen, correct_bias=True)
    assert any(torch.equal(value, shared.bias) for _, value in graph.named_parameters())


@pytest.mark.parametrize("option", ["equalize", "correct_bias"])
def test_both_need_calibration_inputs(option: str) -> None:
    model = separable(0.0)
    with pytest.raises(InvalidArgument, match="expected inputs for equalize and correct_bias, got none"):
        quantize(model, batches()[0], None, RushlightQuantizer(Dynamic()), **{option: True})
