# SPDX-License-Identifier: BSD-3-Clause
"""Proofs of a build, on the Python module that is installed: it has every operator."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rushlight.build import BuildResult, Sizes
from rushlight.errors import BuildOnly, CheckFailed, InvalidArgument, OperatorNotFound
from rushlight.run import verify as verify_module
from rushlight.run.verify import raise_if_failed, verify

pytestmark = pytest.mark.heavy

INTEROP = Path(__file__).parents[2] / "interop"


@pytest.fixture
def built(monkeypatch) -> BuildResult:
    from rushlight import _runtime  # where it is missing, only these tests fail

    module = Path(_runtime.__file__)
    # One file cannot be imported under two names.
    monkeypatch.setattr(BuildResult, "module", lambda _self: _runtime)
    return BuildResult("host", module.parent, module, module, {}, Sizes({}, 0, 0, 0), 0.0)


def test_a_case_beside_the_model_is_held_to(built):
    (proof,) = verify(built, [INTEROP / "softplus" / "model.pte"])
    assert (proof.passed, proof.case, proof.reason) == (True, "case.json", "")
    assert proof.max_error is not None and proof.max_error < 1e-5


def test_a_bundled_program_is_held_to_its_own_cases(built):
    (proof,) = verify(built, [INTEROP / "bundled" / "model.bpte"])
    assert (proof.passed, proof.case) == (True, "its own cases")


def test_data_files_of_the_case_are_found(built):
    assert verify(built, [INTEROP / "external_ptd" / "model.pte"])[0].passed


def test_a_model_without_a_case_runs_on_ones_in_each_method(built, tmp_path):
    shutil.copy(INTEROP / "multi_method" / "model.pte", tmp_path)
    (proof,) = verify(built, [tmp_path / "model.pte"])
    assert (proof.passed, proof.case, proof.max_error) == (True, "inputs of ones", None)


def test_a_case_of_other_files_is_not_taken(built, tmp_path):
    shutil.copy(INTEROP / "softplus" / "model.pte", tmp_path / "other.pte")
    shutil.copy(INTEROP / "softplus" / "case.json", tmp_path)
    assert verify(built, [tmp_path / "other.pte"])[0].case == "inputs of ones"


def test_wrong_outputs_fail_with_the_models_name(built, tmp_path):
    for name in ("model.pte", "tensors.npz", "case.json"):
        shutil.copy(INTEROP / "softplus" / name, tmp_path)
    case = json.loads((tmp_path / "case.json").read_text())
    call = case["methods"]["forward"][0]
    call["outputs"] = call["inputs"]
    (tmp_path / "case.json").write_text(json.dumps(case))
    proofs = verify(built, [INTEROP / "softplus" / "model.pte", tmp_path / "model.pte"])
    assert [proof.passed for proof in proofs] == [True, False]
    with pytest.raises(CheckFailed, match=rf"{tmp_path}/model\.pte: call 0 \(forward\): output 0"):
        raise_if_failed(proofs)


def _of_an_unsupported_dtype() -> InvalidArgument:
    error = InvalidArgument("dtype float is not supported here, or not selected in this build")
    error.tell_unsupported_dtype()
    return error


@pytest.mark.parametrize(
    ("error", "passed"),
    [
        (OperatorNotFound({"aten::x.out": ["m.pte"]}, ["portable"]), False),
        (_of_an_unsupported_dtype(), False),
        (InvalidArgument("index 1 is out of range"), None),
        (BuildOnly("cortex-m85", "nothing here emulates it"), None),
    ],
)
def test_ones_that_are_no_valid_input_show_nothing(built, tmp_path, monkeypatch, error, passed):
    def refuse(*_arguments, **_options):
        raise error

    monkeypatch.setattr(verify_module, "run", refuse)
    shutil.copy(INTEROP / "softplus" / "model.pte", tmp_path)
    (proof,) = verify(built, [tmp_path / "model.pte"])
    assert proof.passed is passed and str(error.message).split("\n")[0] in proof.reason
    if passed is None:
        raise_if_failed([proof])
