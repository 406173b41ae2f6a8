# SPDX-License-Identifier: BSD-3-Clause
"""The instruction that failed, and its line of the model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rushlight.errors import InvalidArgument, RushlightError, TargetCrashed
from rushlight.program import DebugRecord, read_program
from rushlight.program.debug import Frame, InstructionOrigin, MethodOrigins, fingerprint
from rushlight.run.origins import Origins

MODEL = Path(__file__).parents[2] / "interop" / "dynamic_mlp" / "model.pte"


@pytest.fixture
def origins(tmp_path: Path) -> Origins:
    """The origins of a program with a debug record for its instruction 3."""
    model, program = tmp_path / "model.pte", read_program(MODEL)
    shutil.copy(MODEL, model)
    origin = InstructionOrigin(3, frames=(Frame("net.py", 9, "forward", "y = f(x)"),))
    DebugRecord(fingerprint(program), (MethodOrigins("forward", (origin,)),)).save(
        tmp_path / "model.debug.json"
    )
    return Origins(model, program)


def told(origins: Origins, instruction: int | None, methods: set[str]) -> RushlightError:
    error = TargetCrashed("it fell over")
    error.instruction = instruction
    with pytest.raises(TargetCrashed) as caught, origins.told(methods):
        raise error
    return caught.value


def test_an_error_gets_the_line_of_its_instruction(origins: Origins) -> None:
    error = told(origins, 3, {"forward"})
    assert error.source == "net.py:9: y = f(x)"
    assert str(error) == "it fell over\n  instruction 3 is from net.py:9: y = f(x)"


@pytest.mark.parametrize(
    ("instruction", "methods"),
    [(None, {"forward"}), (2, {"forward"}), (3, {"forward", "other"}), (3, {"other"})],
)
def test_an_error_whose_instruction_is_not_known_stays(
    origins: Origins, instruction: int | None, methods: set[str]
) -> None:
    assert str(told(origins, instruction, methods)) == "it fell over"


def test_an_error_is_told_once(origins: Origins) -> None:
    error = InvalidArgument("no")
    error.instruction = 3
    with pytest.raises(InvalidArgument), origins.told({"forward"}), origins.told({"forward"}):
        raise error
    assert error.message.count("net.py:9") == 1


def test_a_damaged_record_does_not_hide_the_error(origins: Origins) -> None:
    origins.path.with_name("model.debug.json").write_text("{")
    assert str(told(origins, 3, {"forward"})) == "it fell over"
