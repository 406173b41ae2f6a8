# SPDX-License-Identifier: BSD-3-Clause
"""Profiles from ETDump files (.etdp) of rushlight and of the official runtime."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rushlight import page
from rushlight.errors import InvalidArgument, InvalidProgram
from rushlight.printable import escaped
from rushlight.program import read_model, record_beside
from rushlight.program.debug import MethodOrigins, debug_record_path
from rushlight.program.flatbuffer import Buffer, Table
from rushlight.program.schema import EVENT_DUMP

_PREFIX = "native_call_"
NANOSECONDS = "ns"
_BLOCK_UNIT = re.compile(r" \[(\w{1,24})\]$")  # "Execute [instructions]"
_HANDLE = re.compile(r"\bdebug_handle=(\d{1,10})\b")
_FOLDED = "FOLDED_CALL"  # ran when the method was loaded
_INSTRUCTIONS = {"OPERATOR_CALL", "DELEGATE_CALL", "MOVE_CALL", "JF_CALL", "FREE_CALL", _FOLDED}


@dataclass(frozen=True)
class Event:
    """One timed event. Times are in the clock's unit; see Profile.

    `chain` is -1 outside instructions. An event of a delegate has its name or "#index" as `delegate`, and
    the backend's additional data as `metadata`: rushlight's has the handle of the exporter's node,
    "debug_handle=7".
    """

    block: str
    name: str
    delegate: str
    chain: int
    instruction: int
    start: int
    end: int
    metadata: str = ""


@dataclass(frozen=True)
class NodeTime:
    """All executions of one node of a delegate, with fields as in OperatorTime. `debug_handle` is the
    exporter's id of the original node."""

    name: str
    calls: int
    total: int
    share: float
    debug_handle: int | None = None


@dataclass(frozen=True)
class OperatorTime:
    """All executions of one instruction: the count, the total time, and its share of the time of all
    instructions. With a debug record `module` and `source` name its origin in the model. A delegate that
    reports events has `nodes`, in order of first execution."""

    chain: int
    instruction: int
    name: str
    calls: int
    total: int
    share: float
    module: str = ""
    source: str = ""
    nodes: tuple[NodeTime, ...] = ()


@dataclass(frozen=True)
class Profile:
    """`load` and `execute` are total times; `execute` covers `runs` executions. The `unit` of all times is
    "ns", or the unit in the names of the trace's blocks: emulated boards count instructions of the core
    and have no clock. A trace does not tell which method was executed: instructions with the same index
    count together."""

    load: int
    execute: int
    runs: int
    operators: list[OperatorTime]
    unit: str = NANOSECONDS

    def shown(self, time: float) -> tuple[str, str]:
        """A time for display, and its unit: milliseconds if times are in nanoseconds."""
        return (f"{time / 1e6:.4g}", "ms") if self.unit == NANOSECONDS else (f"{time:,.0f}", self.unit)

    def modules(self) -> list[tuple[str, int, float]]:
        """Each module with its time and share, the longest first; empty without a debug record."""
        totals: dict[str, int] = {}
        for item in self.operators:
            totals[item.module] = totals.get(item.module, 0) + item.total
        whole = sum(totals.values()) or 1
        ordered = sorted(totals.items(), key=lambda pair: -pair[1])
        return [(name, total, total / whole) for name, total in ordered] if any(totals) else []

    def call_seconds(self) -> list[float]:
        """The mean seconds of each instruction, through all chains, as rushlight.load(call_seconds=...) takes
        them. Trace one method on one thread for it. Error: InvalidArgument for a trace in another unit."""
        if self.unit != NANOSECONDS:
            raise InvalidArgument(f"trace: expected times in {NANOSECONDS}, got {self.unit}")
        lengths: dict[int, int] = {}
        for item in self.operators:
            lengths[item.chain] = max(lengths.get(item.chain, 0), item.instruction + 1)
        first = {chain: sum(lengths.get(each, 0) for each in range(chain)) for chain in lengths}
        seconds = [0.0] * sum(lengths.values())
        for item in self.operators:
            seconds[first[item.chain] + item.instruction] = item.total / item.calls / 1e9
        return seconds

    def to_json(self) -> dict[str, Any]:
        """The profile as JSON types."""
        return asdict(self)

    def to_html(self) -> str:
        """A page with a row and a bar for each instruction and each node of a delegate, in program order, and
        a table of modules if a debug record names them."""
        unit = self.shown(0)[1]
        heads = ["instruction", "operator", "calls", f"{unit} per call", "share"]
        modules = self.modules()
        rows = [self._row(number, item, source) for number, item, source in self._lines()]
        parts = [f"<p>{escaped(self.summary())}</p>"]
        parts.append(
            page.table([*heads, *(["source"] if modules else [])], [r if modules else r[:-1] for r in rows])
        )
        if modules:
            shares = [(name or "(none)", *self._numbers(total, share)) for name, total, share in modules]
            parts += ["<h2>Modules</h2>", page.table(("module", unit, "share"), shares)]
        return page.page("Profile", parts)

    def _lines(self) -> Iterator[tuple[str, OperatorTime | NodeTime, str]]:
        """Instructions with their indices and sources, each followed by its nodes, numbered such as "3.1"."""
        for item in self.operators:
            yield str(item.instruction), item, item.source
            for index, node in enumerate(item.nodes, 1):
                yield f"{item.instruction}.{index}", node, ""

    def _row(self, number: str, item: OperatorTime | NodeTime, source: str) -> list[object]:
        return [number, item.name, item.calls, *self._numbers(item.total / item.calls, item.share), source]

    def _numbers(self, time: float, share: float) -> tuple[page.Cell, page.Cell]:
        """The cells of a time and of its share, with a bar."""
        longest = max((item.share for item in self.operators), default=0) or 1
        shown = f"{100 * share:.1f} %"
        return page.Cell(self.shown(time)[0], time), page.Cell(shown, share, share / longest, "bar")

    def summary(self) -> str:
        """The times of execution and loading in one line."""
        each = self.execute / max(self.runs, 1)
        note = "" if self.unit == NANOSECONDS else "; of the emulated core, which knows no time"
        return f"{self.runs} runs of {self._text(each)}; loading {self._text(self.load)}{note}"

    def _text(self, time: float) -> str:
        return " ".join(self.shown(time))


def read_events(path: str | os.PathLike[str]) -> list[Event]:
    """The timed events of a file in file order. Errors: InvalidArgument (no such file), InvalidProgram."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InvalidArgument(f"trace {path}: {error.strerror}") from error
    if data[8:12] != EVENT_DUMP.identifier:
        raise InvalidProgram(f"trace {path}: identifier ED00 expected, found {data[8:12]!r}")
    if struct.unpack_from("<I", data)[0] != len(data) - 4:
        raise InvalidProgram(f"trace {path}: {struct.unpack_from('<I', data)[0] + 4} bytes expected")
    root = Buffer(memoryview(data)).root(EVENT_DUMP, "trace", 4)  # after the file's size
    blocks = root.tables("run_data", lambda block: list(_events(block)))
    return [event for block in blocks for event in block]


def _events(block: Table) -> Iterator[Event]:
    name = block.string("name")
    for table in block.tables("events", lambda event: event.table("profile_event")):
        if table is None:
            continue
        index = table.number("delegate_debug_id_int")
        delegate = table.string("delegate_debug_id_str") or ("" if index == -1 else f"#{index}")
        yield Event(
            name,
            table.string("name"),
            delegate,
            table.number("chain_index"),
            table.number("instruction_id"),
            table.number("start_time"),
            table.number("end_time"),
            _text(table.bytes("delegate_debug_metadata")),
        )


def profile(events: list[Event], origins: MethodOrigins | None = None) -> Profile:
    """Sums up the events: one entry per instruction, with the operator's name if it has one, and with the
    origin in the model from `origins` of the executed method."""
    names: dict[tuple[int, int], str] = {}
    calls: dict[tuple[int, int], int] = {}
    totals: dict[tuple[int, int], int] = {}
    nodes: dict[tuple[int, int], list[Event]] = {}
    for event in events:
        key = (event.chain, event.instruction)
        if event.chain >= 0 and event.delegate:
            nodes.setdefault(key, []).append(event)
        elif event.chain >= 0 and event.name.startswith(_PREFIX):
            names[key] = event.name.removeprefix(_PREFIX)
        elif event.chain >= 0 and event.name in _INSTRUCTIONS:
            names.setdefault(key, event.name)
            calls[key] = calls.get(key, 0) + 1
            totals[key] = totals.get(key, 0) + event.end - event.start
    for key in {(event.chain, event.instruction) for event in events if event.name == _FOLDED}:
        names[key] += " (folded)"
    whole = sum(totals.values()) or 1
    runs = [event.end - event.start for event in events if event.name == "Method::execute"]
    load = sum(event.end - event.start for event in events if event.name == "Program::load_method")
    operators = [
        OperatorTime(
            *(*key, names[key], calls[key], totals[key], totals[key] / whole),
            *_made_of(origins, *key),
            _nodes(nodes.get(key, []), whole),
        )
        for key in sorted(totals)
    ]
    named = {found[1] for event in events if (found := _BLOCK_UNIT.search(event.block))}
    return Profile(load, sum(runs), len(runs), operators, named.pop() if len(named) == 1 else NANOSECONDS)


def _nodes(events: list[Event], whole: int) -> tuple[NodeTime, ...]:
    """The nodes of a delegate, by name; `whole` is the time of all instructions."""
    named: dict[str, list[Event]] = {}
    for event in events:
        named.setdefault(event.delegate, []).append(event)
    made = []
    for name, runs in named.items():
        total = sum(run.end - run.start for run in runs)
        handle = _HANDLE.search(runs[0].metadata)
        made.append(NodeTime(name, len(runs), total, total / whole, int(handle[1]) if handle else None))
    return tuple(made)


def _text(metadata: memoryview) -> str:
    """A backend's metadata as text."""
    return bytes(metadata).decode("utf-8", "replace").rstrip("\0")


def _made_of(origins: MethodOrigins | None, chain: int, instruction: int) -> tuple[str, str]:
    """The module and the source line of an instruction; empty if unknown."""
    origin = origins.at(instruction, chain) if origins else None
    if origin is None:
        return "", ""
    return str(origin.module or ""), str(origin.line or "")


def origins_of(model: Path, method: str | None = None) -> MethodOrigins:
    """The origins of a method's instructions (default: the only method, or "forward"), from the debug record
    beside a program.

    Errors: InvalidArgument without a record; MethodNotFound; the errors of reading the program.
    """
    program = read_model(model)
    record = record_beside(model, program)
    if record is None:
        raise InvalidArgument(
            f"model {model}: expected a debug record {debug_record_path(model)}, got none",
            next_step="Export the model with its debug record, or leave --model out.",
        )
    names = [plan.name for plan in program.plans]
    return record.method(program.method(method or (names[0] if len(names) == 1 else "forward")).name)
