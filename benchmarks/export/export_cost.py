# SPDX-License-Identifier: BSD-3-Clause
"""What exporting costs, beside the official exporter in the same run.

    python benchmarks/export/export_cost.py                    # tables
    python benchmarks/export/export_cost.py --json out.json --picture out.svg --turns 5

Measures seconds from a module to the program's bytes (the exporters take turns; medians), the planned memory
of the programs, and by how much exporting a model of 100 MB raises the peak of a process. Needs torch and
executorch, as tests/constraints.txt has them.
"""

from __future__ import annotations

import argparse
import gc
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

import torch
from networks import MODELS, Made, large

import rushlight
from rushlight import process
from rushlight.program import read_program

LARGE = 100  # megabytes
EXPORTERS = ("official", "rushlight")


@dataclass(frozen=True)
class Cost:
    """One model: seconds of an export, and bytes of planned memory and of the file, by exporter."""

    model: str
    seconds: dict[str, float]
    planned: dict[str, int]
    file: dict[str, int]

    @property
    def ratio(self) -> float:
        """Our time over the official one."""
        return self.seconds["rushlight"] / self.seconds["official"]


@dataclass(frozen=True)
class Peak:
    """How much the peak of a process rises while a model is exported and saved, in bytes, by exporter."""

    weights: int
    rise: dict[str, int]


def export_here(made: Made) -> bytes:
    """Our program of a model."""
    module, inputs = made
    data: bytes = rushlight.export(module, inputs).buffer
    return data


def export_officially(made: Made) -> bytes:
    """The official program of a model, as its documentation says how."""
    from executorch.exir import to_edge

    module, inputs = made
    return bytes(to_edge(torch.export.export(module, inputs)).to_executorch().buffer)


FUNCTIONS: dict[str, Callable[[Made], bytes]] = {"official": export_officially, "rushlight": export_here}


def measure(turns: int) -> list[Cost]:
    """The costs of all models; the first turn of each is not counted."""
    costs = []
    for name, make in MODELS.items():
        made = make()
        seconds: dict[str, list[float]] = {exporter: [] for exporter in EXPORTERS}
        programs: dict[str, bytes] = {}
        for _ in range(turns + 1):
            for exporter in EXPORTERS:
                gc.collect()
                start = time.perf_counter()
                programs[exporter] = FUNCTIONS[exporter](made)
                seconds[exporter].append(time.perf_counter() - start)
        medians = {exporter: statistics.median(found[1:]) for exporter, found in seconds.items()}
        planned = {exporter: _planned(data) for exporter, data in programs.items()}
        costs.append(Cost(name, medians, planned, {e: len(data) for e, data in programs.items()}))
        print(f"{name}: {medians}", file=sys.stderr, flush=True)
    return costs


def _planned(data: bytes) -> int:
    return sum(sum(method.buffer_sizes) for method in read_program(data).plans)


def measure_peak() -> Peak:
    """Each exporter in a process of its own."""
    rises = {}
    for exporter in EXPORTERS:
        command = [sys.executable, __file__, "--peak-of", exporter]
        result = process.run(command, check=True)
        rises[exporter] = int(result.stdout.split()[-1])
    module, _ = large(LARGE)
    return Peak(sum(p.nbytes for p in module.parameters()), rises)


def peak_of(exporter: str) -> int:
    """By how many bytes the peak rises from what is in use when all is imported and was used once."""
    made = large(4)
    with tempfile.TemporaryDirectory() as folder:
        _save(exporter, made, Path(folder) / "small.pte")
        made = large(LARGE)
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = _status("VmRSS")
        _save(exporter, made, Path(folder) / "large.pte")
        return _status("VmHWM") - before


def _save(exporter: str, made: Made, path: Path) -> None:
    module, inputs = made
    if exporter == "rushlight":
        rushlight.export(module, inputs).save(path)
        return
    from executorch.exir import to_edge

    with path.open("wb") as file:
        to_edge(torch.export.export(module, inputs)).to_executorch().write_to_file(file)


def _status(key: str) -> int:
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key)]
    return int(line.split()[1]) * 1024


def table(costs: list[Cost], peak: Peak | None) -> str:
    """The results as Markdown."""
    lines = [
        "| model | official, s | rushlight, s | ratio | planned, official | planned, rushlight |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for cost in costs:
        seconds, planned = cost.seconds, cost.planned
        lines.append(
            f"| {cost.model} | {seconds['official']:.2f} | {seconds['rushlight']:.2f} | {cost.ratio:.2f} | "
            f"{planned['official']:,} B | {planned['rushlight']:,} B |"
        )
    if peak is not None:
        official, ours = (peak.rise[exporter] / 1e6 for exporter in EXPORTERS)
        lines += [
            "",
            f"A model of {peak.weights / 1e6:.0f} MB raises the peak of memory by {official:.0f} MB with the "
            f"official exporter, by {ours:.0f} MB with rushlight.",
        ]
    return "\n".join(lines)


def picture(costs: list[Cost]) -> str:
    """Bars of the seconds, an SVG."""
    left, full, row = 170, 420, 46
    longest = max(max(cost.seconds.values()) for cost in costs)
    height = row * len(costs) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + full + 120}" height="{height}" '
        'font-family="sans-serif" font-size="13">',
        f'<text x="{left}" y="18">seconds of an export: official (grey), rushlight (blue)</text>',
    ]
    for index, cost in enumerate(costs):
        top = 30 + index * row
        parts.append(f'<text x="{left - 8}" y="{top + 22}" text-anchor="end">{escape(cost.model)}</text>')
        for place, (exporter, colour) in enumerate(zip(EXPORTERS, ("#b0b0b0", "#3b76c4"), strict=True)):
            width = full * cost.seconds[exporter] / longest
            y = top + 4 + 16 * place
            parts.append(f'<rect x="{left}" y="{y}" width="{width:.1f}" height="13" fill="{colour}"/>')
            text = f"{cost.seconds[exporter]:.2f}"
            parts.append(f'<text x="{left + width + 5:.1f}" y="{y + 11}" font-size="11">{text}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _facts(costs: list[Cost], peak: Peak | None) -> dict[str, Any]:
    return {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "costs": [{**asdict(cost), "ratio": cost.ratio} for cost in costs],
        "peak": peak and asdict(peak),
    }


def main() -> int:
    """Measures, and writes what the command line asks for."""
    parser = argparse.ArgumentParser(description="Compare the costs of exporting.")
    parser.add_argument("--turns", type=int, default=5, help="exports of each that count")
    parser.add_argument("--json", type=Path, help="where to write all numbers")
    parser.add_argument("--picture", type=Path, help="where to write a picture (.svg)")
    parser.add_argument("--no-peak", action="store_true", help="leave out the memory of exporting")
    parser.add_argument("--peak-of", choices=EXPORTERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if options.peak_of:
        print(peak_of(options.peak_of))
        return 0
    costs = measure(options.turns)
    peak = None if options.no_peak else measure_peak()
    if options.json:
        options.json.write_text(json.dumps(_facts(costs, peak), indent=1) + "\n")
    if options.picture:
        options.picture.write_text(picture(costs))
    print(table(costs, peak))
    return 0


if __name__ == "__main__":
    sys.exit(main())
