# SPDX-License-Identifier: BSD-3-Clause
"""Asynchronous executions: futures whose work runs on a program's threads."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Generator
from concurrent.futures import Future
from types import ModuleType
from typing import Any

from rushlight.errors import InvalidArgument

_in_flight: set[Execution] = set()
_modules: set[ModuleType] = set()


class Execution(Future[list[Any]]):
    """The outputs of Method.execute_async(), when they are there: a concurrent.futures.Future that asyncio
    can await. concurrent.futures.wait() and as_completed() take it too.

    cancel() keeps a waiting execution from starting, and stops a running one before its next instruction;
    inside of kernels that share their work among threads, within some 20 ms. The method stays usable.
    """

    def __init__(
        self,
        module: ModuleType,
        native_method: Any,
        perform: Callable[[Any, int], list[Any]],
        timeout: float | None,
    ) -> None:
        """`perform` takes the native execution and a code: it executes if that is 0, and raises the exception
        of an error that came before its turn otherwise."""
        super().__init__()
        if timeout is not None and not timeout > 0:
            raise InvalidArgument(f"timeout: expected more than 0 seconds, got {timeout}")
        self._perform: Callable[[Any, int], list[Any]] | None = perform
        self._native: Any = None
        _in_flight.add(self)
        _modules.add(module)
        try:
            self._native = native_method.submit(self._turn, timeout)
        except module.RuntimeFailure:
            _in_flight.discard(self)
            raise

    def cancel(self) -> bool:
        """Returns False if the execution has ended already."""
        if not super().cancel():
            return False
        if self._native is not None:
            self._native.cancel()
        return True

    def running(self) -> bool:
        """True from the execution's turn to its end."""
        return self._native is not None and self._native.has_begun() and not self.done()

    def __await__(self) -> Generator[Any, None, list[Any]]:
        import asyncio  # programs that use it have loaded it; others save the time

        return asyncio.wrap_future(self).__await__()

    def _turn(self, execution: Any, code: int) -> None:
        """Called once, on a thread of the pool. Until the end the future stays pending, and so can be
        cancelled."""
        perform, self._perform = self._perform, None  # nothing but outputs outlives the execution
        assert perform is not None
        results: list[Any] = []
        failure: BaseException | None = None
        try:
            results = perform(execution, code)
        except BaseException as error:
            failure = error
        _in_flight.discard(self)
        if not self.set_running_or_notify_cancel():
            return
        if failure is None:
            self.set_result(results)
        else:
            self.set_exception(failure)


def _end() -> None:
    """At exit: no thread of a pool may need the interpreter any more."""
    for module in _modules:
        # Again and again, because another thread may be about to submit or to enter an execution.
        while not module.drain_executions(0.005):
            for execution in list(_in_flight):
                execution.cancel()


atexit.register(_end)
# The threads of executions in flight stay with the parent.
os.register_at_fork(after_in_child=_in_flight.clear)
