# SPDX-License-Identifier: BSD-3-Clause
"""The command that says what a program takes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rushlight import process
from rushlight.cli.main import main


def _program(folder: Path) -> Path:
    compiler = shutil.which("c++") or pytest.skip("no c++, a C++ compiler, on the PATH")
    (folder / "a.cpp").write_text(
        "const char text[5000] = {1};\nint main(int n, char**) { return text[n]; }\n"
    )
    process.run([compiler, "-Os", "a.cpp", "-o", "a.elf", "-Wl,-Map=a.elf.map"], cwd=folder, check=True)
    return folder / "a.elf"


def _run(*words: object) -> int:
    with pytest.raises(SystemExit) as done:
        main(["size", *map(str, words)])
    return int(done.value.code or 0)


def test_any_executable_is_read_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = _program(tmp_path)
    assert _run("--elf", program, "--json", "--html", tmp_path / "a.html", "--svg", tmp_path / "a.svg") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["flash"] > 5000 and {"text", "main"} <= {row["symbol"] for row in report["entries"]}
    assert "main" in (tmp_path / "a.html").read_text() and (tmp_path / "a.svg").read_text().startswith("<svg")


def test_over_budget_is_an_exit_code_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = _program(tmp_path)
    (tmp_path / "budget.yaml").write_text("flash: 5000\n")
    assert _run("--elf", program, "--budget", tmp_path / "budget.yaml", "--json") == 32
    printed = capsys.readouterr()
    assert json.loads(printed.out)["flash"] > 5000
    assert "over the 5,000 allowed" in printed.err and "takes most: 5,000 text" in printed.err


def test_a_diff_with_itself_is_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = _program(tmp_path)
    assert _run("--elf", program, "--json") == 0
    (tmp_path / "before.json").write_text(capsys.readouterr().out)
    assert _run("--elf", program, "--json", "--diff", tmp_path / "before.json") == 0
    changes = json.loads(capsys.readouterr().out)["diff"]
    assert changes["symbols"] == [] and all(row["delta"] == 0 for row in changes["totals"])


def test_what_is_missing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run() == 11
    assert _run("--build", tmp_path) == 11
    assert "expected a folder with executor_runner" in capsys.readouterr().err
