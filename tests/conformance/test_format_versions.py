# SPDX-License-Identifier: BSD-3-Clause
"""Programs of older exporters run; unknown formats are refused with their number."""

from __future__ import annotations

from pathlib import Path

import pytest

import rushlight
from rushlight.errors import BackendNotFound, InvalidProgram, OperatorNotFound
from rushlight.program import read_program
from rushlight.run.api import run
from rushlight.run.cases import load_case
from support.foreign_delegates import FOREIGN, foreign_program
from support.programs import Plan, program

pytestmark = pytest.mark.conformance

INTEROP = Path(__file__).parents[1] / "interop"


def _header_bytes(data: bytes) -> int:
    """The length that the extended header states; 0 without a header."""
    return int.from_bytes(data[12:16], "little") if data[8:12] == b"eh00" else 0


@pytest.mark.parametrize(
    ("name", "header"),
    [("version_inline", 0), ("version_0_4", 24), ("version_0_7", 24), ("version_1_0", 32)],
)
def test_a_file_of_an_older_version_gives_what_pytorch_gives(name: str, header: int) -> None:
    model = INTEROP / name / "model.pte"
    assert _header_bytes(model.read_bytes()) == header
    read = read_program(model)
    assert bool(read.inline_constants) == (header == 0) and bool(read.segments) == (header > 0)
    try:
        outcome = run(model, load_case(model.with_name("case.json")))
    except OperatorNotFound as error:
        pytest.skip(f"this build does not have {', '.join(error.requested)}")
    assert len(outcome.calls) == 2 and [call.comparison.reason for call in outcome.calls] == ["", ""]


@pytest.mark.parametrize("load", [read_program, rushlight.load])
def test_an_unknown_schema_version_is_refused_by_its_number(load) -> None:
    load(program(Plan()))
    with pytest.raises(InvalidProgram, match=r"schema version .*\b7\b"):
        load(program(Plan(), version=7))


@pytest.mark.parametrize("load", [read_program, rushlight.load])
@pytest.mark.parametrize("identifier", [b"ET13", b"ET11", b"TFL3"])
def test_a_foreign_identifier_is_refused_by_its_letters(load, identifier: bytes) -> None:
    data = bytearray((INTEROP / "softplus" / "model.pte").read_bytes())
    data[4:8] = identifier
    shown = "|".join([identifier.decode(), identifier.hex(" ")])
    with pytest.raises(InvalidProgram, match=rf"ET12.*({shown})"):
        load(bytes(data))


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in INTEROP.glob("*/model_xnnpack.pte")))
def test_a_delegate_is_refused_by_its_name_when_its_method_is_loaded(folder: str) -> None:
    loaded = rushlight.load(foreign_program(folder))
    assert "forward" in loaded.method_names
    with pytest.raises(BackendNotFound) as caught:
        loaded.method("forward")
    assert caught.value.backend == FOREIGN
