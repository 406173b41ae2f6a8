# SPDX-License-Identifier: BSD-3-Clause
"""Stores results on disk as they arrive, with keys that tell when they can be reused."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path

from rushlight import __version__
from rushlight.documents import parse_json
from rushlight.errors import InvalidArgument, RushlightError
from rushlight.matrix.cell import Conditions, case_of
from rushlight.matrix.plan import Cell
from rushlight.matrix.result import GOOD, CellResult
from rushlight.sources import source_root

_COMPILED = ("CMakeLists.txt", "cmake", "kernels", "runtime", "toolchains")


@cache
def source_fingerprint() -> str:
    """16 hexadecimal digits for all sources and settings of a build."""
    digest = hashlib.sha256()
    root = source_root()
    for name in _COMPILED:
        top = root / name
        for path in [top] if top.is_file() else sorted(p for p in top.rglob("*") if p.is_file()):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def key_of(cell: Cell, conditions: Conditions) -> str:
    """16 hexadecimal digits for the inputs of a cell: rushlight, files, target, option. Versions of compilers
    and emulators are not included. Error: InvalidArgument for a missing file."""
    option = cell.option
    decides = [__version__, source_fingerprint(), cell.target, option.kind, option.dtypes]
    decides += [f"{name}={value}" for name, value in option.defines]
    decides += [f"cold={conditions.cold}", f"tolerance={cell.model.tolerance}", f"integers={option.integers}"]
    digest = hashlib.sha256("\0".join(decides).encode())
    for path in files_of(cell):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def files_of(cell: Cell) -> list[Path]:
    """All files needed to build and run the cell. The files of an unreadable case are left out: the cell will
    report the error."""
    try:
        data = list(case_of(cell.model).data_files)
    except RushlightError:
        data = list(cell.model.data)
    files = [*cell.model.files(), *data]
    for path in files:
        if not path.is_file():
            raise InvalidArgument(f"matrix: cell {cell.name}: {path}: no such file")
    return list(dict.fromkeys(files))


class Store:
    """The results of a matrix in a file of JSON lines, each written as soon as it is known."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "results.jsonl"
        folder.mkdir(parents=True, exist_ok=True)

    def clear(self) -> None:
        self._path.unlink(missing_ok=True)

    def add(self, result: CellResult) -> None:
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(result.to_json()) + "\n")
            stream.flush()
            os.fsync(stream.fileno())

    def passed(self) -> dict[str, CellResult]:
        """The passed results by key; truncated lines and lines of other versions are left out."""
        found: dict[str, CellResult] = {}
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.is_file() else []
        for line in lines:
            try:
                result = CellResult.from_json(parse_json(line, what="result"))
            except (RushlightError, ValueError, TypeError, KeyError, AttributeError):
                continue
            if result.status in GOOD:
                found[result.key] = result
        return found
