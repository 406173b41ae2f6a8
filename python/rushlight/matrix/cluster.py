# SPDX-License-Identifier: BSD-3-Clause
"""Runs cells on a Dask cluster: files are sent to the workers as bytes, results return as JSON types."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from rushlight import __version__
from rushlight.errors import ClusterNotUsable, MissingDependency, RushlightError
from rushlight.matrix.cell import Conditions, run_cell
from rushlight.matrix.local import Event, Finished, Started, processors
from rushlight.matrix.plan import Cell, Model
from rushlight.matrix.result import FAILED, CellResult, Failure
from rushlight.matrix.shared_cache import settings_to_pass_on
from rushlight.matrix.store import files_of, source_fingerprint

CONNECT_SECONDS = 20.0


def run_on_cluster(
    address: str, cells: Sequence[Cell], folder: Path, conditions: Conditions
) -> Iterator[Event]:
    """Runs cells on the workers of the scheduler at `address` ("tcp://host:8786"), one at a time per worker
    thread. `folder` stays empty: builds stay on the workers.

    Errors: MissingDependency; ClusterNotUsable for a scheduler that does not answer or has no workers, and
    for workers with another version of rushlight.
    """
    client = _connected(address)
    try:
        _check_workers(client)
        environment = {**settings_to_pass_on(), **conditions.environment}
        passed_on = replace(conditions, environment=environment, alone=False, keep_builds=False)
        yield from _events(client, cells, passed_on)
    finally:
        client.close()


def _connected(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependency("distributed", "cluster") from error
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterNotUsable(
            f"cluster: expected a scheduler at {address}, got {error}",
            next_step="Start one with `dask scheduler`, and pass the address that it prints.",
        ) from error


def worker_facts() -> dict[str, str]:
    """The versions that must be equal on all machines; runs on the workers."""
    return {"rushlight": __version__, "sources": source_fingerprint()}


def _check_workers(client: Any) -> None:
    def facts() -> dict[str, str]:
        # Sent by value, so that a worker without these modules can report that.
        try:
            from rushlight.matrix import cluster
        except ImportError as error:
            return {"error": f"no rushlight with `matrix` ({error})"}
        return cluster.worker_facts()

    here = worker_facts()
    there: Mapping[str, Any] = client.run(facts)
    if not there:
        raise ClusterNotUsable(
            "cluster: expected workers, got none", next_step="Start workers with `dask worker ADDRESS`."
        )
    others = {address: told for address, told in there.items() if told != here}
    if others:
        lines = [
            f"cluster: expected workers with this rushlight ({_told(here)}), got:",
            *(f"  {address}: {_told(told)}" for address, told in sorted(others.items())[:8]),
        ]
        raise ClusterNotUsable(
            "\n".join(lines), next_step="Install the same version of rushlight on all workers."
        )


def _told(facts: Mapping[str, str]) -> str:
    return facts.get("error") or f"version {facts['rushlight']}, sources {facts['sources']}"


def _events(client: Any, cells: Sequence[Cell], conditions: Conditions) -> Iterator[Event]:
    from distributed import as_completed

    # Each file is sent once, even if several cells use it.
    contents: dict[Path, Any] = {}
    futures = {}
    for cell in cells:
        for path in files_of(cell):
            if path not in contents:
                contents[path] = client.scatter(path.read_bytes(), hash=True)
        files = {path: contents[path] for path in files_of(cell)}
        names = _shipped_names(list(files))
        future = client.submit(
            run_shipped,
            replace(cell, model=_renamed(cell.model, names)),
            [names[path] for path in files],
            list(files.values()),
            conditions,
            pure=False,
            retries=1,
        )
        futures[future] = cell
        yield Started(cell)
    ended: Any = as_completed(list(futures), loop=client.loop)
    try:
        for future in ended:
            yield Finished(futures[future], _result(future, futures[future]))
    finally:
        client.cancel(list(futures))


def _result(future: Any, cell: Cell) -> CellResult:
    if future.status == "finished":
        return CellResult.from_json(future.result())
    error = future.exception()
    failure = Failure("WorkerLost", f"the cluster gave the cell up: {type(error).__name__}: {error}")
    option = cell.option
    return CellResult(cell.model.name, cell.target, option.name, option.kind, FAILED, failure=failure)


def _shipped_names(paths: Sequence[Path]) -> dict[Path, PurePosixPath]:
    """The path of each file on the worker: files of one folder stay together, under the same names."""
    folders = {parent: str(index) for index, parent in enumerate(dict.fromkeys(p.parent for p in paths))}
    return {path: PurePosixPath(folders[path.parent]) / path.name for path in paths}


def _renamed(model: Model, names: Mapping[Path, PurePosixPath]) -> Model:
    return replace(
        model,
        program=Path(names[model.program]),
        case=Path(names[model.case]) if model.case else None,
        data=tuple(Path(names[path]) for path in model.data),
    )


def run_shipped(
    cell: Cell, names: Sequence[PurePosixPath], contents: Sequence[bytes], conditions: Conditions
) -> dict[str, Any]:
    """Runs a cell on a worker, in a temporary folder; its paths are relative to the folder of its files."""
    with tempfile.TemporaryDirectory(prefix="rushlight-matrix-") as temporary:
        there = Path(temporary) / "files"
        for name, content in zip(names, contents, strict=True):
            path = there / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        model = replace(
            cell.model,
            program=there / cell.model.program,
            case=there / cell.model.case if cell.model.case else None,
            data=tuple(there / path for path in cell.model.data),
        )
        shared = replace(conditions, compilers=_compilers())
        result = run_cell(replace(cell, model=model), Path(temporary) / "build", shared)
    return replace(result, machine=f"{platform.node()}:{os.getpid()}").to_json()


def _compilers() -> int:
    """The worker machine's CPUs divided by the worker's threads."""
    from distributed import get_worker

    try:
        threads = get_worker().state.nthreads
    except ValueError as error:  # not called by a worker
        raise RushlightError(f"cluster: {error}") from error
    return max(1, processors() // threads)
