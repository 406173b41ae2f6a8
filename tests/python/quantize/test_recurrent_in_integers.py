# SPDX-License-Identifier: BSD-3-Clause
"""Recurrent layers that are one operator: graphs beside float, and programs beside graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e  # noqa: E402

import rushlight  # noqa: E402
from rushlight.integers.recurrent import tables  # noqa: E402
from rushlight.quantize import (  # noqa: E402
    Dynamic,
    RushlightQuantizer,
    Static,
    convert,
    prepare_training,
    quantize,
)
from support.quantized_models import relative_error, targets  # noqa: E402

WHOLE = RushlightQuantizer(Static(ranges="minmax"), unroll=False)
KINDS = {"lstm": nn.LSTM, "gru": nn.GRU}
FORMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "without bias": {"bias": False},
    "two layers": {"num_layers": 2},
    "both ways": {"bidirectional": True},
    "bidirectional, two layers, batch first": {"bidirectional": True, "num_layers": 2, "batch_first": True},
}


class Model(nn.Module):
    """A recurrent layer, of which the outputs and some of the last states are read."""

    def __init__(self, kind: str, reads: str = "output", **how: Any) -> None:
        super().__init__()
        self.layer, self.reads = KINDS[kind](7, 12, **how), reads

    def forward(self, x: torch.Tensor, state: Any = None) -> Any:
        output, last = self.layer(x, state)
        states = list(last) if isinstance(last, tuple) else [last]
        return {"output": output, "hidden": states[0], "all": (output, *states)}[self.reads]


def drawn(count: int, *shape: int, seed: int = 1) -> list[tuple[torch.Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(*shape, generator=generator),) for _ in range(count)]


def run(program: bytes, *inputs: Any) -> list[torch.Tensor]:
    given = [each.numpy() for each in pytree.tree_leaves(inputs)]
    return [torch.as_tensor(np.asarray(each)) for each in rushlight.load(program).forward(*given)]


def assert_same(program: bytes, graph: nn.Module, inputs: list[tuple[Any, ...]]) -> None:
    """No result is more than one step off, and 99.9 % are equal. Steps are the least distances."""
    equal = count = 0
    for given in inputs:
        expected = [each.detach() for each in pytree.tree_leaves(graph(*given))]
        for got, wanted in zip(run(program, *given), expected, strict=True):
            step = float(torch.diff(torch.unique(wanted)).min())
            assert (got - wanted).abs().max() <= 1.001 * step
            equal += int(torch.isclose(got, wanted, atol=step / 100, rtol=0).sum())
            count += wanted.numel()
    assert equal >= 0.999 * count


def in_float(exported: Any) -> list[str]:
    """Operators that compute in float."""
    return [
        each.operator for method in exported.report.methods for each in method.arithmetic if not each.integers
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_program_computes_what_its_graph_does(kind: str, form: str) -> None:
    torch.manual_seed(len(form))
    model = Model(kind, "all", **FORMS[form]).eval()
    batches = drawn(6, 15, 3, 7)
    graph = quantize(model, batches[0], batches, WHOLE)
    directions = 1 + model.layer.bidirectional
    assert targets(graph).count("recurrent_layer") == directions * model.layer.num_layers
    for got, expected in zip(graph(*batches[0]), model(*batches[0]), strict=True):
        assert 0 < relative_error(got, expected) < 0.06
    exported = rushlight.export(graph, batches[0])
    called = [each.operator for each in exported.report.methods[0].arithmetic]
    assert f"rushlight::quantized_{kind}" in called
    assert in_float(exported) == []
    assert_same(exported.buffer, graph, drawn(8, 15, 3, 7, seed=2))


@pytest.mark.parametrize("kind", KINDS)
def test_states_may_be_given(kind: str) -> None:
    torch.manual_seed(1)
    model = Model(kind, "all").eval()
    state = torch.rand(1, 3, 12) * 2 - 1
    given = (state, 3 * torch.randn(1, 3, 12)) if kind == "lstm" else state
    batches = [(x, given) for (x,) in drawn(4, 9, 3, 7)]
    graph = quantize(model, batches[0], batches, WHOLE)
    for got, expected in zip(graph(*batches[0]), model(*batches[0]), strict=True):
        assert relative_error(got, expected) < 0.06
    exported = rushlight.export(graph, batches[0])
    assert set(in_float(exported)) == {"aten::select_copy"}, "selects the first layer's state"
    assert_same(exported.buffer, graph, batches)


@pytest.mark.parametrize("reads", ["output", "hidden"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_reads_is_not_there(kind: str, reads: str) -> None:
    model = Model(kind, reads).eval()
    batches = drawn(3, 6, 2, 7)
    graph = quantize(model, batches[0], batches, WHOLE)
    exported = rushlight.export(graph, batches[0], quantize_io=True)
    called = [each.operator for each in exported.report.methods[0].arithmetic]
    assert in_float(exported) == [] and not any("quantize_per" in operator for operator in called)
    # 84 numbers in, 144 out, 24 cells of 16 bits, and at most a selected state: all else is constant.
    assert exported.report.methods[0].plan.lower_bound < 500
    assert_same(rushlight.export(graph, batches[0]).buffer, graph, batches)


def test_layers_share_the_tables() -> None:
    model, batches = nn.LSTM(8, 8, 3, bidirectional=True).eval(), drawn(2, 4, 1, 8)
    program = rushlight.export(quantize(model, batches[0], batches, WHOLE), batches[0]).buffer
    assert program.count(tables().tobytes()) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_torchaos_own_steps_do(kind: str) -> None:
    torch.manual_seed(0)
    model, batches = Model(kind).eval(), drawn(3, 6, 2, 7)
    captured = torch.export.export(model, batches[0], strict=False).module(check_guards=False)
    prepared = prepare_pt2e(captured, WHOLE)
    for batch in batches:
        prepared(*batch)
    graph = convert_pt2e(prepared)
    expected = quantize(model, batches[0], batches, WHOLE)
    assert torch.equal(graph(*batches[0]), expected(*batches[0]))


@pytest.mark.parametrize("kind", KINDS)
def test_for_the_official_runtime_a_layer_is_taken_apart(kind: str) -> None:
    torch.manual_seed(0)
    model, batches = Model(kind, bidirectional=True).eval(), drawn(4, 6, 2, 7)
    graph = quantize(model, batches[0], batches, WHOLE)
    program = rushlight.export(graph, batches[0], runtime="executorch").buffer
    runtime = pytest.importorskip("executorch.runtime", reason="executorch is not installed")
    pytest.importorskip("executorch.kernels.quantized", reason="executorch is not installed")
    method = runtime.Runtime.get().load_program(program).load_method("forward")
    expected = graph(*batches[0]).detach()
    (got,) = method.execute(list(batches[0]))
    step = float(torch.diff(torch.unique(expected)).min())
    assert (got - expected).abs().max() < 4 * step


@pytest.mark.parametrize("scheme", [Dynamic(), Static(activations="int16")], ids=str)
def test_other_schemes_keep_a_layer_whole(scheme) -> None:
    batches = drawn(2, 6, 2, 7)
    with pytest.warns(UserWarning, match="unroll=True"):
        graph = quantize(nn.LSTM(7, 12).eval(), batches[0], batches, RushlightQuantizer(scheme))
    assert "lstm" in targets(graph) and "recurrent_layer" not in targets(graph)


def test_training_keeps_a_layer_whole() -> None:
    with pytest.warns(UserWarning, match="unroll=True"):
        prepared = prepare_training(Model("lstm"), drawn(1, 6, 2, 7)[0], RushlightQuantizer(Static()))
    prepared(*drawn(1, 6, 2, 7)[0])
    assert "lstm" in targets(convert(prepared))


class Recall(nn.Module):
    """Says which of four symbols came first, of a sequence [steps, batch, 4] of noisy ones."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer, self.head = KINDS[kind](4, 16), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(x)[0][-1])


def sequences(count: int, steps: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    symbols = torch.randint(4, (steps, count), generator=generator)
    noise = 0.3 * torch.randn(steps, count, 4, generator=generator)
    return nn.functional.one_hot(symbols, 4) + noise, symbols[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_trained_layer_is_as_right_as_in_float_and_unrolled(kind: str) -> None:
    torch.manual_seed(0)
    model, x, wanted = Recall(kind), *sequences(400, 8, seed=0)
    optimizer = torch.optim.Adam(model.parameters(), 0.03)
    for _ in range(150):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), wanted).backward()
        optimizer.step()
    model.eval()
    held, right = sequences(400, 8, seed=1)
    calibration = [(x,)]

    def share(of: nn.Module) -> float:
        return float((of(held).argmax(1) == right).float().mean())

    whole, unrolled = (
        quantize(model, (held,), calibration, RushlightQuantizer(Static(), unroll=unroll))
        for unroll in (False, True)
    )
    accuracy = share(model)
    assert accuracy > 0.9
    assert share(whole) > accuracy - 0.01
    assert share(whole) > share(unrolled) - 0.01
    (got,) = run(rushlight.export(whole, (held,)).buffer, held)
    assert float((got.argmax(1) == right).float().mean()) > accuracy - 0.01
