# SPDX-License-Identifier: BSD-3-Clause
"""Functions called in a separate process, so that a crash or a hang ends nothing else."""

from __future__ import annotations

import atexit
import contextlib
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any


class Crashed(Exception):
    """The process ended during a call."""


class Hung(Exception):
    """The function took longer than its time limit."""


class Raised(Exception):
    """The function raised an exception: `kind` is its class, `text` its message, `trace` its traceback."""

    def __init__(self, kind: str, text: str, trace: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind, self.text, self.trace = kind, text, trace


class Isolated:
    """Calls one function in a process, which starts on first use and again after it ended.

    Args:
        function: importable, of arguments and results that can be pickled.
        prepare: called once in each process before.
    """

    def __init__(self, function: Callable[..., Any], prepare: Callable[[], None] | None = None) -> None:
        self._function, self._prepare = function, prepare
        self._process: BaseProcess | None = None
        atexit.register(self.close)  # before multiprocessing waits for its processes
        self._connection: Connection | None = None

    def call(self, *arguments: Any, seconds: float = 120.0) -> Any:
        """Returns the function's result. Errors: Crashed, Hung, Raised."""
        connection = self._started()
        try:
            connection.send(arguments)
            if not connection.poll(seconds):
                self.close(kill=True)
                raise Hung(f"longer than {seconds:g} s")
            is_result, value = connection.recv()
        except (EOFError, ConnectionError):
            code = self.close()
            raise Crashed(_ending(code)) from None
        if not is_result:
            raise Raised(*value)
        return value

    def close(self, *, kill: bool = False) -> int | None:
        """Ends the process by closing its connection, or with a signal if `kill`; returns its exit code."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if process is None or connection is None:
            return None
        connection.close()
        if kill:
            process.kill()
        process.join(10)
        if process.exitcode is None:
            process.kill()
            process.join(10)
        return process.exitcode

    def _started(self) -> Connection:
        if self._process is None or self._connection is None:
            context = get_context("spawn")
            self._connection, theirs = context.Pipe()
            arguments = (theirs, self._function, self._prepare, list(sys.path))
            self._process = context.Process(target=_serve, args=arguments)
            self._process.start()
            theirs.close()
        return self._connection

    def __enter__(self) -> Isolated:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def call_each(
    function: Callable[[Any], Any],
    items: Sequence[Any],
    jobs: int,
    *,
    seconds: float = 120.0,
    prepare: Callable[[], None] | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yields (index, result) of `function` for each item as it completes, in `jobs` processes. A result may
    be one of this module's exceptions."""
    work: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
    for entry in [*range(len(items)), *[None] * jobs]:
        work.put(entry)

    def drain() -> None:
        with Isolated(function, prepare) as process:
            while (position := work.get()) is not None:
                try:
                    done.put((position, process.call(items[position], seconds=seconds)))
                except (Crashed, Hung, Raised) as error:
                    done.put((position, error))

    threads = [threading.Thread(target=drain, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for _ in items:
        yield done.get()
    for thread in threads:
        thread.join()


def _serve(
    connection: Connection, function: Callable[..., Any], prepare: Callable[[], None] | None, path: list[str]
) -> None:
    sys.path[:] = path
    if prepare is not None:
        prepare()
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            arguments = connection.recv()
            try:
                answer = (True, function(*arguments))
            except Exception as error:
                answer = (False, (type(error).__name__, str(error), traceback.format_exc()))
            connection.send(answer)


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
