# SPDX-License-Identifier: BSD-3-Clause
"""rushlight bake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rushlight.cli.main import main
from support.foreign_delegates import foreign_file

INTEROP = Path(__file__).parents[2] / "interop"


def baked(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and stdout of `rushlight bake`."""
    with pytest.raises(SystemExit) as ended:
        main(["bake", *arguments])
    return int(ended.value.code or 0), capsys.readouterr().out


def test_it_tells_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(INTEROP / "multi_method" / "model.pte")
    code, told = baked([model, "-o", str(tmp_path), "--json", "--method", "encode", "--name", "two"], capsys)
    content = json.loads(told)
    assert code == 0 and content["methods"] == ["encode"] and content["name"] == "two"
    assert {path.name for path in tmp_path.iterdir()} == set(content["files"]) >= {"two.cpp", "two.h"}
    code, told = baked([model, "-o", str(tmp_path)], capsys)
    assert code == 0 and "decode: arenas" in told


def test_a_delegate_is_an_error_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(foreign_file(tmp_path))
    code, told = baked([model, "-o", str(tmp_path / "out"), "--json"], capsys)
    assert code == 14 and json.loads(told)["error"] == "BackendNotFound"
