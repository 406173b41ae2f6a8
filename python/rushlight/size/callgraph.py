# SPDX-License-Identifier: BSD-3-Clause
"""Reads the output of GCC's -fcallgraph-info=su: the frame and the callees of each function."""

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
    """One compiled function: `frame` is its size in bytes, including the return address if the call pushes
    it. `kind` is "static", "dynamic" (more than `frame` by an unknown amount) or "dynamic,bounded".
    `calls` are the symbols of its direct calls, `indirect` the source lines (file:line) of calls through
    pointers."""

    symbol: str
    frame: int
    kind: str
    calls: set[str] = field(default_factory=set)
    indirect: set[str] = field(default_factory=set)


def read_call_graph(path: Path) -> dict[str, Function]:
    """The functions of one object, by symbol."""
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
    """Removes the file name in front of the titles of functions with internal linkage."""
    return title.rpartition(":")[2]
