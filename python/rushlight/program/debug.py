# SPDX-License-Identifier: BSD-3-Clause
"""The debug record of a program: the origin of each instruction in the model, in a JSON file next to the
program.

It is joined with traces by instruction index, and with ExecuTorch's Inspector by debug handles:
`debug_handle_map` and `delegate_map` have the form of the ETRecord's maps of these names.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from rushlight.documents import read_json
from rushlight.errors import InvalidArgument, RushlightError
from rushlight.program.container import HEADER_MAGIC, HEADER_OFFSET
from rushlight.program.file_image import FileImage
from rushlight.program.model import Program

_FORMAT = "rushlight debug record"
_VERSION = 1

T = TypeVar("T")


@dataclass(frozen=True)
class Frame:
    """A line of Python source, with its text."""

    file: str
    line: int
    function: str = ""
    code: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f": {self.code}" if self.code else "")


@dataclass(frozen=True)
class Module:
    """A module during its call: its path in the model ("encoder.layers.0") and its class."""

    path: str
    type: str = ""

    def __str__(self) -> str:
        return f"{self.path} ({self.type})".strip() if self.type else self.path


@dataclass(frozen=True)
class InstructionOrigin:
    """The origin of an instruction.

    `index` is the position in its chain, as in traces. `operator` is the full name of a kernel call's
    operator, a delegate's id, or empty. `handles` are debug handles, several for fused nodes. `node` is
    the name of the graph's node. `frames` and `modules` are outermost first; the last frame is the model's
    own line. `delegate_handles` are the debug handles inside a delegate, by the ids of its events.
    """

    index: int
    operator: str = ""
    handles: tuple[int, ...] = ()
    node: str = ""
    frames: tuple[Frame, ...] = ()
    modules: tuple[Module, ...] = ()
    chain: int = 0
    delegate_handles: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def line(self) -> Frame | None:
        """The model's line; None if unknown."""
        return self.frames[-1] if self.frames else None

    @property
    def module(self) -> Module | None:
        """The innermost module; None if unknown."""
        return self.modules[-1] if self.modules else None

    def __str__(self) -> str:
        inside = f", in {self.module}" if self.module and self.module.path else ""
        return f"{self.line}{inside}" if self.line else f"node {self.node or 'unknown'}{inside}"


@dataclass(frozen=True)
class MethodOrigins:
    """The origins of a method's instructions; instructions with unknown origin may be missing."""

    name: str
    instructions: tuple[InstructionOrigin, ...]

    @cached_property
    def _by_position(self) -> dict[tuple[int, int], InstructionOrigin]:
        return {(origin.chain, origin.index): origin for origin in self.instructions}

    def at(self, index: int, chain: int = 0) -> InstructionOrigin | None:
        """The origin of an instruction; None if unknown."""
        return self._by_position.get((chain, index))


@dataclass(frozen=True)
class DebugRecord:
    """The debug record of a program; `program` is the program's fingerprint."""

    program: str
    methods: tuple[MethodOrigins, ...]

    def method(self, name: str) -> MethodOrigins:
        """The origins of a method; empty if the record lacks the method."""
        return next((m for m in self.methods if m.name == name), MethodOrigins(name, ()))

    def debug_handle_map(self) -> dict[str, dict[int, int | list[int]]]:
        """Debug handles by method and instruction."""
        return {
            method.name: {o.index: _handles(o.handles) for o in method.instructions if o.handles}
            for method in self.methods
        }

    def delegate_map(self) -> dict[str, dict[int, dict[str, Any]]]:
        """Backends and the debug handles inside their delegates, by method and instruction."""
        return {
            method.name: {
                origin.index: {
                    "name": origin.operator,
                    "delegate_map": {key: list(value) for key, value in origin.delegate_handles.items()},
                }
                for origin in method.instructions
                if origin.delegate_handles
            }
            for method in self.methods
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the record. Errors: FileFailed for a path that cannot be written."""
        FileImage([json.dumps(_to_json(self), separators=(",", ":")).encode()]).save(path)


def fingerprint(program: Program | FileImage) -> str:
    """The fingerprint of a program: the SHA-256 of the program part, without constants, in hexadecimal. An
    image must come from write_program."""
    if isinstance(program, Program):
        return hashlib.sha256(program.data[: program.program_size]).hexdigest()
    return hashlib.sha256(next(program.pieces())).hexdigest()


def debug_record_path(model: str | os.PathLike[str]) -> Path:
    """The path of a program's debug record: model.debug.json beside model.pte."""
    return Path(model).with_suffix(".debug.json")


def record_beside(model: str | os.PathLike[str], program: Program) -> DebugRecord | None:
    """The record beside a program file; None if there is none or it belongs to another program.

    Errors: InvalidArgument for a file that is no debug record.
    """
    path = debug_record_path(model)
    if not path.is_file():
        return None
    record = read_debug_record(path)
    return record if record.program == fingerprint(program) else None


def source_of(model: str | os.PathLike[str], method: str, instruction: int) -> str:
    """The origin of an instruction as text, from the record beside a program file; "" without a matching
    record or on any failure, because error messages use it. Reads only the program part of a large file."""
    try:
        record = read_debug_record(debug_record_path(model))
        with Path(model).open("rb") as file:
            head = file.read(64)
            # Without an extended header the whole file is the program.
            has_header = head[HEADER_OFFSET : HEADER_OFFSET + 4] == HEADER_MAGIC
            size = struct.unpack_from("<Q", head, HEADER_OFFSET + 8)[0] if has_header else -1
            file.seek(0)
            digest = hashlib.sha256(file.read(size)).hexdigest()
    except (RushlightError, OSError, struct.error, OverflowError):
        return ""
    origin = record.method(method).at(instruction)
    return str(origin) if origin is not None and digest == record.program else ""


def read_debug_record(path: str | os.PathLike[str]) -> DebugRecord:
    """Reads a debug record. Errors: InvalidArgument for a file that cannot be opened or is no debug
    record."""
    content = read_json(path, what="debug record")
    if not isinstance(content, dict) or (content.get("format"), content.get("version")) != (
        _FORMAT,
        _VERSION,
    ):
        raise InvalidArgument(
            f"debug record {path}: expected version {_VERSION}, got another version or file type"
        )
    try:
        return _from_json(content)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise InvalidArgument(
            f"debug record {path}: expected all fields, got a damaged file ({type(error).__name__}: {error})"
        ) from error


def _handles(handles: Sequence[int]) -> int | list[int]:
    return handles[0] if len(handles) == 1 else list(handles)


class _Once:
    """Numbers items in order of first occurrence, because most frames and modules repeat."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def __call__(self, items: Sequence[Any]) -> list[int]:
        return [self.numbers.setdefault(item, len(self.numbers)) for item in items]


def _to_json(record: DebugRecord) -> dict[str, Any]:
    frames, modules = _Once(), _Once()
    methods = [
        {
            "name": method.name,
            "instructions": [_instruction(origin, frames, modules) for origin in method.instructions],
        }
        for method in record.methods
    ]
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "program": record.program,
        "frames": [[f.file, f.line, f.function, f.code] for f in frames.numbers],
        "modules": [[m.path, m.type] for m in modules.numbers],
        "methods": methods,
    }


def _instruction(origin: InstructionOrigin, frames: _Once, modules: _Once) -> dict[str, Any]:
    """An origin as JSON; empty fields are omitted."""
    told = {
        "chain": origin.chain,
        "operator": origin.operator,
        "handles": list(origin.handles),
        "node": origin.node,
        "frames": frames(origin.frames),
        "modules": modules(origin.modules),
        "delegate_handles": {key: list(value) for key, value in origin.delegate_handles.items()},
    }
    return {"index": origin.index} | {key: value for key, value in told.items() if value}


def _from_json(content: Mapping[str, Any]) -> DebugRecord:
    frames = [
        Frame(str(file), int(line), str(function), str(code))
        for file, line, function, code in content["frames"]
    ]
    modules = [Module(str(path), str(kind)) for path, kind in content["modules"]]
    methods = [
        MethodOrigins(
            str(method["name"]), tuple(_origin(item, frames, modules) for item in method["instructions"])
        )
        for method in content["methods"]
    ]
    return DebugRecord(str(content["program"]), tuple(methods))


def _origin(item: Mapping[str, Any], frames: Sequence[Frame], modules: Sequence[Module]) -> InstructionOrigin:
    inside = item.get("delegate_handles", {})
    return InstructionOrigin(
        index=int(item["index"]),
        operator=str(item.get("operator", "")),
        handles=tuple(map(int, item.get("handles", ()))),
        node=str(item.get("node", "")),
        frames=tuple(_picked(frames, item.get("frames", ()))),
        modules=tuple(_picked(modules, item.get("modules", ()))),
        chain=int(item.get("chain", 0)),
        delegate_handles={str(key): tuple(map(int, value)) for key, value in inside.items()},
    )


def _picked(items: Sequence[T], numbers: Sequence[int]) -> list[T]:
    if any(number < 0 for number in numbers):
        raise IndexError("negative index")
    return [items[number] for number in numbers]
