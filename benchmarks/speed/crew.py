# SPDX-License-Identifier: BSD-3-Clause
"""Persistent worker processes, each in a separate environment, that answer requests over a socket."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Sequence
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from types import TracebackType
from typing import Any

from rushlight import process

WORKER = Path(__file__).with_name("worker.py")
START_SECONDS = 120.0
ANSWER_SECONDS = 900.0


class Failed(Exception):
    """A request that a worker could not fulfil, with the message of the package that refused it."""


class WorkerProcess:
    """A worker that the interpreter `python` runs, pinned to `cpus` if any are given.

    Requests are method calls: `ask("load", ...)`. After a crash the next request starts a new process.
    """

    def __init__(self, python: str, cpus: Sequence[int] = (), env: dict[str, str] | None = None) -> None:
        self._python, self._cpus, self._env = python, cpus, env or {}
        self._connection: Connection | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._result: list[process.Result] = []

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def ask(self, request: str, *arguments: Any) -> Any:
        """Returns the answer. Error: Failed, also if the process ended or times out."""
        connection = self._connection or self._start()
        try:
            connection.send((request, *arguments))
            if not connection.poll(ANSWER_SECONDS):
                raise EOFError
            kind, answer = connection.recv()
        except (EOFError, OSError) as error:
            raise Failed(f"{request}: the worker ended: {self._last_words()}") from error
        if kind == "failed":
            raise Failed(answer)
        return answer

    def stop(self) -> None:
        """Ends the process, if it runs."""
        if self._connection is not None:
            with contextlib.suppress(OSError):  # it may have ended already
                self._connection.send(None)
            self._connection.close()
            self._thread.join(10.0)
            self._connection = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _start(self) -> Connection:
        self._folder = tempfile.TemporaryDirectory(prefix="speed-")
        address = str(Path(self._folder.name) / "socket")
        command = [self._python, str(WORKER), address, *map(str, self._cpus)]
        self._result = []
        with Listener(address, "AF_UNIX") as listener:
            self._thread = threading.Thread(target=self._run, args=(command, address), daemon=True)
            self._thread.start()
            connection = listener.accept()  # the thread connects too, if the process ends early
        self._connection = connection
        return connection

    def _run(self, command: list[str], address: str) -> None:
        self._result.append(process.run(command, env=self._env))
        with contextlib.suppress(OSError):  # nobody waits for a worker that was ready
            Client(address).close()

    def _last_words(self) -> str:
        self._thread.join(2.0)
        self._connection = None
        if not self._result:
            return "no answer"
        lines = self._result[0].stderr.strip().splitlines()
        return f"exit status {self._result[0].returncode}{': ' + lines[-1] if lines else ''}"
