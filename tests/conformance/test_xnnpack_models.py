# SPDX-License-Identifier: BSD-3-Clause
"""Whole networks that the official exporter lowers to XNNPACK run as they are and converted: the official
outputs, for inputs of other sizes and orders too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("executorch.backends.xnnpack.partition.xnnpack_partitioner", reason="no executorch")

from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402
from torch.nn import functional  # noqa: E402

from support.interop.models import Fn, mlp  # noqa: E402
from support.official_xnnpack import (  # noqa: E402
    assert_same,
    check,
    converted,
    lower,
    lower_methods,
    official_outputs,
    own_outputs,
    quantized,
)
from support.official_xnnpack_models import MODELS, Attention, model  # noqa: E402
from support.samples import sampled  # noqa: E402

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

KINDS = {"float32": 1e-5, "int8": 1e-6, "dynamic": 1e-5}
"""Tolerances by dtype. A step of int8 is a thousand times the tolerance of int8: networks may end in floats.
"""
WITH_FLOAT = {"attention", "encoder", "attentive"}
"""Networks that compute a part in float between quantized layers: the last bit of a float32 decides the
rounding to int8, and outputs may differ by a step or two of 1/127 of the largest."""


REFUSED = {"detection", "bilinear u-net", "joined"}
"""Networks in int8 whose files the official runtime refuses, although its own exporter wrote them."""
CASES = [(name, kind) for name in MODELS for kind in KINDS if kind != "int8" or name not in REFUSED]


# Continuous integration takes one in fourteen, with some of each dtype.
@pytest.mark.parametrize(("name", "kind"), sampled(CASES, 14, name="-".join))
def test_a_network_gives_what_the_official_runtime_gives(name: str, kind: str) -> None:
    torch.manual_seed(0)
    module, shapes = model(name)
    calls = [tuple(torch.randn(shape) for shape in shapes) for _ in range(3)]
    if kind != "float32":
        module = quantized(module, calls[0], dynamic=kind == "dynamic")
    tolerance = KINDS[kind]
    if kind == "int8":
        tolerance = 2 / 127 if name in WITH_FLOAT else tolerance
    done = check(lower(module, calls[0]), calls, tolerance)
    assert sum(method.delegates for method in done.methods) >= 1


class Slice(nn.Module):
    def forward(self, x: Any) -> Any:
        return x[:, 1:3] + 1


def dynamic_cases() -> dict[str, tuple[nn.Module, Any, list[tuple[int, ...]]]]:
    """Networks, their dynamic dimensions, and shapes of calls, the export's shape first."""
    batch = Dim("batch", min=1, max=8)
    height, width = Dim("height", min=4, max=20), Dim("width", min=4, max=20)
    tokens = Dim("tokens", min=2, max=16)
    images = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 4, 1))
    flat = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3)
    )
    return {
        "batches": (mlp(7, 9, 3), {0: batch}, [(4, 7), (2, 7), (8, 7), (1, 7)]),
        "images": (
            images,
            {0: batch, 2: height, 3: width},
            [(2, 3, 12, 14), (1, 3, 5, 19), (3, 3, 20, 20), (2, 3, 12, 14)],
        ),
        "averages": (flat, {0: batch}, [(2, 3, 12, 14), (1, 3, 12, 14), (7, 3, 12, 14)]),
        "tokens": (Attention(), {1: tokens}, [(2, 5, 16), (2, 2, 16), (2, 16, 16)]),
        "slices": (Slice(), {0: batch}, [(4, 5), (2, 5), (8, 5)]),
        "activations": (
            nn.Sequential(Fn(lambda x: functional.relu(x + 1) - 2), nn.PReLU(3)),
            {0: batch},
            [(2, 3, 4, 5), (1, 3, 4, 5), (8, 3, 4, 5)],
        ),
    }


@pytest.mark.parametrize("name", ["batches", "images", "averages", "tokens", "slices", "activations"])
def test_inputs_of_other_sizes(name: str) -> None:
    torch.manual_seed(0)
    module, dims, shapes = dynamic_cases()[name]
    calls = [(torch.randn(shape),) for shape in shapes]
    lowered = lower(module.eval(), calls[0], dynamic_shapes=(dims,))
    with torch.no_grad():
        expected = [[module(*inputs)] for inputs in calls]
    assert_same(own_outputs(lowered.data, calls), expected, 1e-5)
    assert_same(own_outputs(converted(lowered).buffer, calls), expected, 1e-5)


def test_channels_last_inputs() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 1)).eval()
    calls = [(torch.randn(2, 3, 9, 11).to(memory_format=torch.channels_last),) for _ in range(2)]
    check(lower(module, calls[0]), calls, 1e-5)


def test_methods_that_share_weights() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(300, 20).eval()
    wide, narrow = torch.randn(6, 300), torch.randn(2, 300)
    methods = {
        "encode": torch.export.export(nn.Sequential(layer, nn.ReLU()), (wide,)),
        "decode": torch.export.export(layer, (narrow,)),
    }
    lowered = lower_methods(methods)
    assert len(lowered.data) < 2 * 300 * 20 * 4
    check(lowered, [(wide,), (-wide,)], 1e-5, "encode")
    check(lowered, [(narrow,)], 1e-5, "decode")


class Apart(nn.Module):
    """Two delegates with an operator between them that the official partitioner leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        return self.second(torch.cumsum(self.first(x), 1))


def test_a_program_with_two_delegates() -> None:
    torch.manual_seed(0)
    calls = [(torch.randn(3, 6),) for _ in range(2)]
    lowered = lower(Apart().eval(), calls[0])
    assert lowered.left == ["aten.cumsum.default"]
    done = check(lowered, calls, 1e-5)
    assert [method.delegates for method in done.methods] == [2]


def test_weights_in_a_data_file(tmp_path: Path) -> None:
    torch.manual_seed(0)
    calls = [(torch.randn(3, 16),) for _ in range(2)]
    module = nn.Sequential(mlp(16, 32, 6), Apart()).eval()
    expected = official_outputs(lower(module, calls[0]), calls)
    exported = torch.export.export(module, calls[0])
    for node in exported.graph.nodes:
        if node.name in exported.graph_signature.inputs_to_parameters:
            node.meta.setdefault("custom", {})["delegate_constant_tag"] = "weights"
    lowered = lower_methods({"forward": exported})
    path = tmp_path / "weights.ptd"
    path.write_bytes(lowered.data_files["weights"])
    assert len(lowered.data) + 4 * 16 * 32 < len(lower(module, calls[0]).data)
    assert_same(own_outputs(lowered.data, calls, data_files=[path]), expected, 1e-5)
