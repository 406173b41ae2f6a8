# SPDX-License-Identifier: BSD-3-Clause
"""The official quantized programs, converted: what they call, what they put out, what memory they take."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.cli.main import main
from rushlight.convert.api import convert
from rushlight.convert.files import convert_file, own_operators
from rushlight.program import (
    DebugRecord,
    bundled_case,
    is_bundled_program,
    read_bundled_program,
    read_debug_record,
    read_program,
    write_bundled_program,
)
from rushlight.program.bundled import BundledSuite
from rushlight.program.debug import Frame, InstructionOrigin, MethodOrigins, fingerprint
from support.official_int8 import PLANNED, SHAPES, before_softmax, model


@pytest.mark.parametrize("name", PLANNED)
def test_planned_memory_is_that_of_our_own_export(name: str) -> None:
    (method,) = convert(read_program(model(name)), own_operators()).methods
    assert method.planned_after == PLANNED[name]
    assert method.in_float == []


@pytest.mark.parametrize("name", PLANNED)
def test_only_softmax_computes_in_float(name: str) -> None:
    (plan,) = read_program(convert(read_program(model(name)), own_operators()).buffer).plans
    names = {name for name, _ in plan.calls()}
    assert {each for each in names if each.startswith("aten::")} == {"aten::_softmax.out"}


@pytest.mark.parametrize("name", PLANNED)
def test_the_last_integers_are_few_steps_from_before(name: str) -> None:
    """Each layer is at most one step apart; ten of them add up."""
    data = before_softmax(model(name).read_bytes())
    before, after = (rushlight.load(data, integers=choice) for choice in (False, True))
    random = np.random.default_rng(3)
    inputs = [random.standard_normal(SHAPES[name]).astype(np.float32) for _ in range(20)]
    found = [[np.array(p.forward(x)[0], np.int64) for x in inputs] for p in (before, after)]
    apart = np.abs(np.array(found[0]) - np.array(found[1]))
    assert apart.max() <= 3
    assert apart.mean() <= 0.6


def test_a_bundled_program_keeps_its_cases(tmp_path: Path) -> None:
    path, output = tmp_path / "model.bpte", tmp_path / "out.bpte"
    suite = BundledSuite("forward", (bundled_case([np.zeros((1, 1, 49, 10), np.float32)]),))
    write_bundled_program(model("model_dscnn_int8").read_bytes(), [suite]).save(path)
    assert convert_file(path, output).is_changed
    assert is_bundled_program(output.read_bytes())
    bundle = read_bundled_program(output)
    assert [len(each.cases) for each in bundle.suites] == [1]
    assert "rushlight::quantized_convolution.out" in read_program(bundle.program).plans[0].operators


def test_a_debug_record_names_the_lines_of_what_was_fused(tmp_path: Path) -> None:
    path, output = tmp_path / "model.pte", tmp_path / "out.pte"
    path.write_bytes(model("model_dscnn_int8").read_bytes())
    program = read_program(path)
    origins = tuple(
        InstructionOrigin(index, frames=(Frame("model.py", index),))
        for index in range(len(program.plans[0].instructions))
    )
    DebugRecord(fingerprint(program), (MethodOrigins("forward", origins),)).save(
        tmp_path / "model.debug.json"
    )
    convert_file(path, output)
    record, converted = read_debug_record(tmp_path / "out.debug.json"), read_program(output)
    assert record.program == fingerprint(converted)
    lines = [record.method("forward").at(i).line.line for i in range(len(converted.plans[0].instructions))]
    assert lines == sorted(lines)
    assert lines[-1] == len(origins) - 1


def test_the_command_writes_a_program_and_says_what_it_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.pte"
    with pytest.raises(SystemExit) as ended:
        main(["convert", str(model("model_dscnn_int8")), "-o", str(output), "--json"])
    assert ended.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert told["changed"] and output.is_file()
    assert told["methods"][0]["in_integers"].count("aten::convolution") == 9


def test_the_command_writes_no_file_where_nothing_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.pte"
    with pytest.raises(SystemExit) as ended:
        main(["convert", str(model("model_mlp")), "-o", str(output)])
    assert ended.value.code == 0
    assert not output.exists()
    assert "it has no quantized tensors" in capsys.readouterr().out


def test_a_program_that_is_converted_twice_stays(tmp_path: Path) -> None:
    once = convert(read_program(model("model_resnet8_int8")), own_operators()).buffer
    assert not convert(read_program(once), own_operators()).is_changed


def test_what_a_module_does_not_have_is_not_called() -> None:
    known = {name: row for name, row in own_operators().items() if name != "rushlight::quantized_add.out"}
    (method,) = convert(read_program(model("model_resnet8_int8")), known).methods
    assert {each.reason for each in method.in_float} == {"no kernel adds int8"}


@pytest.mark.parametrize(("flag", "called"), [("--integers", True), ("--no-integers", False)])
def test_baking_converts_unless_it_is_switched_off(flag: str, called: bool, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bake", str(model("model_dscnn_int8")), "-o", str(tmp_path / "baked"), flag])
    assert ended.value.code == 0
    selected = (tmp_path / "baked" / "selected_operators.yaml").read_text()
    assert ("rushlight::quantized_convolution.out" in selected) is called
