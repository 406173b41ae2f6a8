# SPDX-License-Identifier: BSD-3-Clause
"""Linear layers of dynamic and weight-only quantization, beside the graphs of PyTorch that they were exported
from: our quantizer's, the official one's and torchao's."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
torchao = pytest.importorskip("torchao.quantization", reason="torchao is not installed")

from torch import nn  # noqa: E402
from torchao.kernel import intmm  # noqa: E402
from torchao.quantization.granularity import PerAxis, PerGroup  # noqa: E402
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e  # noqa: E402

import rushlight  # noqa: E402
from rushlight.quantize import Dynamic, RushlightQuantizer, WeightOnly, quantize  # noqa: E402

DYNAMIC, WEIGHT_ONLY = "rushlight::dynamic_linear.out", "rushlight::weight_only_linear.out"
Make = Callable[[nn.Module, torch.Tensor], nn.Module]


def own(scheme: Dynamic | WeightOnly) -> Make:
    """By our quantizer."""
    return lambda module, x: quantize(module, (x,), [(x,)], RushlightQuantizer(scheme))


def official(module: nn.Module, x: torch.Tensor) -> nn.Module:
    """By the official quantizer."""
    xnnpack = pytest.importorskip(
        "executorch.backends.xnnpack.quantizer.xnnpack_quantizer", reason="executorch is not installed"
    )
    config = xnnpack.get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True)
    graph = torch.export.export(module, (x,)).module(check_guards=False)
    prepared = prepare_pt2e(graph, xnnpack.XNNPACKQuantizer().set_global(config))
    prepared(x)
    return convert_pt2e(prepared)


def ao(config: torchao.quant_api.AOBaseConfig) -> Make:
    """By torchao."""

    def make(module: nn.Module, x: torch.Tensor) -> nn.Module:
        quantized = copy.deepcopy(module)
        torchao.quantize_(quantized, config)
        return quantized

    return make


def da(dtype: torch.dtype, granularity: PerAxis | PerGroup, **settings: object) -> Make:
    """torchao's, with int8 activations and weights of some dtype."""
    return ao(
        torchao.Int8DynamicActivationIntxWeightConfig(
            weight_dtype=dtype, weight_granularity=granularity, **settings
        )
    )


# How a layer is quantized, the operator that it becomes, and the bits that a weight takes with its scale.
FORMS: dict[str, tuple[Make, str, float]] = {
    "own": (own(Dynamic()), DYNAMIC, 8),
    "own per token": (own(Dynamic(per_token=True)), DYNAMIC, 8),
    "own with one scale": (own(Dynamic(per_channel=False)), DYNAMIC, 8),
    "official": (official, DYNAMIC, 8),
    "own weights": (own(WeightOnly()), WEIGHT_ONLY, 8),
    "own weights of 4 bits": (own(WeightOnly(bits=4, group_size=32)), WEIGHT_ONLY, 5),
    "own weights of 4 bits by rows": (own(WeightOnly(bits=4, group_size=256)), WEIGHT_ONLY, 4),
    "torchao int8": (ao(torchao.Int8DynamicActivationInt8WeightConfig()), DYNAMIC, 8),
    "torchao 8da8w": (da(torch.int8, PerAxis(0)), DYNAMIC, 8),
    "torchao 8da4w": (da(torch.int4, PerGroup(32)), DYNAMIC, 5),
    "torchao 8da4w by rows": (da(torch.int4, PerAxis(0)), DYNAMIC, 4),
    "torchao int8 weights": (ao(torchao.Int8WeightOnlyConfig()), WEIGHT_ONLY, 8),
    "torchao int4 weights": (
        ao(torchao.IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(64))),
        WEIGHT_ONLY,
        4.5,
    ),
}
# The layer's input sizes, and whether it has a bias.
LAYERS = {"rows": ((5, 256), True), "one row": ((1, 256), True), "three dimensions": ((2, 3, 256), False)}
FEATURES = 192


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("form", FORMS)
def test_a_layer_has_the_numbers_of_the_graph_but_for_rounding(form: str, layer: str) -> None:
    torch.manual_seed(5)
    (make, operator, bits), (shape, has_bias) = FORMS[form], LAYERS[layer]
    module, x = nn.Linear(256, FEATURES, bias=has_bias).eval(), torch.randn(shape)
    with torch.no_grad():
        graph = make(module, x)
        exported = rushlight.export(graph, (x,))
        report = exported.report.methods[0]
        assert report.operators == {operator: 1}
        assert not report.remarks
        # Nothing but the integers and their scales, and nothing of a weight's size in memory.
        assert len(exported.buffer) < 256 * FEATURES * bits / 8 + 6000
        program = rushlight.load(exported.buffer)
        for _ in range(4):
            x = torch.randn(shape) + 0.5
            # Sums of products are exact, or have float32's rounding.
            size = x.abs() @ module.weight.abs().T + 1
            apart = torch.from_numpy(np.asarray(program.forward(x)[0])) - graph(x)
            assert (apart.abs() <= size * 2.0**-21).all()


@pytest.mark.parametrize("unsigned", [False, True], ids=["signed", "unsigned"])
def test_torchao_writes_products_for_the_machine_that_exports(
    unsigned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torchao writes products of unsigned integers for CPUs with VNNI and without AMX."""
    monkeypatch.setattr(intmm, "_cpu_is_vnni_supported", lambda: unsigned)
    monkeypatch.setattr(intmm, "_cpu_is_amx_tile_supported", lambda: not unsigned)
    test_a_layer_has_the_numbers_of_the_graph_but_for_rounding("torchao int8", "rows")


@pytest.mark.parametrize("form", FORMS)
def test_layers_behind_one_another(form: str) -> None:
    torch.manual_seed(6)
    make, operator, _ = FORMS[form]
    layers = [nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64, bias=False), nn.Tanh(), nn.Linear(64, 10)]
    module, x = nn.Sequential(*layers).eval(), torch.randn(8, 64)
    with torch.no_grad():
        graph = make(module, x)
        exported = rushlight.export(graph, (x,))
        report = exported.report.methods[0]
        assert report.operators[operator] == 3
        assert not any("quant" in name for name in report.operators)
        result = torch.from_numpy(np.asarray(rushlight.load(exported.buffer).forward(x)[0]))
        # Where a rounded number of a layer falls on the other side of a half, all results move a little.
        expected = graph(x)
        assert (result - expected).abs().max() < 0.02 * expected.abs().max()


def test_rows_of_any_number() -> None:
    torch.manual_seed(7)
    module, x = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8)).eval(), torch.randn(4, 64)
    rows = torch.export.Dim("rows", min=2, max=16)
    for form in ("own per token", "torchao 8da4w", "torchao int8", "torchao int8 weights"):
        with torch.no_grad():
            graph = FORMS[form][0](module, x)
            exported = rushlight.export(graph, (x,), dynamic_shapes=({0: rows},))
            assert exported.report.methods[0].operators[FORMS[form][1]] == 2
            program = rushlight.load(exported.buffer)
            for count in (2, 7, 16):
                x = torch.randn(count, 64)
                result = torch.from_numpy(np.asarray(program.forward(x)[0]))
                torch.testing.assert_close(result, graph(x), rtol=0.01, atol=0.01)


def test_what_stays_in_float_says_why() -> None:
    x = torch.randn(2, 8)
    asymmetric = da(torch.int4, PerAxis(0), weight_mapping_type=torchao.MappingType.ASYMMETRIC)
    with torch.no_grad():
        graph = asymmetric(nn.Linear(8, 4).eval(), x)
        exported = rushlight.export(graph, (x,))
        report = exported.report.methods[0]
        assert DYNAMIC not in report.operators
        result = torch.from_numpy(np.asarray(rushlight.load(exported.buffer).forward(x)[0]))
        torch.testing.assert_close(result, graph(x), rtol=1e-5, atol=1e-5)
    assert any("its weight has zero points" in remark for remark in report.remarks)
