# SPDX-License-Identifier: BSD-3-Clause
import json
from pathlib import Path

import pytest

import rushlight
from rushlight.cli.main import main
from rushlight.cli.options import kilobytes
from support.foreign_delegates import FOREIGN, foreign_file

INTEROP = Path(__file__).parents[2] / "interop"


def _run(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        main([str(word) for word in arguments])
    return exit_.value.code or 0, capsys.readouterr()


def test_inspect_shows_what_a_model_needs(capsys):
    code, printed = _run(["inspect", INTEROP / "model_dscnn" / "model.pte"], capsys)
    assert code == 0
    for words in ("float32 [1, 1, 49, 10]", "planned memory 1: 64,000 B", "aten::convolution.out"):
        assert words in printed.out


def test_inspect_as_json_is_one_document(capsys):
    code, printed = _run(["inspect", INTEROP / "cond_sum" / "model.pte", "--json"], capsys)
    assert code == 0
    (method,) = json.loads(printed.out)["methods"]
    assert {row["name"] for row in method["operators"]} >= {"aten::sum.IntList_out", "aten::gt.Scalar_out"}


@pytest.mark.heavy
def test_inspect_names_the_delegates(capsys):
    code, printed = _run(["inspect", INTEROP / "model_dscnn" / "model_xnnpack.pte"], capsys)
    assert code == 0 and "delegate XnnpackBackend" in printed.out


@pytest.mark.parametrize("length", [0, 3, 8, 100, 5000])
def test_inspect_refuses_a_truncated_file(length, tmp_path, capsys):
    cut = tmp_path / "cut.pte"
    cut.write_bytes((INTEROP / "model_dscnn" / "model.pte").read_bytes()[:length])
    code, printed = _run(["inspect", cut], capsys)
    assert code == 10 and printed.err.startswith("error:")


def test_an_error_is_a_json_document_too_when_asked_for(tmp_path, capsys):
    code, printed = _run(["inspect", tmp_path / "none.pte", "--json"], capsys)
    assert code == 11
    described = json.loads(printed.out)
    assert described["error"] == "InvalidArgument" and "none.pte" in described["message"]


def test_a_wrong_command_line_has_exit_code_2(capsys):
    assert _run(["inspect"], capsys)[0] == 2
    assert _run(["expect"], capsys)[0] == 2


def test_inspect_shows_the_keys_of_a_data_file(capsys):
    code, printed = _run(["inspect", INTEROP / "external_ptd" / "weights.ptd"], capsys)
    assert code == 0 and "data file" in printed.out
    (line,) = [line for line in printed.out.splitlines() if "0.weight" in line]
    for words in ("float32", "[32, 16]", "2,048"):
        assert words in line


def test_inspect_shows_what_lies_in_data_files(capsys):
    code, printed = _run(["inspect", INTEROP / "external_ptd" / "model.pte"], capsys)
    assert code == 0 and "in data files: 3,232 B, 0.bias, 0.weight" in printed.out


def test_inspect_shows_the_cases_of_a_bundled_program_and_the_program_inside(capsys):
    code, printed = _run(["inspect", INTEROP / "bundled" / "model.bpte"], capsys)
    assert code == 0
    for words in ("forward: 3 cases", "float32 [4, 16] -> float32 [4, 8]", "aten::addmm.out"):
        assert words in printed.out
    code, printed = _run(["inspect", INTEROP / "bundled" / "model.bpte", "--json"], capsys)
    described = json.loads(printed.out)
    assert code == 0 and described["kind"] == "bundled program"
    assert described["program"]["methods"][0]["name"] == "forward"


def test_inspect_says_what_memory_a_method_takes(capsys):
    path = INTEROP / "model_dscnn" / "model.pte"
    _, printed = _run(["inspect", "--json", path], capsys)
    memory = json.loads(printed.out)["methods"][0]["memory"]
    assert memory["planned"] == [64000] and memory["temporary_peak"] == 0
    assert memory["method_arena"]["32"] < memory["method_arena"]["64"]
    assert memory["total"]["32"] == memory["method_arena"]["32"] + 64000
    _, printed = _run(["inspect", path], capsys)
    assert f"{memory['method_arena']['32']:,} B where pointers have 32 bits" in printed.out


@pytest.mark.heavy
def test_inspect_says_what_the_kernels_of_this_machine_need(capsys):
    path = INTEROP / "model_resnet8" / "model.pte"
    _, printed = _run(["inspect", "--json", path], capsys)
    needs = json.loads(printed.out)["methods"][0]["memory"]["kernels"]
    memory = rushlight.load(path, threads=1, optimize=False).load_method("forward").memory()
    assert needs == {each: memory[each] for each in ("scratch", "prepared", "delegates")}
    # Most of its 77,000 weights are in convolutions that prepare them.
    assert needs["prepared"] > 4 * 60_000 and needs["scratch"] > 0
    _, printed = _run(["inspect", path], capsys)
    assert f"scratch {kilobytes(needs['scratch'])}, prepared weights" in printed.out


@pytest.mark.heavy
def test_inspect_says_why_kernels_cannot_be_asked(capsys, tmp_path):
    path = foreign_file(tmp_path)
    _, printed = _run(["inspect", "--json", path], capsys)
    memory = json.loads(printed.out)["methods"][0]["memory"]
    assert memory["kernels"] is None and FOREIGN in memory["kernels_unknown"]
