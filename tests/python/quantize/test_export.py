# SPDX-License-Identifier: BSD-3-Clause
"""Quantized models as programs: what they compute, and what is stored of them."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e  # noqa: E402

import rushlight  # noqa: E402
from rushlight.program import Storage, TensorInfo  # noqa: E402
from rushlight.quantize import (  # noqa: E402
    Dynamic,
    RushlightQuantizer,
    Static,
    WeightOnly,
    convert,
    prepare_training,
    quantize,
)
from support.quantized_models import CASES, make_case, relative_error  # noqa: E402

SCHEMES = {
    "static": RushlightQuantizer(Static()),
    "static by tensor": RushlightQuantizer(Static(per_channel=False, ranges="minmax")),
    "dynamic": RushlightQuantizer(Dynamic()),
    "dynamic by token": RushlightQuantizer(Dynamic(per_token=True)),
    "8 bits": RushlightQuantizer(WeightOnly()),
    "8 bits in groups": RushlightQuantizer(WeightOnly(group_size=8)),
    "4 bits in groups": RushlightQuantizer(WeightOnly(bits=4, group_size=8)),
    "hybrid": RushlightQuantizer(
        Static(),
        by_module_type={nn.Linear: Dynamic(), nn.Embedding: WeightOnly(bits=4), nn.Conv1d: WeightOnly()},
    ),
}


def run(program: bytes, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    return torch.as_tensor(np.asarray(rushlight.load(program).forward(*inputs)[0]))


def stored(program: rushlight.program.Program) -> list[TensorInfo]:
    """The constants of all methods."""
    values = (value.data for plan in program.plans for value in plan.values)
    return [v for v in values if isinstance(v, TensorInfo) and v.storage is Storage.CONSTANT]


def quantization_steps(graph: torch.fx.GraphModule) -> list[float]:
    """The scales of the activations whose ranges were found beforehand."""
    target = torch.ops.quantized_decomposed.quantize_per_tensor.default
    return [node.args[1] for node in graph.graph.nodes if node.target is target]


# Every scheme with a model of linear layers, and all models in each of the ways that layers differ.
PAIRS = [
    *(("perceptron", scheme) for scheme in SCHEMES),
    *(
        (name, scheme)
        for name in CASES[:1] + CASES[2:]
        for scheme in ("static", "hybrid", "4 bits in groups")
    ),
]


@pytest.mark.parametrize(("name", "scheme"), PAIRS)
def test_a_program_computes_what_the_converted_graph_does(name: str, scheme: str) -> None:
    case = make_case(name)
    inputs = case.draw()
    graph = quantize(case.module, inputs, case.calibration(3), SCHEMES[scheme])
    got, expected = run(rushlight.export(graph, inputs).buffer, inputs), graph(*inputs).detach()
    # Sums in another order may round one step further, where a step is taken.
    step = max(quantization_steps(graph), default=0.0)
    assert torch.allclose(got, expected, atol=1.01 * step + 1e-5, rtol=1e-5)
    assert (got - expected).abs().mean() < 0.1 * step + 1e-5


@pytest.mark.parametrize(("name", "scheme"), [p for p in PAIRS if p[0] != "gated_cell"])
def test_the_official_runtime_computes_the_same(name: str, scheme: str) -> None:
    runtime = pytest.importorskip("executorch.runtime", reason="executorch is not installed")
    pytest.importorskip("executorch.kernels.quantized", reason="executorch has no quantized kernels")
    case = make_case(name)
    inputs = case.draw()
    graph = quantize(case.module, inputs, case.calibration(3), SCHEMES[scheme])
    program = rushlight.export(graph, inputs, runtime="executorch").buffer
    method = runtime.Runtime.get().load_program(program).load_method("forward")
    official = method.execute(list(inputs))[0]
    step = max(quantization_steps(graph), default=0.0)
    assert torch.allclose(run(program, inputs), official, atol=1.01 * step + 1e-5, rtol=1e-5)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_weights_are_stored_as_integers_alone(scheme: str) -> None:
    """Two layers of 16 x 32 and 32 x 6."""
    case = make_case("perceptron")
    inputs = case.draw()
    graph = quantize(case.module, inputs, case.calibration(3), SCHEMES[scheme])
    constants = stored(rushlight.export(graph, inputs).program)
    four_bits = scheme.startswith("4")
    # Vectors of int8 are shifts, of integer operators.
    weights = [c for c in constants if c.dtype in ("int8", "uint8") and len(c.sizes) > 1]
    assert {c.sizes for c in weights} == ({(32, 8), (6, 16)} if four_bits else {(32, 16), (6, 32)})
    assert {c.dtype for c in weights} == {"uint8" if four_bits else "int8"}
    floats = [c for c in constants if c.dtype == "float32"]
    groups = {(32, 2), (6, 4)} if "groups" in scheme else set()
    assert {c.sizes for c in floats} <= {(32,), (6,)} | groups
    assert not [c for c in constants if c.dtype == "int64" and not four_bits and "groups" not in scheme]


def test_a_large_program_is_a_quarter_or_an_eighth_of_the_float_one() -> None:
    torch.manual_seed(0)
    module, inputs = (
        nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).eval(),
        (torch.randn(1, 256),),
    )

    def size(scheme) -> int:
        graph = quantize(module, inputs, [inputs], RushlightQuantizer(scheme))
        return len(rushlight.export(graph, inputs).buffer)

    whole = size(None)
    for scheme in (Static(), Dynamic(), WeightOnly()):
        assert size(scheme) < 0.27 * whole
    assert size(WeightOnly(bits=4, group_size=64)) < 0.155 * whole


def test_weights_that_torchao_left_to_be_quantized_are_folded() -> None:
    case = make_case("perceptron")
    inputs = case.draw()
    traced = torch.export.export(case.module, inputs).module()
    prepared = prepare_pt2e(traced, RushlightQuantizer(Static()))
    prepared(*inputs)
    graph = convert_pt2e(prepared, fold_quantize=False)
    exported = rushlight.export(graph, inputs)
    weights = {c.sizes: c.dtype for c in stored(exported.program) if len(c.sizes) == 2}
    assert weights == {(32, 16): "int8", (6, 32): "int8"}
    assert relative_error(run(exported.buffer, inputs), graph(*inputs)) < 0.02


def test_a_weight_that_is_also_read_as_floats_is_stored_as_both() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(64, 64)

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            return nn.functional.linear(self.table(tokens), self.table.weight)

    torch.manual_seed(0)
    inputs = (torch.tensor([[1, 2, 3]]),)
    prepared = prepare_pt2e(
        torch.export.export(Tied().eval(), inputs).module(), RushlightQuantizer(Dynamic())
    )
    prepared(*inputs)
    graph = convert_pt2e(prepared, fold_quantize=False)
    exported = rushlight.export(graph, inputs)
    assert sorted(c.dtype for c in stored(exported.program) if len(c.sizes) == 2) == ["float32", "int8"]
    names = {operator for plan in exported.program.plans for operator in plan.operators}
    assert "quantized_decomposed::quantize_per_channel.out" not in names


def test_a_trained_model_becomes_a_program() -> None:
    case = make_case("convnet")
    graph = prepare_training(case.module, case.draw(), RushlightQuantizer(Static()))
    optimizer = torch.optim.SGD(graph.parameters(), 1e-2)
    for inputs in case.calibration(3):
        optimizer.zero_grad()
        graph(*inputs).square().mean().backward()
        optimizer.step()
    converted, inputs = convert(graph), case.draw()
    exported = rushlight.export(converted, inputs)
    got, expected = run(exported.buffer, inputs), converted(*inputs).detach()
    step = quantization_steps(converted)[-1]
    assert torch.allclose(got, expected, atol=1.01 * step)
    assert {c.dtype for c in stored(exported.program) if len(c.sizes) == 4} == {"int8"}
    assert not [name for name in exported.program.plans[0].operators if "batch_norm" in name]


def test_rows_may_be_many_or_few() -> None:
    case = make_case("perceptron")
    shapes = ({0: torch.export.Dim("batch", min=2, max=16)},)
    for scheme in (SCHEMES["static"], SCHEMES["dynamic by token"], SCHEMES["4 bits in groups"]):
        graph = quantize(case.module, case.draw(), case.calibration(3), scheme, dynamic_shapes=shapes)
        program = rushlight.export(graph, case.draw(), dynamic_shapes=shapes).buffer
        for rows in (2, 5, 16):
            x = torch.randn(rows, 16)
            expected = graph(x).detach()
            assert relative_error(run(program, (x,)), expected) < 0.03


@pytest.mark.parametrize("scheme", ["static", "dynamic", "8 bits", "4 bits in groups"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_models_of_half_precision_are_quantized_too(dtype: torch.dtype, scheme: str) -> None:
    case = make_case("perceptron")
    module, calibration = case.module.to(dtype), [(x.to(dtype),) for (x,) in case.calibration(3)]
    graph = quantize(module, calibration[0], calibration, SCHEMES[scheme])
    method = rushlight.load(rushlight.export(graph, calibration[0]).buffer)
    got = torch.as_tensor(method.forward(*calibration[0])[0])
    assert got.dtype == dtype
    assert relative_error(got.float(), graph(*calibration[0]).detach().float()) < 0.02
