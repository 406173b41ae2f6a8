# SPDX-License-Identifier: BSD-3-Clause
"""Starts other programs, for the whole package: prints the command, enforces a timeout, and kills the process
group on failure, so that no process is left behind."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rushlight.documents import read_json
from rushlight.errors import CommandFailed, InvalidArgument, MissingExecutable, RunTimeout, RushlightError
from rushlight.printable import printable
from rushlight.sources import source_root

verbose = False
"""Print each command on stderr before it starts."""

INSTALL_HINTS = {
    "apt-get": "rushlight installs toolchains on Debian and its relatives only",
    "ccache": "apt-get install ccache",
    "cmake": "pip install 'rushlight[build]'",
    "g++": "apt-get install g++",
    "ninja": "pip install 'rushlight[build]'",
}
"""How to install programs. toolchains/targets.json has the packages of targets."""

_GRACE_SECONDS = 2.0


@dataclass(frozen=True)
class Result:
    """The result of a command. A negative `returncode` is the number of the signal that killed it."""

    returncode: int
    stdout: str
    stderr: str
    command: tuple[str, ...]
    seconds: float


def search_path() -> str:
    """PATH, with the scripts folder of this Python's environment in front, even if it is not activated."""
    scripts = sysconfig.get_path("scripts")
    path = os.environ.get("PATH", os.defpath)
    return path if scripts in path.split(os.pathsep) else scripts + os.pathsep + path


def find_program(name: str) -> str | None:
    """The path of the program that run() starts for a name, or None."""
    return shutil.which(name, path=search_path())


def command_line(command: Sequence[str | os.PathLike[str]], cwd: str | os.PathLike[str] | None = None) -> str:
    """The command as a line for a shell, with "cd FOLDER &&" in front if `cwd` is given."""
    line = shlex.join(os.fspath(word) for word in command)
    return f"cd {shlex.quote(os.fspath(cwd))} && {line}" if cwd is not None else line


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    capture: bool = True,
    input: str | None = None,
    check: bool = False,
    on_line: Callable[[str], None] | None = None,
) -> Result:
    """Runs a command and waits for its end.

    `env` adds to this process's environment. Without `capture` the command writes to our own stdout and
    stderr. `on_line` gets each line of its stdout and stderr, merged, as it arrives. Text is UTF-8; invalid
    bytes are replaced.

    Errors: MissingExecutable; InvalidArgument if `cwd` is missing; RunTimeout after `timeout` seconds, when
    the whole process group is killed; CommandFailed with `check` if the exit status is not 0.
    """
    words = tuple(os.fspath(word) for word in command)
    if verbose:
        print("+ " + printable(command_line(words, cwd)), file=sys.stderr, flush=True)
    start = time.monotonic()
    process = _start(words, cwd, env, capture or on_line is not None, input is not None, on_line is not None)
    with _group_killed_on_exception(process):
        if on_line is None:
            stdout, stderr = _communicate(process, words, timeout, input)
        else:
            stdout, stderr = _stream(process, words, timeout, input, on_line), ""
    result = Result(process.returncode, stdout, stderr, words, time.monotonic() - start)
    if check and result.returncode != 0:
        raise CommandFailed(words, result.returncode, result.stdout + result.stderr)
    return result


def _start(
    words: tuple[str, ...],
    cwd: str | os.PathLike[str] | None,
    env: Mapping[str, str] | None,
    capture: bool,
    feed: bool,
    merge: bool,
) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE if capture else None
    try:
        return subprocess.Popen(
            words,
            cwd=cwd,
            env={**os.environ, "PATH": search_path(), **(env or {})},
            stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
            stdout=pipe,
            stderr=subprocess.STDOUT if merge else pipe,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        if cwd is not None and not Path(cwd).is_dir():
            raise InvalidArgument(
                f"{words[0]}: expected a folder to run in, got {os.fspath(cwd)}, which is missing"
            ) from error
        raise MissingExecutable(words[0], _install_hint(Path(words[0]).name)) from error


def _install_hint(program: str) -> str:
    """How to install a program; empty if unknown."""
    if program in INSTALL_HINTS:
        return INSTALL_HINTS[program]
    with contextlib.suppress(RushlightError):
        packages = read_json(source_root() / "toolchains" / "targets.json").get("packages", {})
        if program in packages:
            return f"apt-get install {packages[program]}"
    return ""


def _communicate(
    process: subprocess.Popen[str], words: tuple[str, ...], timeout: float | None, text: str | None
) -> tuple[str, str]:
    try:
        stdout, stderr = process.communicate(text, timeout)
    except subprocess.TimeoutExpired:
        _kill_group(process)
        stdout, stderr = _drain(process)
        raise RunTimeout(words, timeout or 0.0, stdout + stderr) from None
    return stdout or "", stderr or ""


def _drain(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The output of a killed process. Gives up after a moment if a stray process holds the pipe open."""
    try:
        stdout, stderr = process.communicate(timeout=_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return "", ""
    return stdout or "", stderr or ""


def _stream(
    process: subprocess.Popen[str],
    words: tuple[str, ...],
    timeout: float | None,
    text: str | None,
    on_line: Callable[[str], None],
) -> str:
    """Reads the output line by line, while threads feed stdin and watch the timeout. Returns all of it."""
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        _kill_group(process)

    timer = threading.Timer(timeout, expire) if timeout is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    if text is not None and process.stdin is not None:
        threading.Thread(target=_feed, args=(process.stdin, text), daemon=True).start()
    lines: list[str] = []
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.append(line)
            on_line(line.rstrip("\r\n"))
        process.wait()
    finally:
        if timer is not None:
            timer.cancel()
    process.stdout.close()
    if expired.is_set():
        raise RunTimeout(words, timeout or 0.0, "".join(lines))
    return "".join(lines)


def _feed(stdin: IO[str], text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        stdin.write(text)
        stdin.close()


@contextlib.contextmanager
def _group_killed_on_exception(process: subprocess.Popen[str]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        _kill_group(process)
        process.wait()
        raise


def _kill_group(process: subprocess.Popen[str]) -> None:
    """Kills the process and its children: they share its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
