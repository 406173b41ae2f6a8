# SPDX-License-Identifier: BSD-3-Clause
"""Long commands show on a terminal how far they are, and draw nothing elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from rushlight import process, targets
from rushlight.cli.main import main
from rushlight.targets.host import Host

MODEL = Path(__file__).parents[2] / "interop" / "softplus" / "model.pte"
PLAN = "models: {softplus: {program: MODEL}}\ntargets: host\n"


def on_a_terminal(words: list[str], folder: Path) -> str:
    """The command's output on a terminal that is its stderr."""
    ours, theirs = pty.openpty()
    drawn: list[bytes] = []

    def read() -> None:
        while True:
            try:
                drawn.append(os.read(ours, 4096))
            except OSError:  # the command has ended
                return

    reader = threading.Thread(target=read)
    reader.start()
    ended = subprocess.run(
        [sys.executable, "-m", "rushlight.cli", *words],
        stdout=subprocess.PIPE,
        stderr=theirs,
        cwd=folder,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    reader.join(10)
    os.close(ours)
    text = b"".join(drawn).decode("utf-8", "replace")
    assert ended.returncode == 0, text
    return text


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("words", "drawn"),
    [
        (["bake", str(MODEL), "-o", "baked"], ["converting|writing C++"]),
        (["bake", str(MODEL), "-o", "baked", "--package", "cmake"], ["writing a package for cmake"]),
        (["convert", str(MODEL), "-o", "other.pte"], ["converting model.pte"]),
        (["build", str(MODEL), "-o", "built"], ["configuring", "100%|━━━━"]),
        (["matrix", "plan.yaml", "--jobs", "1"], ["cells", "softplus/host/default"]),
    ],
    ids=["bake", "package", "convert", "build", "matrix"],
)
def test_a_long_command_shows_its_steps(words: list[str], drawn: list[str], tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN.replace("MODEL", str(MODEL)))
    shown = on_a_terminal(words, tmp_path)
    for step in drawn:
        assert any(each in shown for each in step.split("|")), shown


def test_off_a_terminal_nothing_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bake", str(MODEL), "-o", str(tmp_path / "baked")])
    assert capsys.readouterr().err == ""


def test_installers_show_their_own_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, bool]] = []

    def run(command: list[str], *, capture: bool = True, **_options: Any) -> None:
        started.append((command[1], capture))

    monkeypatch.setattr(Host, "requirements", lambda _self: [targets.Requirement("c++", "g++")])
    monkeypatch.setattr(process, "run", run)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(SystemExit):
        main(["targets", "install", "host"])
    assert started == [("update", False), ("install", False)]
