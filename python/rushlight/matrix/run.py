# SPDX-License-Identifier: BSD-3-Clause
"""Runs a whole matrix: reuses results of an earlier run, builds and runs the rest."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rushlight import __version__
from rushlight.matrix.cell import Conditions
from rushlight.matrix.local import Event, Finished, processors, run_local
from rushlight.matrix.plan import Cell
from rushlight.matrix.result import BUILT, FAILED, GOOD, NOT_RUN, PASSED, CellResult
from rushlight.matrix.store import Store, key_of, source_fingerprint

SCHEMA = 1
"""The version of MatrixResult.to_json; docs/matrix.md documents it."""

Executor = Callable[[Sequence[Cell], Path, Conditions], Iterator[Event]]
"""Runs cells below a folder and yields events; the last event of each cell is Finished."""


@dataclass(frozen=True)
class MatrixResult:
    """The results in cell order. `where` is "local" or the cluster's address."""

    cells: list[CellResult]
    seconds: float
    where: str = "local"
    started: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="seconds"))

    @property
    def passed(self) -> bool:
        """True if every cell passed, or was built for a target that cannot be run here."""
        return all(cell.status in GOOD for cell in self.cells)

    def count(self, status: str) -> int:
        return sum(cell.status == status for cell in self.cells)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "rushlight": __version__,
            "sources": source_fingerprint(),
            "where": self.where,
            "machine": {
                "system": platform.platform(),
                "cpus": os.cpu_count(),
                "python": platform.python_version(),
            },
            "started": self.started,
            "seconds": round(self.seconds, 1),
            "passed": self.count(PASSED),
            "built": self.count(BUILT),
            "failed": self.count(FAILED),
            "not_run": self.count(NOT_RUN),
            "cells": [cell.to_json() for cell in self.cells],
        }


def local(jobs: int | None = None) -> Executor:
    """Runs cells on this machine, `jobs` at a time (default: the number of CPUs)."""
    return lambda cells, folder, conditions: run_local(cells, folder, conditions, jobs or processors())


def cluster(address: str) -> Executor:
    """Runs cells on the Dask cluster whose scheduler is at `address`."""
    # Imported here because its package is an extra.
    from rushlight.matrix.cluster import run_on_cluster

    return lambda cells, folder, conditions: run_on_cluster(address, cells, folder, conditions)


def run_matrix(
    cells: Sequence[Cell],
    folder: Path,
    conditions: Conditions | None = None,
    *,
    executor: Executor | None = None,
    where: str = "local",
    resume: bool = False,
    on_event: Callable[[Event], None] | None = None,
) -> MatrixResult:
    """Builds and runs `cells` below `folder`. A failed cell does not stop the others. With `resume`, cells
    that passed there before with the same sources, files and options are not run again.

    Ctrl-C stops running cells; cells without a result are then NOT_RUN. Errors: InvalidArgument for a
    missing file; the errors of the executor.
    """
    start = time.monotonic()
    conditions = conditions or Conditions()
    keys = {cell.name: key_of(cell, conditions) for cell in cells}
    store = Store(folder)
    earlier = store.passed() if resume else {}
    if not resume:
        store.clear()
    # By name and key: cells may differ only in their names.
    results = {
        cell.name: replace(earlier[key], model=cell.model.name, option=cell.option.name)
        for cell in cells
        if (key := keys[cell.name]) in earlier
    }
    left = [cell for cell in cells if cell.name not in results]
    events = (executor or local())(left, folder / "cells", conditions)
    try:
        for event in events:
            if isinstance(event, Finished):
                result = replace(event.result, key=keys[event.cell.name])
                store.add(result)
                results[event.cell.name] = result
            if on_event:
                on_event(event)
    except KeyboardInterrupt:
        pass
    finally:
        close = getattr(events, "close", None)
        if close:
            close()
    listed = [results.get(cell.name) or _not_run(cell) for cell in cells]
    return MatrixResult(listed, time.monotonic() - start, where)


def _not_run(cell: Cell) -> CellResult:
    option = cell.option
    return CellResult(cell.model.name, cell.target, option.name, option.kind, NOT_RUN)
