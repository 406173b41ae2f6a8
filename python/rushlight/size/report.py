# SPDX-License-Identifier: BSD-3-Clause
"""All that is known of a program's flash and RAM, as data. docs/size.md has the JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from rushlight.documents import read_json
from rushlight.errors import InvalidArgument
from rushlight.size.arenas import MethodArenas
from rushlight.size.breakdown import Entry, summed
from rushlight.size.stack import StackBound, Step

FORMAT, VERSION = "rushlight-size", 1

# What an application brings of its own or leaves out.
_AROUND = ("runtime/runner", "runtime/platform")
# What proves a program and its calls sound when they are loaded; layout.cpp counts at the same time.
_VERIFICATION = (
    "runtime/program/flatbuffer.cpp",
    "runtime/program/schema.cpp",
    "runtime/program/layout.cpp",
    "runtime/executor/arguments.cpp",
)


@dataclass(frozen=True)
class SizeReport:
    """Bytes. `flash` is code, constants and initial values without the linked-in model, `ram` static data
    without arenas and stack, `model` the linked-in program and data files, `weights` the constant tensors in
    the model files. `sections` are (name, bytes, kind of memory). `entries` add up to `flash` and `ram`.

    `stack` is None where it cannot be computed, `stack_peak` where nothing was run. `forbidden` are symbols
    of the heap, of exceptions and of the C++ library. `unknown` says what of all this could not be told."""

    target: str
    models: tuple[str, ...]
    executable: str
    flash: int
    ram: int
    model: int
    weights: int
    sections: tuple[tuple[str, int, str], ...]
    entries: tuple[Entry, ...]
    methods: tuple[MethodArenas, ...] = ()
    stack: StackBound | None = None
    stack_peak: int | None = None
    forbidden: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def arena(self) -> int:
        """The most that one method takes: its arena, planned memory and scratch."""
        return max((method.total for method in self.methods), default=0)

    @property
    def stack_bytes(self) -> int | None:
        """The worst case where it is known, else what was measured."""
        return self.stack.worst_case if self.stack else self.stack_peak

    @property
    def rooms(self) -> dict[str, dict[str, int]]:
        return summed(self.entries, lambda entry: entry.room)

    @property
    def runtime(self) -> dict[str, int]:
        """Flash of the runtime's rooms from base to executor, and what of it is there to verify programs."""
        rows = [e for e in self.entries if e.room.startswith("runtime/") and e.room not in _AROUND]
        verification = sum(e.flash for e in rows if e.file in _VERIFICATION)
        return {"flash": sum(e.flash for e in rows), "verification": verification}

    @property
    def operators(self) -> dict[str, dict[str, int]]:
        """Of each operator its own source alone; what operators share is a room."""
        return summed(self.entries, lambda entry: entry.operator)

    @property
    def dtypes(self) -> dict[str, dict[str, int]]:
        """Of kernels' instantiations for dtypes, by dtype; code that serves all of them is not in it."""
        return summed(self.entries, lambda entry: entry.dtype)

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "target": self.target,
            "models": list(self.models),
            "executable": self.executable,
            "flash": self.flash,
            "ram": self.ram,
            "model": self.model,
            "weights": self.weights,
            "sections": [{"name": n, "bytes": size, "memory": kind} for n, size, kind in self.sections],
            "rooms": self.rooms,
            "runtime": self.runtime,
            "operators": self.operators,
            "dtypes": self.dtypes,
            "arena": self.arena,
            "methods": [method.to_json() for method in self.methods],
            "stack": self.stack.to_json() if self.stack else None,
            "stack_peak": self.stack_peak,
            "forbidden": list(self.forbidden),
            "unknown": list(self.unknown),
            "entries": [entry.to_json() for entry in self.entries],
        }


def measured(report: SizeReport, stack_peak: int | None, temporary_peaks: Mapping[str, int]) -> SizeReport:
    """The report with what a run found; peaks of temporary memory by method."""
    methods = tuple(
        replace(method, temporary_peak=temporary_peaks.get(method.method, method.temporary_peak))
        for method in report.methods
    )
    return replace(report, methods=methods, stack_peak=stack_peak)


def read_report(path: Path) -> SizeReport:
    """A report that `--json` wrote. Error: InvalidArgument for anything else."""
    content = read_json(path, what="size report")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidArgument(f"size report {path}: is not what `rushlight size --json` writes")
    if content.get("version") != VERSION:
        raise InvalidArgument(f"size report {path}: version {VERSION} expected, got {content.get('version')}")
    try:
        return _from_json(content)
    except (KeyError, TypeError) as error:
        raise InvalidArgument(f"size report {path}: is damaged: {error!r}") from error


def _from_json(content: dict[str, Any]) -> SizeReport:
    methods = [MethodArenas(**_known(MethodArenas, row)) for row in content["methods"]]
    stack = None
    if content["stack"] is not None:
        row = _known(StackBound, content["stack"])
        row["path"] = tuple(Step(**step) for step in row["path"])
        given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
        stack = StackBound(**given)
    plain = ("target", "executable", "flash", "ram", "model", "weights", "stack_peak")
    return SizeReport(
        **{name: content[name] for name in plain},
        models=tuple(content["models"]),
        sections=tuple((row["name"], row["bytes"], row["memory"]) for row in content["sections"]),
        entries=tuple(Entry(**row) for row in content["entries"]),
        methods=tuple(replace(method, planned=tuple(method.planned)) for method in methods),
        stack=stack,
        forbidden=tuple(content["forbidden"]),
        unknown=tuple(content["unknown"]),
    )


def _known(kind: Any, row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass; its computed properties are in the JSON too."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in row.items() if name in names}
