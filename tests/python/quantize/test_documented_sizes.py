# SPDX-License-Identifier: BSD-3-Clause
"""The table of sizes in docs/quantized-programs.md is what quantizing gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from torch import nn  # noqa: E402

import rushlight.export  # noqa: E402
from rushlight.program import read_program  # noqa: E402
from rushlight.quantize import (  # noqa: E402
    Dynamic,
    RushlightQuantizer,
    Static,
    WeightOnly,
    quantize,
)

PAGE = Path(__file__).resolve().parents[3] / "docs" / "quantized-programs.md"
SCHEMES = {
    "float": None,
    "`Static()`": Static(),
    "`Dynamic()`": Dynamic(),
    "`WeightOnly()`": WeightOnly(),
    "`WeightOnly(bits=4, group_size=64)`": WeightOnly(bits=4, group_size=64),
}
SIZES = {name: int(size) for name, size in re.findall(r"^\| (.+) \| (\d+) kB \|$", PAGE.read_text(), re.M)}


def test_every_scheme_has_a_row() -> None:
    assert SIZES.keys() == SCHEMES.keys()


@pytest.mark.parametrize("name", SCHEMES)
def test_a_program_is_as_large_as_the_page_says(name: str) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).eval()
    inputs = (torch.randn(4, 256),)
    scheme = SCHEMES[name]
    if scheme is not None:
        model = quantize(model, inputs, [inputs], RushlightQuantizer(scheme))
    size = len(bytes(rushlight.export.export(model, inputs).buffer))
    assert round(size / 1000) == SIZES[name]


def mobilenet() -> nn.Sequential:
    """MobileNet v1 of width 0.25 for two classes, without batch norms, which would be folded."""
    layers: list[nn.Module] = [nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU()]
    inputs = 8
    plan = [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)]
    for outputs, stride in plan:
        layers += [nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs), nn.ReLU()]
        layers += [nn.Conv2d(inputs, outputs, 1), nn.ReLU()]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 2), nn.Softmax(-1))


def test_an_image_in_int8_plans_no_more_than_the_page_says() -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(1, 3, 96, 96),)
    graph = quantize(mobilenet().eval(), inputs, [inputs])
    exported = rushlight.export.export(graph, inputs, quantize_io="int8")
    (planned,) = re.findall(r"MobileNet of width 0\.25 .* plans ([\d,]+) B", PAGE.read_text())
    forward = next(plan for plan in read_program(bytes(exported.buffer)).plans if plan.name == "forward")
    assert sum(forward.buffer_sizes) == int(planned.replace(",", ""))
