# SPDX-License-Identifier: BSD-3-Clause
"""Completion of commands, targets, compilers, operators and files in shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rushlight import targets
from rushlight.cli.main import main


def command(folder: Path) -> dict[str, str]:
    """An environment where `rushlight` is this Python's."""
    program = folder / "rushlight"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rushlight.cli "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["completion", shell])
    assert ended.value.code == 0
    return capsys.readouterr().out


def in_bash(line: str, folder: Path, source: str) -> list[str]:
    """The replies and the kind of completion that bash gets behind `line`."""
    ask = f"""{source}
compopt() {{ echo "compopt $*"; }}
COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}
_rushlight_completion rushlight
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    shown = subprocess.run(
        ["bash", "--norc", "-c", ask], capture_output=True, text=True, env=command(folder), check=True
    )
    assert shown.stderr == ""
    return shown.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is missing")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rushlight ins", ["inspect"]),
        ("rushlight targets in", ["install"]),
        ("rushlight build m.pte -t cortex-m5", ["cortex-m55"]),
        ("rushlight run m.pte --target=cortex-m5", ["cortex-m55"]),
        ("rushlight build m.pte -t cortex-m33 --compiler c", ["clang"]),
        ("rushlight build -t mars --compiler ", []),
        ("rushlight doctor cortex-m5", ["cortex-m55"]),
        ("rushlight doctor ser", ["serve"]),
        # bash replaces the text behind the last colon.
        ("rushlight build --ops aten::softplu", ["softplus.out"]),
        ("rushlight build --ops=aten::softplu", ["softplus.out"]),
        ("rushlight build --ops aten::add.out,aten::softplu", ["softplus.out"]),
        ("rushlight build --only-dtypes float32,int6", ["float32,int64"]),
        ("rushlight inspect ", ["compopt", "-o", "default"]),
        ("rushlight build m.pte -o ", ["compopt", "-o", "dirnames"]),
    ],
)
def test_bash_completes(
    line: str, expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_bash(line, tmp_path, script("bash", capsys)) == expected


def test_zsh_and_fish_get_scripts_and_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script("zsh", capsys).startswith("#compdef rushlight")
    assert "complete --no-files --command rushlight" in script("fish", capsys)
    words = {"COMP_WORDS": "rushlight size -t ", "COMP_CWORD": "3", "_RUSHLIGHT_COMPLETE": "zsh_complete"}
    shown = subprocess.run(
        [tmp_path / "rushlight"], env=command(tmp_path) | words, capture_output=True, text=True, check=True
    )
    lines = shown.stdout.splitlines()
    assert lines[1::3] == [target.name for target in targets.all_targets()]
    assert set(lines[::3]) == {"plain"}
