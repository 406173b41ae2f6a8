# SPDX-License-Identifier: BSD-3-Clause
"""Runs cells on this machine, each in a separate process: a crash affects no other cell."""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import NoReturn

from rushlight import process
from rushlight.matrix.cell import Conditions, run_cell
from rushlight.matrix.plan import Cell
from rushlight.matrix.result import FAILED, CellResult, Failure


@dataclass(frozen=True)
class Started:
    """A cell has begun."""

    cell: Cell


@dataclass(frozen=True)
class Progressed:
    """The current step of a cell, and the share of it that is done, from 0 to 1."""

    cell: Cell
    what: str
    share: float


@dataclass(frozen=True)
class Finished:
    """A cell has ended, with or without success."""

    cell: Cell
    result: CellResult


Event = Started | Progressed | Finished


def processors() -> int:
    """CPUs that this process may run on."""
    return len(os.sched_getaffinity(0))


def run_local(cells: Sequence[Cell], folder: Path, conditions: Conditions, jobs: int) -> Iterator[Event]:
    """Runs cells below `folder`, at most `jobs` at a time; the CPUs are divided among the running cells as
    compile jobs. Closing the iterator stops running cells."""
    context = multiprocessing.get_context("spawn")
    waiting = list(reversed(cells))
    running: dict[Connection, tuple[Cell, BaseProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                together = min(jobs, len(waiting) + len(running))
                cell = waiting.pop()
                ours, theirs = context.Pipe(duplex=False)
                shared = replace(conditions, compilers=max(1, processors() // together), alone=True)
                words = (cell, folder / cell.name, shared, theirs, process.verbose)
                child: BaseProcess = context.Process(target=_child, args=words, daemon=True)
                child.start()
                theirs.close()
                running[ours] = (cell, child)
                yield Started(cell)
            for connection in wait(list(running), timeout=1.0):
                assert isinstance(connection, Connection)
                cell, begun = running[connection]
                try:
                    said = connection.recv()
                except EOFError:
                    begun.join()
                    said = _died(cell, begun.exitcode)
                if isinstance(said, CellResult):
                    begun.join()
                    connection.close()
                    del running[connection]
                    yield Finished(cell, replace(said, machine=platform.node()))
                else:
                    yield Progressed(cell, *said)
    finally:
        _end([child for _, child in running.values()])


def _died(cell: Cell, status: int | None) -> CellResult:
    reason = f"signal {-status}" if status is not None and status < 0 else f"exit status {status}"
    failure = Failure("ProcessDied", f"the process of the cell ended without a result ({reason})")
    option = cell.option
    return CellResult(cell.model.name, cell.target, option.name, option.kind, FAILED, failure=failure)


def _end(children: Sequence[BaseProcess]) -> None:
    """SIGTERM lets a cell stop its compilers and emulators first."""
    for child in children:
        child.terminate()
    for child in children:
        child.join(timeout=10.0)
        if child.is_alive():
            child.kill()


def _child(cell: Cell, folder: Path, conditions: Conditions, parent: Connection, verbose: bool) -> None:
    signal.signal(signal.SIGTERM, _stop)
    process.verbose = verbose
    try:
        result = run_cell(cell, folder, conditions, lambda what, share: parent.send((what, share)))
        parent.send(result)
    except (KeyboardInterrupt, BrokenPipeError):
        # The parent has stopped, or is about to report the reason.
        return


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
