# SPDX-License-Identifier: BSD-3-Clause
"""`rushlight sensitivity`, and the page of ranges that `rushlight export` writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchao", reason="torchao is not installed")

from rushlight.cli.main import main

MODEL = """
import torch
from torch import nn

def make():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval(), (torch.randn(2, 8),)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a model and calibration data."""
    (tmp_path / "sensitive_net.py").write_text(MODEL)
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((32, 8)).astype(np.float32))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(list(words))
    return int(left.value.code or 0)


def test_the_document_has_layers_and_the_choice_for_a_bound(folder: Path, capsys) -> None:
    words = ["--calibrate", "data.npy", "--bound", "1e-6", "--page", "page.html", "--json"]
    assert run("sensitivity", "sensitive_net:make", *words) == 0
    told = json.loads(capsys.readouterr().out)
    assert {layer["name"] for layer in told["layers"]} == {"0", "2"}
    assert told["mixed"] == {"left_out": ["0", "2"], "error": 0.0}
    assert (folder / "page.html").read_text().count("<rect") == 2


def test_the_table_has_a_row_for_each_layer(folder: Path, capsys) -> None:
    assert (
        run("sensitivity", "sensitive_net:make", "--calibrate", "data.npy", "--quantize", "int8-weights") == 0
    )
    printed = capsys.readouterr().out
    assert printed.count(" linear ") == 2
    assert "error with all layers quantized: " in printed


def test_data_is_needed(folder: Path, capsys) -> None:
    assert run("sensitivity", "sensitive_net:make") == 2
    assert "--calibrate" in capsys.readouterr().err


def test_an_export_writes_the_picture_of_ranges_and_takes_the_remedies(folder: Path, capsys) -> None:
    words = ["--quantize", "int8", "--calibrate", "data.npy", "--equalize", "--correct-bias"]
    assert run("export", "sensitive_net:make", "-o", "net.pte", *words, "--ranges", "ranges.html") == 0
    assert (folder / "ranges.html").read_text().count("<svg") == 5
    assert run("export", "sensitive_net:make", "-o", "net.pte", "--ranges", "ranges.html") == 11
    assert "--ranges: expected --quantize beside it, got none" in capsys.readouterr().err
