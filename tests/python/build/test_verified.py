# SPDX-License-Identifier: BSD-3-Clause
"""The selection is sufficient: models run on builds that have only their operators and dtypes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rushlight import targets
from rushlight.build import BuildRequest, run_request
from rushlight.cli.main import main
from rushlight.errors import CheckFailed
from rushlight.program import read_model
from rushlight.run.verify import verify

INTEROP = Path(__file__).parents[2] / "interop"


def build(arguments: list[object], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict]:
    """The exit code of `rushlight build` and what it printed."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in ["build", *arguments, "--json"]])
    return int(ended.value.code or 0), json.loads(capsys.readouterr().out)


def own_programs() -> list[Path]:
    """The programs and bundled programs of the interop set that hand no work to backends."""
    found = sorted([*INTEROP.glob("*/*.pte"), *INTEROP.glob("*/*.bpte")])
    return [path for path in found if not any(plan.delegates for plan in read_model(path).plans)]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_the_union_of_all_programs_runs_each_of_them(tmp_path):
    models = own_programs()
    assert len(models) >= 48
    # Without optimization: what is compiled is what matters, and that dispatch asserts what it is given.
    defines = {"CMAKE_BUILD_TYPE": "Debug", "CMAKE_CXX_FLAGS_DEBUG": "-O0"}
    built = run_request(BuildRequest(target="host", models=tuple(models), defines=defines), tmp_path)
    assert "float64" not in built.selection["aten::convolution.out"]
    proofs = verify(built, models)
    assert {str(p.model): p.reason for p in proofs if not p.passed} == {}
    assert sum(proof.case == "case.json" for proof in proofs) >= 44


def test_a_build_runs_its_model_and_follows_when_it_is_exported_again(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, operators in (("f64_add", ["aten::add.out"]), ("f64_mul", ["aten::mul.out"])):
        for file in ("model.pte", "case.json", "tensors.npz"):
            shutil.copyfile(INTEROP / name / file, tmp_path / file)
        code, built = build(["model.pte", "-o", "out"], capsys)
        assert (code, list(built["selection"])) == (0, operators)
        (proof,) = built["verified"]
        assert (proof["passed"], proof["case"]) == (True, "case.json")
        assert proof["model"] == str(tmp_path / "model.pte")
    shutil.copyfile(INTEROP / "f64_add" / "tensors.npz", tmp_path / "tensors.npz")
    code, built = build(["model.pte", "-o", "out"], capsys)
    assert code == CheckFailed.exit_code and built["verified"][0]["passed"] is False
    code, built = build(["model.pte", "-o", "out", "--no-verify"], capsys)
    assert (code, built["verified"]) == (0, [])


@pytest.mark.device
@pytest.mark.cortex_m55
@pytest.mark.parametrize("names", [["softplus"], ["softplus", "sort_topk"]])
def test_a_board_runs_what_was_built_for_it(names, tmp_path, capsys):
    if missing := targets.get("cortex-m55").requirements():
        pytest.skip("cortex-m55: missing " + ", ".join(item.name for item in missing))
    models = [INTEROP / name / "model.pte" for name in names]
    code, built = build([*models, "-t", "cortex-m55", "-o", tmp_path], capsys)
    assert code == 0
    assert [(proof["passed"], proof["case"]) for proof in built["verified"]] == [(True, "case.json")] * len(
        names
    )
