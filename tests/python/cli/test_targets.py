# SPDX-License-Identifier: BSD-3-Clause
"""rushlight targets, and a target's compiler on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rushlight import targets
from rushlight.cli.main import main
from rushlight.errors import InvalidArgument, NotReady, UnknownTarget
from rushlight.targets.bare_metal import BareMetal
from rushlight.targets.target import Requirement

MODEL = Path(__file__).parents[2] / "interop" / "softplus" / "model.pte"


def status(*words: str | Path) -> int:
    """The exit status of the command."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_each_target_is_listed_once_with_what_each_compiler_lacks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks(target: BareMetal) -> list[Requirement]:
        return [Requirement("zig", "ziglang", installer="pip")] if target.compiler == "zig" else []

    monkeypatch.setattr(BareMetal, "requirements", lacks)
    assert status("targets", "--json") == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == [target.name for target in targets.all_targets()]
    row = rows["cortex-m4"]
    assert row["usable"] and row["pip_packages"] == []
    gcc, *_, zig = row["compilers"]
    assert gcc == {"name": "gcc"} | {
        key: row[key] for key in ("usable", "buildable", "missing", "packages", "pip_packages")
    }
    assert (zig["name"], zig["usable"], zig["pip_packages"]) == ("zig", False, ["ziglang"])
    assert status("targets") == 0
    shown = capsys.readouterr().out
    (line,) = [line for line in shown.splitlines() if line.startswith("│ cortex-m4 ")]
    assert "gcc, zig" in line and "ready; zig: missing zig" in line
    assert "pip install ziglang" in shown


def test_installing_without_root_prints_the_command_and_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BareMetal, "requirements", lambda target: [Requirement("qemu", "qemu-system-arm")])
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert status("targets", "install", "cortex-m4") == NotReady.exit_code
    said = capsys.readouterr()
    assert said.out.splitlines()[-1].startswith("sudo apt-get install")
    assert "qemu-system-arm" in said.out and "expected root" in said.err and "--compiler zig" in said.err


@pytest.mark.parametrize("command", ["build", "run", "size"])
def test_a_compiler_that_the_target_has_not_is_refused(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(command, MODEL, "-t", "cortex-m85", "--compiler", "zig") == InvalidArgument.exit_code
    assert "compiler of cortex-m85: expected one of clang, got zig" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["-t", "mars", "--compiler", "zig"], ["-t", "zig-mars"]])
def test_the_option_and_the_prefix_name_the_same_target(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert status("build", MODEL, *words) == UnknownTarget.exit_code
    assert "unknown target 'zig-mars'" in capsys.readouterr().err
