# SPDX-License-Identifier: BSD-3-Clause
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from rushlight.cli.main import main
from support.foreign_delegates import FOREIGN, foreign_file

pytestmark = pytest.mark.heavy

INTEROP = Path(__file__).parents[2] / "interop"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _run(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        main([str(word) for word in arguments])
    return exit_.value.code or 0, capsys.readouterr()


def test_a_case_that_holds_passes_with_exit_status_0(capsys):
    folder = INTEROP / "model_dscnn"
    code, printed = _run(["run", folder / "model.pte", "--case", folder / "case.json", "--json"], capsys)
    result = json.loads(printed.out)
    assert code == 0 and result["passed"] and result["max_error"] < 1e-6
    assert result["calls"][0]["outputs"][0]["shape"] == [1, 12]


def test_a_case_that_does_not_hold_fails_and_says_where(tmp_path, capsys):
    for name in ("model.pte", "case.json"):
        shutil.copy(INTEROP / "softplus" / name, tmp_path / name)
    arrays = dict(np.load(INTEROP / "softplus" / "tensors.npz"))
    arrays["forward.0.output0"] = arrays["forward.0.output0"] + 1
    np.savez(tmp_path / "tensors.npz", **arrays)
    code, printed = _run(["run", tmp_path / "model.pte", "--case", tmp_path / "case.json"], capsys)
    assert code == 20
    assert "call 0 (forward): output 0" in printed.err


def test_as_json_a_failed_run_is_one_document_and_numbers_are_plain_json(tmp_path, capsys):
    for name in ("model.pte", "case.json"):
        shutil.copy(INTEROP / "softplus" / name, tmp_path / name)
    arrays = dict(np.load(INTEROP / "softplus" / "tensors.npz"))
    arrays["forward.0.input0"] = arrays["forward.0.input0"] * np.float32(np.nan)
    np.savez(tmp_path / "tensors.npz", **arrays)
    words = ["run", tmp_path / "model.pte", "--case", tmp_path / "case.json", "--json"]
    code, printed = _run(words, capsys)

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    result = json.loads(printed.out, parse_constant=refuse)
    assert code == 20 and result["passed"] is False
    assert result["calls"][0]["outputs"][0]["data"][0][0] == "nan"


def test_inputs_from_an_npz_give_outputs_in_an_npz(tmp_path, capsys):
    case = np.load(INTEROP / "softplus" / "tensors.npz")
    np.savez(tmp_path / "in.npz", x=case["forward.0.input0"])
    words = [
        "run",
        INTEROP / "softplus" / "model.pte",
        "--inputs",
        tmp_path / "in.npz",
        "--save",
        tmp_path / "out.npz",
    ]
    assert _run(words, capsys)[0] == 0
    saved = np.load(tmp_path / "out.npz")["forward.0.output0"]
    np.testing.assert_allclose(saved, case["forward.0.output0"], rtol=1e-6)


def test_without_inputs_a_program_runs_on_ones(capsys):
    assert _run(["run", INTEROP / "model_resnet8" / "model.pte"], capsys)[0] == 0


@pytest.mark.parametrize("target", ["host", "cortex-m4"])
def test_an_operator_that_nobody_has_is_named(target, capsys, tmp_path):
    foreign = tmp_path / "foreign.pte"
    foreign.write_bytes((INTEROP / "f64_add" / "model.pte").read_bytes().replace(b"aten::add", b"aten::xyz"))
    code, printed = _run(["run", foreign, "--target", target], capsys)
    assert code == 13 and "aten::xyz.out" in printed.err


@pytest.mark.parametrize("target", ["host", "cortex-m4"])
def test_a_backend_that_nobody_has_is_named(target, capsys, tmp_path):
    code, printed = _run(["run", foreign_file(tmp_path), "--target", target], capsys)
    assert code == 14 and FOREIGN in printed.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["model_dscnn/model.pte", "--method", "backward"], 12, "backward"),
        (["model_dscnn/model.pte", "--target", "cortex-m9"], 15, "cortex-m9"),
        (["model_dscnn/case.json"], 10, "ET12"),
        (["model_dscnn/none.pte"], 11, "none.pte"),
        (["model_dscnn/model.pte", "--case", "model_dscnn/none.json"], 11, "none.json"),
        (["model_dscnn/model.pte", "--inputs", "model_resnet8/tensors.npz"], 11, "expected 1 inputs, got 2"),
        (["f64_add/model.pte", "--case", "dtype_int8/case.json"], 11, "expected dtype float64, got int8"),
        (["model_dscnn/model.pte", "--case", "model_mlp/case.json"], 11, "expected shape"),
    ],
)
@pytest.mark.parametrize("target", ["host", "cortex-m4"])
def test_bad_input_is_refused_by_name_on_every_target(arguments, code, words, target, capsys, monkeypatch):
    monkeypatch.chdir(INTEROP)
    given = arguments if "--target" in arguments else [*arguments, "--target", target]
    found, printed = _run(["run", *given], capsys)
    assert found == code
    assert words in printed.err


def test_a_bundled_program_is_held_against_its_own_expectations(capsys):
    code, printed = _run(["run", INTEROP / "bundled" / "model.bpte", "--json"], capsys)
    result = json.loads(printed.out)
    assert code == 0 and [call["passed"] for call in result["calls"]] == [True] * 3


def test_tolerances_of_0_fail_what_differs_in_the_last_bit(capsys):
    words = ["run", INTEROP / "bundled" / "model.bpte", "--rtol", "0", "--atol", "0"]
    code, printed = _run(words, capsys)
    assert code == 20 and "allowed to differ by 0" in printed.err


def test_a_negative_tolerance_is_refused(capsys):
    assert _run(["run", INTEROP / "bundled" / "model.bpte", "--rtol", "-1"], capsys)[0] == 11


def test_a_case_brings_its_data_files(capsys):
    folder = INTEROP / "external_ptd"
    code, _ = _run(["run", folder / "model.pte", "--case", folder / "case.json"], capsys)
    assert code == 0


def test_tensors_that_no_data_file_has_are_named_with_the_option(capsys):
    code, printed = _run(["run", INTEROP / "external_ptd" / "model.pte"], capsys)
    assert code == 11 and "'0.weight'" in printed.err and "--data" in printed.err


def test_data_files_may_be_given(capsys):
    folder = INTEROP / "external_ptd"
    words = ["run", folder / "model.pte", "--data", folder / "weights.ptd"]
    assert _run(words, capsys)[0] == 0
    # The same keys twice: which of them is meant?
    code, printed = _run([*words, "--data", folder / "weights.ptd"], capsys)
    assert code == 11 and "two data maps have this key" in printed.err


def test_a_data_file_that_is_none_is_refused(tmp_path, capsys):
    folder = INTEROP / "external_ptd"
    code, printed = _run(["run", folder / "model.pte", "--data", folder / "model.pte"], capsys)
    assert code == 10 and "FT01" in printed.err
    assert _run(["run", folder / "model.pte", "--data", tmp_path / "none.ptd"], capsys)[0] == 11


def test_pytorch_computes_a_program_on_request(capsys):
    pytest.importorskip("torch", reason="torch is not installed")
    folder = INTEROP / "softplus"
    words = ["run", folder / "model.pte", "--case", folder / "case.json", "--fallback", "aten-first"]
    assert _run(words, capsys)[0] == 0
    code, printed = _run([*words, "-t", "cortex-m55"], capsys)
    assert code == 11 and "fallback: expected a run in this process" in printed.err
