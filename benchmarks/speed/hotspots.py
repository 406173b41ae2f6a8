# SPDX-License-Identifier: BSD-3-Clause
"""Profiles a program from the runtime's own trace: the time of each operator and of each call."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costs import Cost, cost_of, shapes_of
from rich.console import Console
from rich.table import Table

import rushlight
from rushlight.program import read_program
from rushlight.program.model import KernelCall
from rushlight.trace.profile import profile, read_events

WARM_UP = 2


@dataclass(frozen=True)
class Spot:
    """An instruction: its operator and shapes, and the nanoseconds of a call, the least of all rounds."""

    index: int
    operator: str
    shapes: str
    nanoseconds: float
    cost: Cost

    @property
    def gflops(self) -> float:
        """Operations a nanosecond."""
        return self.cost.flops / max(self.nanoseconds, 1)

    @property
    def bandwidth(self) -> float:
        """Gigabytes a second, if each tensor is read or written once."""
        return self.cost.bytes / max(self.nanoseconds, 1)


def spots_of(program: Path, inputs: Sequence[Any], rounds: int, threads: int) -> list[Spot]:
    """Runs the method "forward" `rounds` times and takes the fastest call of each instruction, since
    disturbances hit different instructions each time."""
    loaded = rushlight.load(program, enable_etdump=True, threads=threads)
    for _ in range(WARM_UP):
        loaded.forward(*inputs)
    method = read_program(program.read_bytes()).method("forward")
    least: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.etdp"
        loaded.write_etdump_result_to_file(trace)
        for _ in range(rounds):
            loaded.forward(*inputs)
            loaded.write_etdump_result_to_file(trace)
            for item in profile(read_events(trace)).operators:
                time = item.total / item.calls
                least[item.instruction] = min(least.get(item.instruction, time), time)
    spots = []
    for index, instruction in enumerate(method.instructions):
        if isinstance(instruction, KernelCall) and index in least:
            name, cost = method.operators[instruction.operator], cost_of(method, instruction)
            spots.append(Spot(index, name, shapes_of(method, instruction), least[index], cost))
    return spots


def show(title: str, spots: Sequence[Spot], console: Console) -> None:
    """Prints a table of operators, the slowest first, and one of all calls, in the program's order."""
    whole = sum(spot.nanoseconds for spot in spots) or 1.0
    summary = Table("operator", "calls", "µs", "share", "GFLOP/s", "GB/s", box=None, title=title)
    names = {spot.operator for spot in spots}
    of = {name: [spot for spot in spots if spot.operator == name] for name in names}
    for name in sorted(names, key=lambda name: -sum(spot.nanoseconds for spot in of[name])):
        time = sum(spot.nanoseconds for spot in of[name])
        cost = Cost(sum(s.cost.flops for s in of[name]), sum(s.cost.bytes for s in of[name]))
        summary.add_row(name, str(len(of[name])), *_numbers(Spot(0, name, "", time, cost), whole))
    calls = Table("#", "operator", "shapes", "µs", "share", "GFLOP/s", "GB/s", box=None)
    for spot in spots:
        name = spot.operator.partition("::")[2]
        calls.add_row(str(spot.index), name, spot.shapes, *_numbers(spot, whole))
    console.print(calls)
    console.print(summary)
    console.print(f"{len(spots)} calls, {whole / 1e3:,.1f} µs: the fastest of each")


def _numbers(spot: Spot, whole: float) -> list[str]:
    gflops = f"{spot.gflops:.1f}" if spot.cost.flops else ""
    share = f"{100 * spot.nanoseconds / whole:.1f} %"
    return [f"{spot.nanoseconds / 1e3:,.1f}", share, gflops, f"{spot.bandwidth:.1f}"]
