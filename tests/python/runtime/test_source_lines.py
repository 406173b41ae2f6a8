# SPDX-License-Identifier: BSD-3-Clause
"""An error while running names its instruction and, if there is a debug record, its source line."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.errors import InvalidArgument
from rushlight.program import DebugRecord, read_program
from rushlight.program.debug import Frame, InstructionOrigin, MethodOrigins, Module, fingerprint
from rushlight.run.api import run
from rushlight.run.cases import Call, Case

MODEL = Path(__file__).parents[2] / "interop" / "index_put_gather" / "model.pte"
# The first instruction takes rows of the 5 by 5 matrix by index.
INPUTS = [np.zeros((5, 5), np.float32), np.array([7, 0, 1])]
SOURCE = "net.py:7: return x[rows], in table (Lookup)"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The program with a debug record beside it."""
    model = tmp_path / "model.pte"
    shutil.copy(MODEL, model)
    line = Frame("net.py", 7, "forward", "return x[rows]")
    origin = InstructionOrigin(0, frames=(line,), modules=(Module("table", "Lookup"),))
    record = DebugRecord(fingerprint(read_program(model)), (MethodOrigins("forward", (origin,)),))
    record.save(tmp_path / "model.debug.json")
    return model


def failure(model: Path) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        rushlight.load(model).forward(*INPUTS)
    return caught.value


def test_the_instruction_that_failed_is_in_the_exception() -> None:
    error = failure(MODEL)
    assert (error.instruction, error.source) == (0, "")
    assert error.operator == "aten::index.Tensor_out"


def test_with_a_record_the_line_of_the_model_is_in_the_exception(recorded: Path) -> None:
    error = failure(recorded)
    assert error.source == SOURCE
    assert str(error) == error.message and error.message.endswith(f"\n  instruction 0 is from {SOURCE}")
    assert error.message.startswith("operator aten::index.Tensor_out: index: expected one in [-5, 5), got 7")


@pytest.mark.parametrize("damage", [b"", b"{", b'{"format": "rushlight debug record", "version": 1}'])
def test_a_damaged_record_does_not_hide_the_error(recorded: Path, damage: bytes) -> None:
    recorded.with_name("model.debug.json").write_bytes(damage)
    assert failure(recorded).source == ""


def test_the_record_of_another_program_is_not_used(recorded: Path) -> None:
    record = recorded.with_name("model.debug.json")
    record.write_text(record.read_text().replace('"program":"', '"program":"0'))
    assert failure(recorded).source == ""


def test_an_error_before_the_first_instruction_has_none(recorded: Path) -> None:
    with pytest.raises(InvalidArgument) as caught:
        rushlight.load(recorded).forward(np.zeros(3, np.float32), INPUTS[1])
    assert caught.value.instruction is None and caught.value.source == ""


def test_running_a_case_tells_the_line_too(recorded: Path) -> None:
    with pytest.raises(InvalidArgument) as caught:
        run(recorded, Case("rows", 0.0, [Call("forward", INPUTS, None)]))
    assert caught.value.source == SOURCE
