# SPDX-License-Identifier: BSD-3-Clause
"""Reads what GCC writes with -fcallgraph-info=su: for each function its frame and whom it calls."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

INDIRECT = "__indirect_call"

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_NODE = re.compile(rf"^node: {{ title: {_QUOTED} label: {_QUOTED}")
_EDGE = re.compile(rf"^edge: {{ sourcename: {_QUOTED} targetname: {_QUOTED}(?: label: {_QUOTED})?")
_FRAME = re.compile(r"(\d+) bytes \((static|dynamic|dynamic,bounded)\)")


@dataclass
class Function:
    """One function as compiled: `frame` is bytes, the return address included where the call pushes it.
    `kind` is "static", "dynamic" (more than `frame`, nobody knows how much) or "dynamic,bounded". `calls` are
    the symbols that it calls directly, `indirect` the places (file:line) of calls through pointers."""

    symbol: str
    frame: int
    kind: str
    calls: set[str] = field(default_factory=set)
    indirect: set[str] = field(default_factory=set)


def read_call_graph(path: Path) -> dict[str, Function]:
    """The functions of one object by symbol."""
    functions: dict[str, Function] = {}
    for line in path.read_text(errors="replace").splitlines():
        if node := _NODE.match(line):
            if frame := _FRAME.search(node[2]):
                symbol = _symbol(node[1])
                functions[symbol] = Function(symbol, int(frame[1]), frame[2])
        elif edge := _EDGE.match(line):
            caller = functions.get(_symbol(edge[1]))
            if caller is None:
                continue
            if edge[2] == INDIRECT:
                caller.indirect.add((edge[3] or "").rpartition(":")[0])
            else:
                caller.calls.add(_symbol(edge[2]))
    return functions


def _symbol(title: str) -> str:
    """Titles of functions that only their file sees have the file in front."""
    return title.rpartition(":")[2]
