# SPDX-License-Identifier: BSD-3-Clause
"""benchmarks/accuracy measures a convolution; the decision shows the values that it prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "accuracy"))

import winograd  # noqa: E402


@pytest.mark.parametrize("name", winograd.CONTENDERS)
def test_each_contender_is_a_convolution(name: str) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(1, 40, winograd.SIZE, winograd.SIZE, generator=generator)
    weight = torch.rand(winograd.OUTPUTS, 40, 3, 3, generator=generator) - 0.5
    exact = torch.nn.functional.conv2d(x.double(), weight.double())
    result = winograd.winograd(x, weight, *winograd.CONTENDERS[name])
    torch.testing.assert_close(result.double(), exact, rtol=1e-5, atol=1e-3)
    assert winograd.outside(exact.float(), exact) == 0
    assert winograd.outside(exact.float() + 1e-2, exact) == 100


def test_the_decision_shows_every_contender() -> None:
    page = (ROOT / "docs" / "decisions" / "0021-winograd-in-small-tiles.md").read_text()
    [header] = [line for line in page.splitlines() if line.startswith("| channels | magnitude")]
    assert [cell.strip() for cell in header.split("|")[5:-1]] == list(winograd.CONTENDERS)
