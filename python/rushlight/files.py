# SPDX-License-Identifier: BSD-3-Clause
"""Writes files atomically, and locks folders for one process at a time."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from rushlight.errors import FileFailed
from rushlight.printable import one_line

try:
    import fcntl
except ImportError:  # missing on Windows, where processes do not wait for each other
    fcntl = None  # type: ignore[assignment]

PathLike = str | os.PathLike[str]

_UNFINISHED = ".part"
_LOCK = ".rushlight-lock"


def write_text(path: PathLike, text: str) -> None:
    """Writes a text file (UTF-8). Error: FileFailed; an earlier file is then unchanged."""
    with writing(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def write_bytes(path: PathLike, content: bytes | memoryview) -> None:
    """Writes a file. Error: FileFailed; an earlier file is then unchanged."""
    with writing(path) as file:
        file.write(content)


def write_if_changed(path: PathLike, text: str) -> None:
    """Writes a text file (UTF-8) and makes the folders above it. A file with the same content keeps its time
    stamp. Error: FileFailed; an earlier file is then unchanged."""
    path, content = Path(path), text.encode()
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, content)


@contextlib.contextmanager
def writing(path: PathLike) -> Iterator[IO[bytes]]:
    """Opens a file for writing. It gets its name at the end, in one step: after a failure, an earlier file is
    unchanged. Removes unfinished files of killed processes. Pipes and devices are written directly.

    Error: FileFailed, also for an OSError in the caller's block.
    """
    path = Path(os.path.realpath(path))
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        _remove_unfinished(path)
        with _unfinished(path) as file:
            yield file
    except OSError as error:
        raise FileFailed.of(error, path) from error


@contextlib.contextmanager
def _unfinished(path: Path) -> Iterator[IO[bytes]]:
    """A file beside `path`, locked while it is written, and renamed to `path` at the end."""
    name = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident():x}{_UNFINISHED}")
    try:
        with name.open("wb") as file:
            _try_lock(file.fileno())
            if path.is_file():
                os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
            yield file
        name.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            name.unlink()
        raise


def _remove_unfinished(path: Path) -> None:
    """Removes unfinished files for `path` that no process writes any more: their lock is free."""
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name.startswith(f"{path.name}.") and entry.name.endswith(_UNFINISHED):
                with contextlib.suppress(OSError), Path(entry).open("rb") as file:
                    if fcntl is not None and _try_lock(file.fileno()):
                        Path(entry).unlink()


def _try_lock(descriptor: int) -> bool:
    """True if the lock was taken; False if another process has it, or the file system has no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


_held = threading.local()


@contextlib.contextmanager
def locked(folder: PathLike, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Makes a folder and locks it. Another process or thread waits for the lock and calls `tell` with a line
    about it (default: print it on stderr). The same thread can take the lock again. On file systems without
    locks nobody waits.

    Error: FileFailed if the folder cannot be made or written.
    """
    path = os.path.realpath(folder)
    held: set[str] = getattr(_held, "folders", set())
    _held.folders = held
    if path in held:
        yield
        return
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        descriptor = os.open(Path(path) / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise FileFailed.of(error, path) from error
    try:
        _wait_for_lock(descriptor, path, tell or _say)
        held.add(path)
        yield
    finally:
        held.discard(path)
        os.close(descriptor)


def _wait_for_lock(descriptor: int, path: str, tell: Callable[[str], None]) -> None:
    if fcntl is None:
        return
    with contextlib.suppress(OSError):  # file systems without locks
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            by = f"process {owner}" if owner.isdigit() and int(owner) != os.getpid() else "another thread"
            tell(f"waiting for {by}, which is using {one_line(path)}")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
