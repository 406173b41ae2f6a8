# SPDX-License-Identifier: BSD-3-Clause
"""Starting, feeding, watching and ending processes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rushlight import process
from rushlight.errors import CommandFailed, InvalidArgument, MissingExecutable, RunTimeout

# Writes the id of a grandchild that would outlive its parent, then waits with it.
LINGER = "sleep 60 & echo $! > {file}; wait"


def gone(pid: int) -> bool:
    """True if a process ends within half a minute."""
    for _ in range(1500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_output_status_and_time_come_back() -> None:
    result = process.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (result.returncode, result.stdout, result.stderr) == (3, "out\n", "err\n")
    assert 0 < result.seconds < 60


def test_input_is_fed_and_environment_laid_over_ours(tmp_path: Path) -> None:
    script = "cat; echo $MARK $PWD"
    result = process.run(["sh", "-c", script], input="text\n", env={"MARK": "here"}, cwd=tmp_path)
    assert result.stdout == f"text\nhere {tmp_path}\n"


def test_a_failure_is_raised_where_asked_for() -> None:
    with pytest.raises(CommandFailed, match=r"exit status 4: sh[^\n]*\nreason") as failure:
        process.run(["sh", "-c", "echo reason >&2; exit 4"], check=True)
    assert failure.value.returncode == 4


def test_a_missing_program_says_what_to_install() -> None:
    with pytest.raises(MissingExecutable, match="no-such-program"):
        process.run(["no-such-program"])
    with pytest.raises(MissingExecutable) as missing:
        process.run(["/nowhere/qemu-arm"])
    assert "apt-get install qemu-user" in missing.value.next_step
    with pytest.raises(MissingExecutable) as missing:
        process.run(["/nowhere/cmake"])
    assert "pip install 'rushlight[build]'" in missing.value.next_step


def test_a_missing_folder_is_not_taken_for_a_missing_program(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="expected a folder to run in"):
        process.run(["sh"], cwd=tmp_path / "none")


@pytest.mark.parametrize("streaming", [False, True])
def test_a_timeout_ends_the_whole_group_and_keeps_the_output(streaming: bool, tmp_path: Path) -> None:
    script = "echo before; " + LINGER.format(file=tmp_path / "pid")
    start = time.monotonic()
    with pytest.raises(RunTimeout, match=r"timed out after 0\.5 s") as expired:
        process.run(["sh", "-c", script], timeout=0.5, on_line=print if streaming else None)
    assert time.monotonic() - start < 30  # the grandchild waits for 60
    assert expired.value.output == "before\n"
    assert gone(int((tmp_path / "pid").read_text()))


def test_lines_come_while_the_command_runs(tmp_path: Path) -> None:
    seen: list[str] = []

    def on_line(line: str) -> None:
        seen.append(line)
        (tmp_path / "seen").touch()

    # Waits for its first line to be seen.
    script = f"echo a; until [ -e '{tmp_path}/seen' ]; do sleep 0.02; done; echo b"
    result = process.run(["sh", "-c", script], on_line=on_line, timeout=60)
    assert seen == ["a", "b"]
    assert result.stdout == "a\nb\n"


def test_an_exception_in_the_reader_ends_the_group(tmp_path: Path) -> None:
    def refuse(line: str) -> None:
        raise ValueError(line)

    script = LINGER.format(file=tmp_path / "pid").replace("; wait", "; echo x; wait")
    with pytest.raises(ValueError, match="x"):
        process.run(["sh", "-c", script], on_line=refuse)
    assert gone(int((tmp_path / "pid").read_text()))


def test_verbose_shows_the_command_first(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "verbose", True)
    process.run(["echo", "two words"], capture=False)
    captured = capfd.readouterr()
    assert captured.err == "+ echo 'two words'\n"
    assert captured.out == "two words\n"


def test_bytes_that_are_no_text_are_replaced() -> None:
    result = process.run(["printf", r"\377"])
    assert result.stdout == "\ufffd"


def test_a_command_that_a_signal_ends_has_failed() -> None:
    with pytest.raises(CommandFailed) as failure:
        process.run(["sh", "-c", "kill -9 $$"], check=True)
    assert failure.value.returncode == -9


def test_a_signal_shows_as_a_negative_status() -> None:
    result = process.run(["sh", "-c", "kill -9 $$"])
    assert result.returncode == -9


def test_programs_of_this_environment_are_found_without_activating_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = tmp_path / "some-tool"
    tool.write_text("#!/bin/sh\necho found\n")
    tool.chmod(0o755)
    monkeypatch.setattr(process.sysconfig, "get_path", lambda name: str(tmp_path))
    assert process.find_program("some-tool") == str(tool)
    assert process.run(["some-tool"]).stdout == "found\n"
