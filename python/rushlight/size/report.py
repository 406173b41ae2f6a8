# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a program's flash and RAM. docs/size.md documents the JSON."""

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

FORMAT, VERSION = "rushlight-size", 2
_READ = (1, 2)
"""Supported versions; an entry of version 1 has `room` in place of `component`."""

# Code that applications replace or leave out.
_AROUND = ("runtime/runner", "runtime/platform")
# Code that verifies a program and its calls at load time; layout.cpp also counts at that time.
_VERIFICATION = (
    "runtime/program/flatbuffer.cpp",
    "runtime/program/schema.cpp",
    "runtime/program/layout.cpp",
    "runtime/executor/arguments.cpp",
)


@dataclass(frozen=True)
class SizeReport:
    """Sizes in bytes. `flash` is code, constants and initial values without the linked-in model, `ram` static
    data without arenas and stack, `model` the linked-in program and data files, `weights` the constant
    tensors in the model files. `sections` are (name, bytes, kind of memory). `entries` add up to `flash`
    and `ram`.

    `stack` is None if it cannot be computed, `stack_peak` if nothing ran. `forbidden` are symbols of the
    heap, of exceptions and of the C++ library. `unknown` lists the facts that could not be determined.
    """

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
        """The maximum over the methods of arena, planned memory and scratch together."""
        return max((method.total for method in self.methods), default=0)

    @property
    def stack_bytes(self) -> int | None:
        """The computed worst case if known, else the measured peak."""
        return self.stack.worst_case if self.stack else self.stack_peak

    @property
    def components(self) -> dict[str, dict[str, int]]:
        """Bytes by component."""
        return summed(self.entries, lambda entry: entry.component)

    @property
    def runtime(self) -> dict[str, int]:
        """Flash of the runtime from base to executor, and the part of it that verifies programs."""
        rows = [e for e in self.entries if e.component.startswith("runtime/") and e.component not in _AROUND]
        verification = sum(e.flash for e in rows if e.file in _VERIFICATION)
        return {"flash": sum(e.flash for e in rows), "verification": verification}

    @property
    def operators(self) -> dict[str, dict[str, int]]:
        """The bytes of each operator's own source. Shared code counts only as a component."""
        return summed(self.entries, lambda entry: entry.operator)

    @property
    def dtypes(self) -> dict[str, dict[str, int]]:
        """The bytes of kernel instantiations by dtype, without code shared by all dtypes."""
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
            "components": self.components,
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
    """The report with the results of a run; `temporary_peaks` are by method."""
    methods = tuple(
        replace(method, temporary_peak=temporary_peaks.get(method.method, method.temporary_peak))
        for method in report.methods
    )
    return replace(report, methods=methods, stack_peak=stack_peak)


def read_report(path: Path) -> SizeReport:
    """Reads a report written with `--json`. Error: InvalidArgument for any other file."""
    content = read_json(path, what="size report")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidArgument(
            f"size report {path}: expected the output of `rushlight size --json`, got other JSON"
        )
    if content.get("version") not in _READ:
        raise InvalidArgument(
            f"size report {path}: expected version {VERSION}, got {content.get('version')}",
            next_step="Write the report again with this version of rushlight.",
        )
    try:
        return _from_json(content)
    except (KeyError, TypeError) as error:
        raise InvalidArgument(
            f"size report {path}: expected all fields of a report, got a damaged one: {error!r}"
        ) from error


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
        entries=tuple(_entry(row) for row in content["entries"]),
        methods=tuple(replace(method, planned=tuple(method.planned)) for method in methods),
        stack=stack,
        forbidden=tuple(content["forbidden"]),
        unknown=tuple(content["unknown"]),
    )


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(**{"component" if name == "room" else name: value for name, value in row.items()})


def _known(kind: Any, row: dict[str, Any]) -> dict[str, Any]:
    """The constructor fields of a dataclass; the JSON also contains its computed properties."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in row.items() if name in names}
