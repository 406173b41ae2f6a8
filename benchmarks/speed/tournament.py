# SPDX-License-Identifier: BSD-3-Clause
"""Runs contestants on subjects: starts the workers, prepares the files, times and loads."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

from contestants import CONTESTANTS, FOR_THREADS
from crew import Failed, WorkerProcess
from machine import cpus_for, machine
from measuring import Tell, compete, loading
from preparing import file_name, folder_for, prepare
from results import OURS, Load, Report, Row
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from subjects import MEMORY, kind_of

_LOADS = 3


@dataclass(frozen=True)
class Settings:
    """The options of run.py. `contestants` None selects all; `peers` is a Python interpreter."""

    threads: int
    rounds: int
    clock: str
    peers: str
    work: Path
    contestants: Sequence[str] | None
    commit: str


class Tournament:
    """A context manager that owns the worker processes of all contestants."""

    def __init__(self, settings: Settings, console: Console) -> None:
        self._settings, self._console = settings, console
        self._stack = ExitStack()
        self._cpus = cpus_for(settings.threads)

    def __enter__(self) -> Tournament:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def run(self, names: Sequence[str], loads: Sequence[str]) -> Report:
        """Times all subjects `names`, and loading the models `loads`."""
        workers, versions, absent = self._line_up()
        with tempfile.TemporaryDirectory() as folder:
            described = machine(Path(folder), self._cpus)
        settings, now = self._settings, datetime.now(timezone.utc)
        started = now.strftime("%Y-%m-%d %H:%M UTC")
        report = Report(
            described, versions, absent, settings.threads, settings.clock, settings.commit, started
        )
        own, peers = self._worker(OURS, pinned=False), self._worker("torch eager", pinned=False)
        home = folder_for(settings.work, peers.ask("packages"))
        with Progress(
            TextColumn("{task.completed:.0f}/{task.total:.0f} {task.description}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        ) as progress:
            task = progress.add_task("", total=len(names) + len(loads))
            for name in names:
                tell = _teller(progress, task, name)
                report.rows.append(self._subject(name, home / file_name(name), workers, own, peers, tell))
                self._console.print(_line(report.rows[-1], settings.clock), highlight=False, soft_wrap=True)
                progress.advance(task)
            own.stop()
            peers.stop()
            for name in loads:
                tell = _teller(progress, task, name)
                report.loads += self._loads(name, home / file_name(name), list(workers), tell)
                progress.advance(task)
        return report

    def _worker(self, contestant: str, pinned: bool = True) -> WorkerProcess:
        """A worker process in the environment of this contestant."""
        ours = not CONTESTANTS[contestant].peer or self._settings.peers == sys.executable
        threads = str(self._settings.threads)
        # The paths of our packages do not apply to another interpreter.
        env = {"OMP_NUM_THREADS": threads, **({} if ours else {"PYTHONPATH": ""})}
        python = sys.executable if ours else self._settings.peers
        cpus = self._cpus if pinned else []
        return self._stack.enter_context(WorkerProcess(python, cpus, env))

    def _line_up(self) -> tuple[dict[str, WorkerProcess], dict[str, str], dict[str, str]]:
        """The available contestants with their versions, and the reasons why others are missing."""
        workers, versions, absent = {}, {}, {}
        alone = FOR_THREADS if self._settings.threads == 1 else set()
        for name in self._settings.contestants or [each for each in CONTESTANTS if each not in alone]:
            worker = self._worker(name)
            try:
                versions[name] = worker.ask("version", name)
                workers[name] = worker
            except Failed as error:
                absent[name] = str(error)
                worker.stop()
        return workers, versions, absent

    def _subject(
        self,
        name: str,
        folder: Path,
        workers: dict[str, WorkerProcess],
        own: WorkerProcess,
        peers: WorkerProcess,
        tell: Tell,
    ) -> Row:
        names = [each for each in workers if each != "copy" or name in MEMORY]
        kind = kind_of(name)
        tell("preparing its files")
        try:
            missing = prepare(name, folder, names, own, peers)
        except Failed as error:
            return Row(name, kind, 0.0, 0, {}, {each: str(error) for each in names})
        ready = {each: workers[each] for each in names if each not in missing}
        settings = self._settings
        spins = settings.threads > 1 and settings.clock == "wall"
        timings, failures = compete(ready, folder, settings.threads, settings.rounds, spins, tell)
        facts = json.loads((folder / "subject.json").read_text())
        return Row(name, kind, facts["flops"], facts["bytes"], timings, {**missing, **failures})

    def _loads(self, name: str, folder: Path, contestants: list[str], tell: Tell) -> list[Load]:
        """Times loading, each contestant in separate processes, in alternation."""
        with self._worker(OURS, pinned=False) as own, self._worker("torch eager", pinned=False) as peers:
            missing = prepare(name, folder, [each for each in contestants if each != "copy"], own, peers)
        names = [each for each in contestants if each not in ("copy", "torch eager", *missing)]
        taken: dict[str, list[dict[str, Any]]] = {each: [] for each in names}
        for number in range(_LOADS + 1):  # the first one reads files from the disk and does not count
            for each in names:
                tell(f"{each}: load {number} of {_LOADS}")
                with self._worker(each) as worker, suppress(Failed):  # the table of times has the reason
                    taken[each].append(loading(worker, each, folder, self._settings.threads))
        return [Load(name, each, **_medians(found[1:])) for each, found in taken.items() if found[1:]]


def _medians(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Medians of values, and of values in dicts."""
    first = found[0]
    return {
        key: _medians([each[key] for each in found])
        if isinstance(value, dict)
        else statistics.median(each[key] for each in found)
        for key, value in first.items()
    }


def _teller(progress: Progress, task: Any, name: str) -> Tell:
    return lambda what: progress.update(task, description=f"{name}: {what}")


def _line(row: Row, clock: str) -> str:
    """The line printed for a finished subject."""
    shown = ", ".join(f"{name} {timing.of(clock) * 1e3:.3g}" for name, timing in row.timings.items())
    ratio = row.ratio(clock)
    return f"{row.name}: {'' if ratio is None else f'{ratio:.2f}×; '}{shown} ms"
