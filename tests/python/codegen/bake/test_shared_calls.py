# SPDX-License-Identifier: BSD-3-Clause
"""Calls of a baked program that differ in their tensors alone share a function."""

from __future__ import annotations

import re
from pathlib import Path

from rushlight.codegen.bake import bake
from support.official_int8 import model


def test_equal_layers_share_a_function(tmp_path: Path) -> None:
    """DS-CNN has four depthwise layers with one geometry, and four of 1 x 1."""
    text = (bake(model("model_dscnn"), tmp_path, name="net").folder / "net.cpp").read_text()
    functions = re.findall(r"noinline\]\] rl::Error (\w+)\(.*\n +return (\S+)\(", text)
    convolutions = [name for name, kernel in functions if kernel == "rl::selected::aten_convolution__out"]
    counts = [len(re.findall(rf"RL_BAKED_STEP\(\d+, {name}\(", text)) for name in convolutions]
    assert counts == [4, 4]


def test_calls_with_few_constants_stay_as_they_are(tmp_path: Path) -> None:
    text = (bake(model("model_mlp"), tmp_path, name="net").folder / "net.cpp").read_text()
    assert "noinline" not in text


def test_baking_twice_names_the_functions_alike(tmp_path: Path) -> None:
    first, second = (bake(model("model_resnet8"), tmp_path / name, name="net").folder for name in "ab")
    assert (first / "net.cpp").read_text() == (second / "net.cpp").read_text()
