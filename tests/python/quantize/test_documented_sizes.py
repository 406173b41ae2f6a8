# SPDX-License-Identifier: BSD-3-Clause
"""The table of sizes in docs/quantization.md is what quantizing gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

import rushlight.export  # noqa: E402
from rushlight.quantize import (  # noqa: E402
    Dynamic,
    RushlightQuantizer,
    Static,
    WeightOnly,
    quantize,
)

PAGE = Path(__file__).resolve().parents[3] / "docs" / "quantization.md"
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
