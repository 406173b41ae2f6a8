# SPDX-License-Identifier: BSD-3-Clause
"""`rushlight export --quantize`: from a float model and calibration data to a program, in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

import rushlight
from rushlight.cli.main import main

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(1, 4, 3), nn.Linear(4 * 36, 5)

    def forward(self, x):
        y = torch.relu(self.conv(x)).flatten(1)
        return torch.cumsum(self.head(y), 1)

def make():
    torch.manual_seed(0)
    return Net().eval(), (torch.randn(1, 1, 8, 8),)

def several():
    return {"forward": make()}

def without_totals():
    model, inputs = make()
    return nn.Sequential(model.conv, nn.ReLU(), nn.Flatten(), model.head), inputs
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a model and calibration data."""
    (tmp_path / "quantized_net.py").write_text(MODEL)
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((9, 1, 8, 8)).astype(np.float32))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def export(*words: str, factory: str = "make") -> int:
    with pytest.raises(SystemExit) as left:
        main(["export", f"quantized_net:{factory}", "-o", "net.pte", *words])
    return int(left.value.code or 0)


@pytest.mark.parametrize(
    ("word", "called"),
    [
        ("int8", "rushlight::quantized_linear.out"),
        ("dynamic", "rushlight::dynamic_linear.out"),
        ("int8-weights", "rushlight::weight_only_linear.out"),
        ("int4-weights", "rushlight::weight_only_linear.out"),
    ],
)
def test_a_word_stands_for_a_scheme(folder: Path, word: str, called: str, capsys) -> None:
    data = ["--calibrate", "data.npy"] if word == "int8" else []
    assert export("--quantize", word, *data, "--json") == 0
    [method] = json.loads(capsys.readouterr().out)["methods"]
    assert called in method["operators"]
    assert Path("net.pte").stat().st_size > 0


def test_the_report_tells_what_computes_in_float_why_and_where(folder: Path, capsys) -> None:
    assert export("--quantize", "int8", "--calibrate", "data.npy") == 0
    lines = capsys.readouterr().out.splitlines()
    [total] = [line for line in lines if "aten::cumsum " in line]
    assert "float" in total
    assert "its result is not quantized" in total
    assert "quantized_net.py:12" in total
    [linear] = [line for line in lines if "rushlight::quantized_linear " in line]
    assert "integers" in linear


@pytest.mark.heavy
def test_inputs_and_outputs_become_integers(folder: Path, capsys) -> None:
    words = ["--quantize", "int8", "--calibrate", "data.npy", "--quantize-io", "int8", "--json"]
    assert export(*words, factory="without_totals") == 0
    [method] = json.loads(capsys.readouterr().out)["methods"]
    assert [each["dtype"] for each in method["quantized_io"]["inputs"]] == ["int8"]
    [y] = rushlight.load("net.pte").forward(np.zeros((1, 1, 8, 8), np.int8))
    assert np.asarray(y).dtype == np.int8


@pytest.mark.parametrize(
    ("words", "factory", "message"),
    [
        (["--quantize", "int8"], "make", "calibration: expected inputs for the ranges"),
        (["--calibrate", "data.npy"], "make", "--calibrate: expected --quantize beside it"),
        (["--quantize", "dynamic"], "several", "expected a factory of one method, got one of several"),
    ],
)
def test_words_that_do_not_fit_are_refused(folder: Path, words, factory, message, capsys) -> None:
    assert export(*words, factory=factory) == 11
    assert message in capsys.readouterr().err
