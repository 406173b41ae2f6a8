# SPDX-License-Identifier: BSD-3-Clause
"""Measures the overhead of the runtime, next to the official one in the same process.

    python benchmarks/framework_cost.py                 # a table
    python benchmarks/framework_cost.py --json out.json --picture out.svg

Needs rushlight, and the official package (torch and executorch in the versions of tests/constraints.txt),
which exports the programs and is compared. Programs are chains of additions of one element, so that nearly
all of the time is overhead. The runtimes alternate; each value is the median over the rounds.
"""

from __future__ import annotations

import argparse
import json
import logging
import platform
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

CHAIN = 200
ROUNDS = 60
CALLS = 20  # executions in one round
RUNTIMES = ("official", "rushlight")


@dataclass(frozen=True)
class Cost:
    """One measurement, in microseconds."""

    what: str
    official: float
    rushlight: float

    @property
    def ratio(self) -> float:
        return self.rushlight / self.official


def write_chain(path: Path, additions: int) -> None:
    """Writes a program of the official exporter that adds its one-element input `additions` times."""
    import torch
    from executorch.exir import to_edge

    class Chain(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x
            for _ in range(additions):
                y = y + x
            return y

    exported = torch.export.export(Chain(), (torch.ones(1),))
    path.write_bytes(to_edge(exported).to_executorch().buffer)


def microseconds(function: Callable[[], Any], calls: int = 1) -> float:
    """The time of one call."""
    start = time.perf_counter_ns()
    for _ in range(calls):
        function()
    return (time.perf_counter_ns() - start) / 1e3 / calls


def alternate(functions: dict[str, Callable[[], Any]], rounds: int, calls: int = 1) -> dict[str, float]:
    """The median time of each function. They alternate, so that a disturbance affects all of them."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(microseconds(function, calls))
    return {name: statistics.median(values) for name, values in times.items()}


def cold(runtime: Any, path: Path, value: Any) -> Callable[[], Any]:
    """Loads a program and its method, and runs it once."""
    return lambda: runtime.load_program(path).load_method("forward").execute([value])


def warm(runtime: Any, path: Path, value: Any) -> Callable[[], Any]:
    """Runs a loaded method."""
    method = runtime.load_program(path).load_method("forward")
    return lambda: method.execute([value])


def measure(folder: Path, rounds: int, chain: int) -> list[Cost]:
    """All costs, official and ours. Each runtime gets its own array type: torch's and numpy's."""
    import torch
    from executorch.runtime import Runtime as OfficialRuntime

    from rushlight.runtime import Runtime

    short, long = folder / "one.pte", folder / "chain.pte"
    write_chain(short, 1)
    write_chain(long, chain)
    tensor, array = torch.ones(1), np.ones(1, np.float32)
    sides = {
        "official": (OfficialRuntime.get(), tensor),
        "rushlight": (Runtime.get(), array),
    }
    for runtime, value in sides.values():
        [out] = warm(runtime, long, value)()
        assert float(out[0]) == chain + 1, f"expected {chain + 1}, got {out}"

    def each(make: Callable[..., Any], path: Path, calls: int, value: Any = None) -> dict[str, float]:
        functions = {
            name: make(runtime, path, own if value is None else value)
            for name, (runtime, own) in sides.items()
        }
        return alternate(functions, rounds, calls)

    costs = [
        Cost(f"load, method and first run, {count} add{'s' * (count > 1)}", **each(cold, path, 1))
        for count, path in ((1, short), (chain, long))
    ]
    one, many = each(warm, short, CALLS), each(warm, long, CALLS)
    per_add = {name: (many[name] - one[name]) / (chain - 1) for name in RUNTIMES}
    return [
        *costs,
        Cost("execute(), 1 add", **one),
        Cost("execute(), 1 add, torch tensors", **each(warm, short, CALLS, tensor)),
        Cost(f"execute(), {chain} adds", **many),
        Cost("each chained add", **per_add),
    ]


def table(costs: list[Cost]) -> str:
    """A table with a row for each cost."""
    lines = [f"{'µs':<42}{'official':>10}{'rushlight':>11}{'ratio':>8}"]
    lines += [f"{c.what:<42}{c.official:>10.3f}{c.rushlight:>11.3f}{c.ratio:>8.2f}" for c in costs]
    return "\n".join(lines)


def picture(costs: list[Cost]) -> str:
    """An SVG: for each cost two bars on the scale of the official one, and the ratio."""
    left, full, row = 320, 360, 46
    height = 70 + row * len(costs)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + full + 120}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#1b1f24">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        '<text x="24" y="30" font-size="18">What the runtime itself costs</text>',
        '<text x="24" y="50" fill="#667080">grey: official 1.5.1; blue: rushlight; shorter is better</text>',
    ]
    for index, cost in enumerate(costs):
        top = 70 + row * index
        longest = max(cost.official, cost.rushlight)
        parts.append(f'<text x="24" y="{top + 20}">{escape(cost.what)}</text>')
        for line, (color, value) in enumerate((("#b9c0c8", cost.official), ("#2f6f9f", cost.rushlight))):
            width, y = full * value / longest, top + 4 + 14 * line
            end = f"{left + width + 6:.1f}"
            parts.append(f'<rect x="{left}" y="{y}" width="{width:.1f}" height="12" fill="{color}"/>')
            parts.append(f'<text x="{end}" y="{y + 10}" font-size="11">{value:.3g} µs</text>')
        parts.append(f'<text x="{left - 12}" y="{top + 20}" text-anchor="end">{cost.ratio:.2f}×</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares the runtime's overhead with the official one.")
    parser.add_argument("--json", type=Path, help="write the values to this file")
    parser.add_argument("--picture", type=Path, help="write an SVG to this file")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"measurements of each (default {ROUNDS})")
    parser.add_argument("--chain", type=int, default=CHAIN, help=f"additions in the chain (default {CHAIN})")
    options = parser.parse_args()
    if options.chain < 2 or options.rounds < 1:
        parser.error("--chain takes 2 or more, --rounds 1 or more")
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        costs = measure(Path(folder), options.rounds, options.chain)
    print(table(costs))
    if options.json:
        rows = [{**asdict(cost), "ratio": cost.ratio} for cost in costs]
        machine = {"machine": platform.machine(), "python": platform.python_version()}
        options.json.write_text(json.dumps({**machine, "microseconds": rows}, indent=2) + "\n")
    if options.picture:
        options.picture.write_text(picture(costs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
