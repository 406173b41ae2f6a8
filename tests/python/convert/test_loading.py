# SPDX-License-Identifier: BSD-3-Clause
"""rushlight.load converts quantized programs, and opens others as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight import runtime
from rushlight.convert import built
from rushlight.errors import InvalidProgram

INTEROP = Path(__file__).parents[2] / "interop"
QUANTIZED = INTEROP / "model_dscnn_int8" / "model.pte"
X = np.random.default_rng(0).standard_normal((1, 1, 49, 10)).astype(np.float32)


def planned(program: runtime.Program) -> int:
    return sum(program.memory().planned)


def test_a_quantized_program_is_converted_by_default() -> None:
    assert planned(rushlight.load(QUANTIZED)) == 16000
    assert planned(rushlight.load(QUANTIZED, integers=False)) == 141824


def test_bytes_and_paths_are_converted_alike() -> None:
    data = QUANTIZED.read_bytes()
    outputs = [
        rushlight.load(source).forward(X)[0]
        for source in (QUANTIZED, str(QUANTIZED), data, bytearray(data), memoryview(data))
    ]
    assert all((each == outputs[0]).all() for each in outputs)


def test_traces_are_of_the_files_own_instructions() -> None:
    assert planned(rushlight.load(QUANTIZED, enable_etdump=True)) == 141824
    assert planned(rushlight.load(QUANTIZED, enable_etdump=True, integers=True)) == 16000


def test_a_program_without_quantized_parts_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built, "converted_for", lambda *_: pytest.fail("was converted"))
    assert rushlight.load(INTEROP / "model_mlp" / "model.pte").method_names == ["forward"]


def test_what_is_no_program_has_the_error_of_the_runtime(tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    path.write_bytes(b"no program")
    with pytest.raises(InvalidProgram):
        rushlight.load(path)
