# SPDX-License-Identifier: BSD-3-Clause
"""Debug records: written and read, found beside their program, refused when damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.errors import InvalidArgument
from rushlight.program import parts_of, read_program, write_program
from rushlight.program.debug import (
    DebugRecord,
    Frame,
    InstructionOrigin,
    MethodOrigins,
    Module,
    debug_record_path,
    fingerprint,
    read_debug_record,
    record_beside,
)

MODEL = Path(__file__).parents[2] / "interop" / "dynamic_mlp" / "model.pte"

LINE = Frame("model.py", 12, "forward", "return self.act(x)")
LAYERS = (Module("", "Net"), Module("layers.0", "Linear"))


def record(program: str = "abc") -> DebugRecord:
    """Two methods: a kernel call, a fused one and a delegate."""
    first = InstructionOrigin(0, "aten::relu.out", (7,), "relu", (Frame("main.py", 3), LINE), LAYERS)
    fused = InstructionOrigin(2, "aten::addmm.out", (8, 9), "addmm", (LINE,), LAYERS)
    inside = {"0": (1, 2), "conv": (3,)}
    delegate = InstructionOrigin(0, "Somewhere", (4,), "lowered", chain=1, delegate_handles=inside)
    return DebugRecord(program, (MethodOrigins("forward", (first, fused)), MethodOrigins("run", (delegate,))))


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "model.debug.json"
    record().save(path)
    assert read_debug_record(path) == record()
    assert path.read_text().count("return self.act(x)") == 1


def test_instructions_are_found_by_their_place() -> None:
    forward = record().method("forward")
    fused = forward.at(2)
    assert fused is not None and fused.line == LINE and fused.module == LAYERS[1]
    assert str(fused) == "model.py:12: return self.act(x), in layers.0 (Linear)"
    assert forward.at(1) is None and forward.at(2, chain=1) is None
    assert record().method("none").at(0) is None
    assert str(record().method("run").at(0, chain=1)) == "node lowered"


def test_handles_are_told_as_the_official_record_has_them() -> None:
    assert record().debug_handle_map() == {"forward": {0: 7, 2: [8, 9]}, "run": {0: 4}}
    inside = {"name": "Somewhere", "delegate_map": {"0": [1, 2], "conv": [3]}}
    assert record().delegate_map() == {"forward": {}, "run": {0: inside}}


def test_a_record_is_found_beside_its_own_program_only(tmp_path: Path) -> None:
    program, model = read_program(MODEL), tmp_path / "model.pte"
    assert record_beside(model, program) is None
    record().save(debug_record_path(model))
    assert record_beside(model, program) is None
    right = record(fingerprint(program))
    right.save(tmp_path / "model.debug.json")
    assert record_beside(model, program) == record_beside(tmp_path / "model.bpte", program) == right


def test_the_fingerprint_of_an_image_is_that_of_its_file() -> None:
    image = write_program(parts_of(read_program(MODEL)))
    assert fingerprint(image) == fingerprint(read_program(image.tobytes()))
    assert fingerprint(image) != fingerprint(read_program(MODEL))


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.debug.json"
    with pytest.raises(InvalidArgument, match=r"model\.debug\.json: No such file"):
        read_debug_record(path)
    for text, says in [
        ("{", "expected JSON"),
        ("[]", "expected version"),
        ('{"format": "rushlight debug record"}', "version"),
    ]:
        path.write_text(text)
        with pytest.raises(InvalidArgument, match=says):
            read_debug_record(path)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_record_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    path = tmp_path_factory.mktemp("record") / "model.debug.json"
    record().save(path)
    content = json.loads(path.read_text())
    target: Any = content
    while isinstance(target, (dict, list)) and target:
        key = data.draw(st.sampled_from(sorted(target) if isinstance(target, dict) else range(len(target))))
        if not isinstance(target[key], (dict, list)) or data.draw(st.booleans()):
            target[key] = data.draw(st.sampled_from([None, -1, 99, "x", [], {}, [[]], [-1]]))
            break
        target = target[key]
    path.write_text(json.dumps(content))
    try:
        read_debug_record(path)
    except InvalidArgument as error:
        assert "debug record" in error.message
