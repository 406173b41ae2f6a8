# SPDX-License-Identifier: BSD-3-Clause
"""The contents of a program, a bundled program or a data file as one HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rushlight.cli.described import dtypes_of, shape_of, value_of
from rushlight.cli.planned_memory import memory_plan
from rushlight.memory.picture import picture
from rushlight.page import figure, page, table
from rushlight.printable import escaped
from rushlight.program import read_model
from rushlight.program.model import Method


def inspect_page(file: Path, described: dict[str, Any]) -> str:
    """The whole page; `described` is what --json prints."""
    facts = (
        ("kind", described["kind"]),
        ("bytes", described["file_bytes"]),
        ("schema version", described["version"]),
    )
    parts = [table(("file", file.name), facts)]
    if described["kind"] == "data file":
        parts += _data(described)
    elif described["kind"] == "bundled program":
        parts += _cases(described)
        parts += _program(file, described["program"])
    else:
        parts += _program(file, described)
    return page(file.name, parts)


def _data(described: dict[str, Any]) -> Iterator[str]:
    rows = (
        (
            row["key"],
            row.get("dtype", ""),
            shape_of(row) if "shape" in row else "",
            row["bytes"],
            row["segment"],
        )
        for row in described["data"]
    )
    yield table(("key", "dtype", "shape", "bytes", "segment"), rows, bars=("bytes",))


def _cases(described: dict[str, Any]) -> Iterator[str]:
    rows = (
        (
            suite["method"],
            index,
            ", ".join(map(value_of, case["inputs"])),
            ", ".join(map(value_of, case["outputs"])) or "no expected outputs",
        )
        for suite in described["suites"]
        for index, case in enumerate(suite["cases"])
    )
    yield "<h2>Test cases</h2>"
    yield table(("method", "case", "inputs", "expected outputs"), rows)


def _program(file: Path, described: dict[str, Any]) -> Iterator[str]:
    program = read_model(file)
    for method in described["methods"]:
        yield from _method(method, program.method(method["name"]))
    if described["named_data"]:
        yield "<h2>Named data</h2>"
        rows = ((row["key"], row["bytes"], row["segment"]) for row in described["named_data"])
        yield table(("key", "bytes", "segment"), rows, bars=("bytes",))


def _method(described: dict[str, Any], method: Method) -> Iterator[str]:
    yield f"<h2>Method {escaped(described['name'])}</h2>"
    values = [
        (kind, index, value_of(value))
        for kind in ("input", "output")
        for index, value in enumerate(described[f"{kind}s"])
    ]
    yield table(("value", "index", "type"), values)
    yield table(("memory", "bytes"), _memory(described), bars=("bytes",))
    plan = memory_plan(method)
    if plan.peak:
        svg = picture({method.name: plan})
        wide = re.search(r' width="(\d+)', svg)
        least = max(700, int(wide[1]) // 2) if wide else 700
        yield "<h3>Planned memory</h3><p>Instructions from left to right, offsets upwards.</p>"
        yield figure(svg, f"{least}px")
    yield "<h3>Operators</h3>"
    rows = ((row["name"], row["calls"], dtypes_of(row)) for row in described["operators"])
    yield table(("operator", "calls", "dtypes"), rows, bars=("calls",))
    for delegate in described["delegates"]:
        yield from _delegate(delegate)


def _memory(described: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    constants = described["constants"]
    yield f"constants ({constants['count']})", constants["bytes"]
    if described["external"]:
        yield "constants in data files", described["external_bytes"]
    for buffer in described["planned_memory"]:
        yield f"planned memory {buffer['id']}", buffer["bytes"]
    for bits, size in described["memory"]["method_arena"].items():
        yield f"method arena with pointers of {bits} bits", size
    if needs := described["memory"].get("kernels"):
        yield "scratch of kernels on this machine", needs["scratch"]
        yield "prepared weights on this machine", needs["prepared"]


def _delegate(delegate: dict[str, Any]) -> Iterable[str]:
    graph = delegate.get("graph", {})
    yield f"<h3>Delegate {escaped(delegate['id'])}</h3>"
    yield f"<p>{delegate['bytes']:,} bytes, called {delegate['calls']:,} times.</p>"
    if "calls" not in graph:
        yield f"<p>{escaped(graph.get('unknown', 'its graph is unknown'))}</p>"
        return
    rows = (
        (
            index,
            call["operator"],
            ", ".join(f"{t['dtype']} {t['shape']}" for t in call["tensors"]),
            str(handle),
        )
        for index, (call, handle) in enumerate(zip(graph["calls"], graph["debug_handles"], strict=True))
    )
    yield table(("call", "operator", "tensors", "handle"), rows)
