# SPDX-License-Identifier: BSD-3-Clause
import json
from pathlib import Path

import pytest

from rushlight.cli.main import main
from support.foreign_delegates import FOREIGN, foreign_file

INTEROP = Path(__file__).parents[2] / "interop"
DSCNN = INTEROP / "model_dscnn" / "model.pte"


def _run(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        main([str(word) for word in ["check", *arguments]])
    return exit_.value.code or 0, capsys.readouterr()


def test_a_program_that_can_run_is_told_with_its_needs(capsys):
    code, printed = _run([DSCNN, "--target", "cortex-m55"], capsys)
    assert code == 0
    assert "model.pte can run on cortex-m55: 31 calls of 7 operators" in printed.out
    assert "forward: planned memory 64,000 B, method arena" in printed.out


def test_a_program_that_cannot_run_ends_with_the_reason(capsys, tmp_path):
    code, printed = _run([foreign_file(tmp_path)], capsys)
    assert code == 29 and printed.out == ""
    assert f"cannot run:\n  backend '{FOREIGN}' is missing" in printed.err
    assert "forward, instruction 0\n" in printed.err


def test_as_json_it_is_one_document(capsys, tmp_path):
    path = foreign_file(tmp_path)
    code, printed = _run([path, "--json"], capsys)
    report = json.loads(printed.out)
    assert code == 29 and report["runs"] is False
    assert report["findings"][0]["reason"] == "delegate" and report["findings"][0]["instruction"] == 0
    code, printed = _run([path, "--json", "--backend", FOREIGN], capsys)
    assert code == 0 and json.loads(printed.out)["runs"] is True


def test_a_bundled_program_is_checked_too(capsys):
    assert _run([INTEROP / "bundled" / "model.bpte"], capsys)[0] == 0


def test_an_earlier_build_restricts_the_operators(tmp_path, capsys):
    generated = tmp_path / "cmake-build" / "generated"
    generated.mkdir(parents=True)
    (generated / "selected_kernels.json").write_text('{"operators": {"aten::add.out": {"dtypes": ["int8"]}}}')
    code, printed = _run([DSCNN, "--built", tmp_path], capsys)
    assert code == 29 and "aten::convolution.out is not selected in this build" in printed.err
    code, printed = _run([DSCNN, "--built", tmp_path / "none"], capsys)
    assert code == 11 and "expected a build, got a folder without" in printed.err


def test_data_files_are_looked_into(capsys):
    folder = INTEROP / "external_ptd"
    code, printed = _run([folder / "model.pte"], capsys)
    assert code == 0 and "4 tensors in data files" in printed.out
    assert _run([folder / "model.pte", "--data", folder / "weights.ptd"], capsys)[0] == 0
