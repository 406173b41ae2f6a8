# SPDX-License-Identifier: BSD-3-Clause
"""Rounding "float" against the official XNNPACK delegate: layers of its quantizer give the same bytes."""

from __future__ import annotations

import warnings

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("executorch.backends.xnnpack.partition.xnnpack_partitioner", reason="no executorch")

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner  # noqa: E402
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (  # noqa: E402
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import to_edge_transform_and_lower  # noqa: E402
from executorch.runtime import Runtime  # noqa: E402
from torch import nn  # noqa: E402
from torchao.quantization.pt2e import allow_exported_model_train_eval  # noqa: E402
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e  # noqa: E402

from rushlight.export.passes.compute_in_integers import ComputeInIntegers  # noqa: E402
from rushlight.integers.rules import Settings  # noqa: E402
from support.graphs import apply, core_aten, operators, run  # noqa: E402
from support.samples import sampled  # noqa: E402

pytestmark = pytest.mark.conformance

LAYERS = {
    "convolution": (lambda: nn.Conv2d(3, 8, 3, padding=1), (2, 3, 11, 12)),
    "strided": (lambda: nn.Sequential(nn.Conv2d(5, 7, 3, stride=2), nn.ReLU()), (2, 5, 13, 12)),
    "pointwise": (lambda: nn.Conv2d(17, 9, 1), (2, 17, 6, 5)),
    "depthwise": (lambda: nn.Conv2d(10, 10, 3, groups=10, padding=1), (2, 10, 9, 9)),
    "groups": (lambda: nn.Conv2d(8, 12, 3, groups=4, bias=False), (2, 8, 9, 9)),
    "dilated": (lambda: nn.Conv2d(4, 6, 3, dilation=(2, 3)), (2, 4, 12, 12)),
    "linear": (lambda: nn.Linear(33, 20), (40, 33)),
    "linear and ReLU": (lambda: nn.Sequential(nn.Linear(128, 17), nn.ReLU()), (40, 128)),
    "linear without bias": (lambda: nn.Linear(24, 16, bias=False), (3, 9, 24)),
}


CASES = [(name, per_channel) for name in LAYERS for per_channel in (True, False)]


# Continuous integration takes each layer with scales by channel, and some with one scale.
@pytest.mark.parametrize(
    ("name", "per_channel"),
    sampled(
        CASES,
        7,
        name=lambda case: f"{case[0]}-by {'channel' if case[1] else 'tensor'}",
        always=lambda case: case[1],
    ),
)
def test_a_layer_has_the_bytes_of_the_delegate(name: str, per_channel: bool) -> None:
    torch.manual_seed(5)
    make, shape = LAYERS[name]
    module, x = make().eval(), torch.randn(shape)
    chosen = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=per_channel))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared = prepare_pt2e(torch.export.export(module, (x,)).module(check_guards=False), chosen)
        prepared(torch.randn(shape) * 1.2)
        graph = convert_pt2e(prepared)
        exported = torch.export.export(graph, (x,))
        lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        calls = [
            str(node.target) for node in lowered.exported_program().graph.nodes if node.op == "call_function"
        ]
        # Everything is in the delegate.
        assert not any("quantize" in call or "aten" in call for call in calls), calls
        # A method needs its program, and the program its bytes, while it runs.
        data = lowered.to_executorch().buffer
        program = Runtime.get().load_program(data)
        method = program.load_method("forward")
        allow_exported_model_train_eval(graph)  # core_aten() calls eval(), which then returns None
        own = core_aten(nn.Sequential(graph), (x,))
        apply(own, ComputeInIntegers(Settings(rounding="float")))
        assert sum("quantized_linear" in each or "quantized_conv" in each for each in operators(own)) == 1
        count = 0
        for _ in range(10):
            y = torch.randn(shape)
            expected = method.execute([y])[0]
            found = run(own, y)[0]
            assert torch.equal(found, expected), f"{int((found != expected).sum())} of {found.numel()}"
            count += len(expected.unique())
    assert count > 300
