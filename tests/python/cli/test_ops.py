# SPDX-License-Identifier: BSD-3-Clause
import json
from pathlib import Path

import pytest

from rushlight.cli.main import main

INTEROP = Path(__file__).parents[2] / "interop"


def _run(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        main([str(word) for word in ["ops", *arguments]])
    return exit_.value.code or 0, capsys.readouterr()


def test_the_steps_take_each_others_files(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.pte").symlink_to(INTEROP / "softplus" / "model.pte")
    delegated = INTEROP / "model_mlp" / "model_xnnpack.pte"
    assert _run(["extract", "model.pte", delegated, "-o", "a.yaml"], capsys)[0] == 0
    assert _run(["merge", "a.yaml", "--ops", "aten::mm.out", "-o", "deep/b.yaml"], capsys)[0] == 0
    code, printed = _run(["resolve", "deep/b.yaml", "--json"], capsys)
    resolved = json.loads(printed.out)
    assert code == 0 and resolved["operators"]["aten::exp.out"]["dtypes"] == ["float32"]
    assert len(resolved["operators"]["aten::mm.out"]["dtypes"]) > 5
    assert resolved["delegates"] == {"XnnpackBackend": ["model_mlp/model_xnnpack.pte"]}
    code, printed = _run(["resolve", "deep/b.yaml", "--generate", "out"], capsys)
    assert code == 0 and "aten::exp.out" in printed.out
    assert (tmp_path / "out" / "operator_table.cpp").is_file()


def test_what_a_model_needs_is_told_as_json(capsys):
    code, printed = _run(["extract", INTEROP / "softplus" / "model.pte", "--json"], capsys)
    row = json.loads(printed.out)["operators"]["aten::exp.out"]
    assert code == 0 and row == {
        "dtypes": ["float32"],
        "kernel_keys": ["v1/6;0,1|6;0,1|6;0,1"],
        "asked_by": ["softplus/model.pte"],
    }


def test_errors_have_their_exit_codes(tmp_path, capsys):
    assert _run(["extract", tmp_path / "no.pte"], capsys)[0] == 11
    (tmp_path / "a.yaml").write_text("- op: my::none.out")
    code, printed = _run(["resolve", tmp_path / "a.yaml"], capsys)
    assert code == 13 and "my::none.out, asked for by" in printed.err
