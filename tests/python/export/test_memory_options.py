# SPDX-License-Identifier: BSD-3-Clause
"""Memory banks, planners and pictures by way of an export."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import torch

import rushlight
from rushlight.errors import DoesNotFit, InvalidArgument
from rushlight.export import export
from rushlight.memory import Bank


class Residual(torch.nn.Module):
    """Two images of 8,192 bytes are alive at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.second = torch.nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.first(x))
        return self.second(y) + y


IMAGE = (torch.zeros(1, 3, 16, 16),)


def test_banks_of_a_file_hold_the_planned_tensors(tmp_path: Path) -> None:
    file = tmp_path / "banks.yaml"
    file.write_text("banks: [{name: dtcm, size: 9 KiB, speed: 8}, {name: sdram, size: 1 MiB}]\n")
    exported = export(Residual(), IMAGE, memory=file)
    (method,) = exported.program.plans
    _, dtcm, sdram = method.buffer_sizes
    assert 0 < dtcm <= 9 * 1024
    assert sdram > 0
    told = exported.report.to_json()["methods"][0]["memory"]
    assert [bank["bytes"] for bank in told["banks"]] == [dtcm, sdram]


def test_a_program_over_banks_computes_the_same() -> None:
    torch.manual_seed(0)
    model, image = Residual(), torch.randn(1, 3, 16, 16)
    exported = export(model, (image,), memory=[Bank("dtcm", 2, 9 * 1024, 8), Bank("sdram", 1)])
    (output,) = rushlight.load(exported.buffer).forward(image.numpy())
    expected = model(image).detach().numpy()
    np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-6)
    assert all(exported.program.plans[0].buffer_sizes[1:])


def test_a_plan_that_does_not_fit_names_tensors_with_their_source() -> None:
    with pytest.raises(DoesNotFit) as caught:
        export(Residual(), IMAGE, memory=[{"name": "sram", "size": "12 KiB"}])
    assert caught.value.available == 12 * 1024
    assert caught.value.needed >= 16384
    notes = [note for _, _, note in caught.value.alive]
    assert len(notes) >= 2
    assert all("test_memory_options.py:" in note for note in notes)


def test_an_unknown_planner_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="got 'best'"):
        export(Residual(), IMAGE, planner="best")


def test_sharing_memory_takes_less_than_sharing_none() -> None:
    sizes = {
        planner: export(Residual(), IMAGE, planner=planner).report.methods[0].plan.peak
        for planner in ("naive", "auto")
    }
    assert sizes["auto"] < sizes["naive"]


def test_the_picture_shows_the_tensors_of_each_method() -> None:
    report = export(Residual(), IMAGE).report
    svg = ET.fromstring(report.picture())
    rectangles = list(svg.iter("{http://www.w3.org/2000/svg}rect"))
    assert len(rectangles) == len(report.methods[0].plan.requests) >= 3
