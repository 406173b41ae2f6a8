# SPDX-License-Identifier: BSD-3-Clause
"""Programs with integer inputs and outputs, compared with the same graph with float inputs and outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402

import rushlight  # noqa: E402
from rushlight.errors import InvalidArgument  # noqa: E402
from rushlight.export import Exported, QuantizedIo  # noqa: E402
from rushlight.export.quantized_io import Numbers  # noqa: E402
from rushlight.quantize import Dynamic, RushlightQuantizer, Static, quantize  # noqa: E402
from support.quantized_models import make_case  # noqa: E402

KEYS = ("scale", "zp", "quant_min", "quant_max", "dtype")


def net() -> tuple[torch.fx.GraphModule, torch.Tensor]:
    """A quantized convolutional net that ends with a view, and an input for it."""
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Conv2d(2, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10))
    layers.append(nn.Unflatten(1, (2, 5)))
    x = torch.randn(1, 2, 8, 8)
    graph = quantize(layers.eval(), (x,), [(torch.randn_like(x),) for _ in range(5)])
    return graph, x


def numbers(exported: Exported) -> tuple[Numbers, Numbers]:
    """Scale and zero point of the one input and of the one output."""
    found = exported.report.methods[0].numbers
    return found.inputs[0], found.outputs[0]


def integers(x: torch.Tensor, to: Numbers) -> np.ndarray:
    """As PyTorch quantizes."""
    dtype = getattr(torch, to.dtype)
    form = (to.scale, to.zero_point, to.quant_min, to.quant_max, dtype)
    result: np.ndarray = torch.ops.quantized_decomposed.quantize_per_tensor(x, *form).numpy()
    return result


def real(y: Any, of: Numbers) -> np.ndarray:
    return (np.asarray(y).astype(np.float32) - of.zero_point) * np.float32(of.scale)


@pytest.mark.parametrize("runtime", ["rushlight", "executorch"])
@pytest.mark.parametrize("form", [True, "int8", "uint8"])
def test_outputs_are_those_of_the_program_with_floats(form: Any, runtime: str) -> None:
    graph, x = net()
    floats = rushlight.load(rushlight.export(graph, (x,), runtime=runtime).buffer).forward(x)[0]
    exported = rushlight.export(graph, (x,), runtime=runtime, quantize_io=form)
    of_input, of_output = numbers(exported)
    expected = "uint8" if form == "uint8" else "int8"
    assert (of_input.dtype, of_output.dtype) == (expected, expected)
    [y] = rushlight.load(exported.buffer).forward(integers(x, of_input))
    assert np.asarray(y).dtype == expected
    np.testing.assert_array_equal(real(y, of_output), np.asarray(floats))


def test_no_quantize_is_left_in_the_program() -> None:
    graph, x = net()
    called = rushlight.export(graph, (x,), quantize_io=True).report.methods[0].operators
    assert not [name for name in called if "quantize_per_tensor" in name or "lookup" in name]


def test_bytes_of_an_image_are_turned_by_a_table() -> None:
    graph, _ = net()
    image = np.random.default_rng(1).integers(0, 256, (1, 2, 8, 8), np.uint8)
    x = torch.from_numpy((image.astype(np.float32) - 128) * np.float32(1 / 64))
    io = QuantizedIo(inputs={0: {"scale": 1 / 64, "zp": 128, "dtype": torch.uint8}}, outputs=[])
    exported = rushlight.export(graph, (x,), quantize_io=io)
    assert exported.report.methods[0].operators["rushlight::quantized_lookup.out"] == 1
    floats = rushlight.load(rushlight.export(graph, (x,)).buffer).forward(x)[0]
    np.testing.assert_array_equal(
        np.asarray(rushlight.load(exported.buffer).forward(image)[0]), np.asarray(floats)
    )


def test_methods_tell_the_numbers_under_the_names_of_the_official_pass() -> None:
    official = pytest.importorskip(
        "executorch.exir.passes.quantize_io_pass", reason="executorch is not installed"
    )
    graph, x = net()
    exported = rushlight.export({"forward": rushlight.export.MethodSource(graph, (x,))}, quantize_io=True)
    program = rushlight.load(exported.buffer)
    for kind, each in zip(("input", "output"), numbers(exported), strict=True):
        told = {}
        for key in KEYS:
            name = official.get_config_method_name(None, kind, 0, key)
            [told[key]] = program.method(name)()
        assert told == {
            "scale": each.scale,
            "zp": each.zero_point,
            "quant_min": each.quant_min,
            "quant_max": each.quant_max,
            "dtype": 1,
        }


def test_the_numbers_are_those_of_the_official_pass() -> None:
    exir = pytest.importorskip("executorch.exir", reason="executorch is not installed")
    from executorch.exir.passes.quantize_io_pass import extract_io_quant_params

    torch.manual_seed(1)
    module, x = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)).eval(), torch.randn(4, 6)
    graph = quantize(module, (x,), [(x,)])
    edge = exir.to_edge_transform_and_lower(torch.export.export(graph, (x,)))
    official = extract_io_quant_params(edge)
    found = numbers(rushlight.export(graph, (x,), quantize_io=True))
    for each, told in zip(found, (*official["inputs"].values(), *official["outputs"].values()), strict=True):
        assert (each.scale, each.zero_point) == (told["scale"], told["zero_point"])
        assert (each.quant_min, each.quant_max) == (told["quant_min"], told["quant_max"])


def test_names_of_other_methods_stand_in_front_of_their_numbers() -> None:
    graph, x = net()
    source = rushlight.export.MethodSource(graph, (x,))
    exported = rushlight.export({"forward": source, "again": source}, quantize_io=True)
    names = rushlight.load(exported.buffer).method_names
    assert {"input0_scale", "output0_zp", "again_input0_scale", "again_output0_zp"} <= set(names)


def test_a_bundled_program_has_integers_as_cases(tmp_path: Path) -> None:
    graph, x = net()
    exported = rushlight.export(graph, (x,), quantize_io=True)
    exported.save_bundled(tmp_path / "net.bpte")
    outcome = rushlight.verify_bundled_program(tmp_path / "net.bpte")
    [call] = outcome.calls
    assert call.comparison is not None
    assert call.comparison.passed
    assert call.result.outputs[0].dtype == np.int8


def test_an_input_that_is_not_quantized_is_refused_with_the_line_that_reads_it() -> None:
    case = make_case("perceptron")
    inputs = case.draw()
    graph = quantize(case.module, inputs, case.calibration(), RushlightQuantizer(Dynamic()))
    with pytest.raises(InvalidArgument, match=r"input 0 of 'forward': expected quantize as its only reader"):
        rushlight.export(graph, inputs, quantize_io=True)


def test_float_inputs_may_stay_beside_integer_outputs() -> None:
    graph, x = net()
    exported = rushlight.export(graph, (x,), quantize_io=QuantizedIo(inputs=[]))
    [y] = rushlight.load(exported.buffer).forward(x)
    assert np.asarray(y).dtype == np.int8


def test_a_float_model_takes_integers_by_given_numbers() -> None:
    module, x = nn.Linear(4, 3).eval(), torch.tensor([[-8, 0, 3, 7]], dtype=torch.int8)
    io = QuantizedIo(inputs={0: {"scale": 0.25, "zp": 1, "dtype": "int8"}}, outputs=[])
    program = rushlight.load(rushlight.export(module, (x.float(),), quantize_io=io).buffer)
    with torch.no_grad():
        expected = module((x.float() - 1) * 0.25)
    np.testing.assert_allclose(np.asarray(program.forward(x)[0]), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("float16", "dtype: expected 'int8' or 'uint8', got 'float16'"),
        (3, "expected True, a dtype or a QuantizedIo, got 3"),
        (QuantizedIo(inputs=[2]), "input 2 of 'forward': expected the index of a float tensor"),
        (
            QuantizedIo(inputs={0: {"scale": 0.0, "zp": 0, "dtype": "int8"}}),
            "expected a finite number above 0",
        ),
        (QuantizedIo(inputs={0: {"scale": 1.0, "zp": 300, "dtype": "int8"}}), "zp: expected -128 to 127"),
        (QuantizedIo(inputs={0: {"scale": 1.0}}), "expected scale, zp and dtype, got scale"),
    ],
)
def test_a_wrong_choice_is_refused(given: Any, message: str) -> None:
    graph, x = net()
    with pytest.raises(InvalidArgument, match=message):
        rushlight.export(graph, (x,), quantize_io=given)


def test_a_method_of_the_users_with_a_name_of_metadata_is_refused() -> None:
    graph, x = net()
    with pytest.raises(InvalidArgument, match="expected no method 'input0_scale'"):
        rushlight.export(graph, (x,), quantize_io=True, constant_methods={"input0_scale": 1.0})


def test_symmetric_activations_lose_nothing() -> None:
    case = make_case("perceptron")
    inputs = case.draw()
    quantizer = RushlightQuantizer(Static(symmetric_activations=True))
    graph = quantize(case.module, inputs, case.calibration(), quantizer)
    exported = rushlight.export(graph, inputs, quantize_io=True)
    of_input, of_output = numbers(exported)
    assert of_input.quant_min == -127
    floats = rushlight.load(rushlight.export(graph, inputs).buffer).forward(*inputs)[0]
    [y] = rushlight.load(exported.buffer).forward(integers(inputs[0], of_input))
    np.testing.assert_array_equal(real(y, of_output), np.asarray(floats))
