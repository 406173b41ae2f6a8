# SPDX-License-Identifier: BSD-3-Clause
"""Quantization-aware training."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from rushlight.quantize import (  # noqa: E402
    Dynamic,
    RushlightQuantizer,
    Static,
    WeightOnly,
    convert,
    prepare_training,
    quantize,
)
from support.quantized_models import make_case, relative_error, targets  # noqa: E402


def train(name: str, quantizer: RushlightQuantizer, steps: int, forgotten: str = ""):
    """Trains a quantized model to do as the float one does, from where the float one is but for a layer that
    it forgot. Losses, the converted graph, the float model, and its case."""
    case = make_case(name)
    case.module.train()
    teacher = copy.deepcopy(case.module).eval()
    if forgotten:
        case.module.get_submodule(forgotten).reset_parameters()
    graph = prepare_training(case.module, case.draw(), quantizer)
    optimizer = torch.optim.SGD(graph.parameters(), 0.1)
    losses = []
    for inputs in case.calibration(steps):
        loss = (graph(*inputs) - teacher(*inputs).detach()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, convert(graph), teacher, case


@pytest.mark.parametrize(
    "scheme", [Static(), Static(per_channel=False), Dynamic(), WeightOnly(bits=4, group_size=8)], ids=str
)
def test_training_with_rounding_lowers_the_loss_and_converts(scheme) -> None:
    losses, graph, _, _ = train("perceptron", RushlightQuantizer(scheme), 100, forgotten="second")
    assert sum(losses[-10:]) < 0.5 * sum(losses[:10])
    weights = [v for v in graph.state_dict().values() if v.dtype == torch.int8 and v.numel() == 512]
    assert len(weights) == 1


def test_training_recovers_what_four_bits_lost() -> None:
    scheme = RushlightQuantizer(WeightOnly(bits=4))
    _, trained, teacher, case = train("perceptron", scheme, 200)
    plain = quantize(teacher, case.draw(), None, scheme)
    inputs = [case.draw() for _ in range(20)]

    def error(graph) -> float:
        return sum(relative_error(graph(*x), teacher(*x)) for x in inputs)

    assert error(trained) < error(plain)


def test_batch_norm_is_folded_and_layers_have_their_schemes() -> None:
    quantizer = RushlightQuantizer(Static(), by_module_name={"head": Dynamic()})
    _, graph, _, case = train("convnet", quantizer, 3)
    assert "batch_norm" not in targets(graph)
    assert targets(graph).count("choose_qparams") == 1
    inputs = case.draw()
    # In evaluation mode a row does not depend on its neighbours.
    whole, alone = graph(*inputs), graph(*(torch.cat([x[:1], x[:1]]) for x in inputs))
    assert torch.allclose(whole[:1], alone[:1], atol=1e-6)


def test_nothing_drops_out_after_training() -> None:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Dropout(0.5), torch.nn.Linear(64, 4))
    inputs = (torch.randn(3, 8),)
    graph = prepare_training(layers.train(), inputs, RushlightQuantizer(Static()))
    assert not torch.equal(graph(*inputs), graph(*inputs))
    graph = convert(graph)
    assert torch.equal(graph(*inputs), graph(*inputs))
