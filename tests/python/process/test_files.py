# SPDX-License-Identifier: BSD-3-Clause
"""Files appear whole or not at all; one process at a time works in a folder."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rushlight.errors import FileFailed
from rushlight.files import locked, write_bytes, write_text, writing
from rushlight.program.file_image import FileImage

WRITER = """
import os, sys
from rushlight.files import writing
with writing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("half", flush=True)
    sys.stdin.read()
"""

BUILDER = """
import sys
from rushlight.files import locked
with locked(sys.argv[1]):
    print("in", flush=True)
    sys.stdin.read()
"""


def started(program: str, path: Path) -> subprocess.Popen[str]:
    """A process that has written its line and waits for its stdin to end."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline()
    return process


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "[model].pte"
    write_bytes(path, b"before")
    killed, alive = started(WRITER, path), started(WRITER, path)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    other = tmp_path / "[model].pte2.part"  # another user's file
    other.write_bytes(b"")
    assert len(list(tmp_path.iterdir())) == 4 and path.read_bytes() == b"before"
    FileImage([b"whole"]).save(path)
    assert path.read_bytes() == b"whole" and len(list(tmp_path.iterdir())) == 3  # that of the living stays
    alive.communicate("")
    assert alive.returncode == 0 and path.read_bytes() == b"half"
    assert sorted(tmp_path.iterdir()) == sorted([path, other])


def test_a_failure_leaves_the_file_of_before(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_text(path, "before")
    with pytest.raises(ZeroDivisionError), writing(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_a_link_is_written_through_and_permissions_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "a", tmp_path / "link"
    write_text(path, "before")
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(link, "after\udcff")
    assert (
        link.is_symlink()
        and path.read_text() == "after\\udcff"
        and stat.S_IMODE(path.stat().st_mode) == 0o640
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_an_error_with_a_next_step() -> None:
    with pytest.raises(FileFailed, match="/dev/full: No space left") as caught:
        write_bytes("/dev/full", b"a" * 100_000)
    assert caught.value.errno == errno.ENOSPC and "Free some space" in caught.value.next_step
    assert Path("/dev/full").is_char_device()


def test_a_folder_that_is_none_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for use in (lambda path: write_bytes(path, b""), lambda path: locked(path).__enter__()):
        with pytest.raises(FileFailed, match="file/a: Not a directory") as caught:
            use(tmp_path / "file" / "a")
        assert "a part of it is a file" in caught.value.next_step


def test_another_process_waits_with_a_word_until_the_folder_is_free(tmp_path: Path) -> None:
    folder = tmp_path / "out\x1b"
    first = started(BUILDER, folder)
    second = subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert second.stderr is not None and second.stdout is not None
    said = second.stderr.readline()
    assert f"waiting for process {first.pid}, which is using " in said and "out\\x1b" in said
    assert second.poll() is None
    first.communicate("")
    assert second.communicate(timeout=30)[0] == "in\n" and second.returncode == 0


def test_a_killed_process_keeps_no_lock(tmp_path: Path) -> None:
    first = started(BUILDER, tmp_path)
    first.kill()
    first.communicate()
    words: list[str] = []
    with locked(tmp_path, words.append):
        assert words == []


def test_a_thread_comes_in_again_and_others_wait(tmp_path: Path) -> None:
    words: list[str] = []
    order: list[str] = []

    def work() -> None:
        with locked(tmp_path, words.append):
            order.append("other")

    with locked(tmp_path), locked(tmp_path / "."):
        other = threading.Thread(target=work)
        other.start()
        other.join(0.3)
        order.append("first")
    other.join()
    assert order == ["first", "other"] and words == [f"waiting for another thread, which is using {tmp_path}"]


def test_a_file_system_without_locks_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr("fcntl.flock", refuse)
    with locked(tmp_path):
        write_text(tmp_path / "a", "b")
    assert (tmp_path / "a").read_text() == "b"
