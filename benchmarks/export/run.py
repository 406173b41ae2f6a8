# SPDX-License-Identifier: BSD-3-Clause
"""Compares export times, program sizes and memory with the official exporter in the same run.

    python benchmarks/export/run.py                     # Markdown
    python benchmarks/export/run.py --output FOLDER     # export.md, export.json, export.html, export.svg
    python benchmarks/export/run.py --write             # also put the tables into docs/exporting.md

Needs rushlight, torch and executorch in the versions of tests/constraints.txt. The exporters alternate in
one process with one thread. A time covers everything from the module to the bytes of the file; it is the
median over the rounds, after one export of each that does not count. Peaks of memory are measured in
separate processes. Times of calls compare our own programs, channels-first and channels-last.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))

import torch
from pages import Layouts, Measured, Peak, Sizes, Times, parts_of_docs, to_html, to_markdown, to_svg
from sides import SIDES, Program, Seconds, quiet, timed
from subjects import LARGE, LAYOUTS, OTHERS, TIMED, make

from support import written

# isort: split
# The import of subjects adds benchmarks/speed to the path.
from machine import cpu

import rushlight.export
from rushlight import process

PAGE = Path(__file__).resolve().parents[2] / "docs" / "exporting.md"
ROUNDS = 5
PARTS = ("times", "sizes", "peaks", "layouts")


def measure_times(name: str, rounds: int) -> tuple[Times, Sizes]:
    """Exports one model with both exporters, in alternation."""
    module, args = make(TIMED[name])
    taken: dict[str, list[Seconds]] = {side: [] for side in SIDES}
    programs = {side: Program.of(timed(side, module, args)[1]) for side in SIDES}
    for _ in range(rounds):
        for side in SIDES:
            taken[side].append(timed(side, module, args)[0])
    medians = {
        side: Seconds(*(statistics.median(getattr(s, what) for s in each) for what in ("cpu", "wall")))
        for side, each in taken.items()
    }
    return Times(name, rounds, **medians), Sizes(name, **programs)


def measure_sizes(name: str) -> Sizes:
    """The sizes of one model's programs by both exporters."""
    module, args = make(OTHERS[name])
    return Sizes(name, **{side: Program.of(timed(side, module, args)[1]) for side in SIDES})


def measure_peak(name: str) -> Peak:
    """The memory peaks of both exporters, each in a separate process."""
    found = {}
    for side in SIDES:
        command = [sys.executable, str(Path(__file__).with_name("peak.py")), side, name]
        found[side] = json.loads(process.run(command, check=True, timeout=600).stdout.splitlines()[-1])
    return Peak(name, found["rushlight"]["weights"], **{side: found[side]["more"] for side in SIDES})


def measure_layouts(name: str, rounds: int) -> Layouts:
    """Times our programs of one model with one thread: each round calls each for a quarter of a second."""
    module, args = make(LAYOUTS[name])
    calls = []
    for last in (False, True):
        data = bytes(rushlight.export.export(module, args, channels_last=last).buffer)
        method = rushlight.load(data, threads=1).load_method("forward")
        calls.append(lambda method=method: method.execute(list(args)))
    found = [[_seconds(call) for call in calls] for _ in range(rounds)]
    return Layouts(name, *(min(each) for each in zip(*found, strict=True)))


def _seconds(call: Callable[[], Any]) -> float:
    """The least time of a call within a quarter of a second."""
    least, end = float("inf"), time.perf_counter() + 0.25
    while (start := time.perf_counter()) < end:
        call()
        least = min(least, time.perf_counter() - start)
    return least


def measure(parts: Collection[str], rounds: int) -> Measured:
    """Measures the named parts and prints progress for each model."""
    measured = Measured([], [], [], [])
    for name in TIMED if "times" in parts else ():
        print(name, file=sys.stderr)
        times, sizes = measure_times(name, rounds)
        measured.times.append(times)
        measured.sizes.append(sizes)
    for name in OTHERS if "sizes" in parts else ():
        print(name, file=sys.stderr)
        measured.sizes.append(measure_sizes(name))
    for name in LARGE if "peaks" in parts else ():
        print(f"memory: {name}", file=sys.stderr)
        measured.peaks.append(measure_peak(name))
    for name in LAYOUTS if "layouts" in parts else ():
        print(f"layouts: {name}", file=sys.stderr)
        measured.layouts.append(measure_layouts(name, rounds))
    return measured


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares exporting with the official exporter.")
    parser.add_argument("--output", type=Path, help="write export.md, .json, .html and .svg into this folder")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="measure only these parts")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"exports that count (default {ROUNDS})")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/exporting.md")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds: expected 1 or more, got {options.rounds}")
    if options.write and set(options.only) != set(PARTS):
        parser.error("--write: expected all parts, got some of them; omit --only")
    quiet()
    torch.set_num_threads(1)
    measured = measure(options.only, options.rounds)
    print(to_markdown(measured))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        machine = {
            "machine": platform.machine(),
            "python": platform.python_version(),
            "torch": torch.__version__,
        }
        data = json.dumps({**machine, **measured.to_json()}, indent=2) + "\n"
        pages = {
            "md": to_markdown(measured),
            "json": data,
            "html": to_html(measured),
            "svg": to_svg(measured),
        }
        for suffix, text in pages.items():
            (options.output / f"export.{suffix}").write_text(text)
    if options.write:
        for name, text in parts_of_docs(measured, _machine()).items():
            written.write(PAGE, name, text)
    return 0


def _machine() -> str:
    found = cpu()
    return (
        f"One thread, {found['cpu']} ({' '.join(found['features'])}), torch {torch.__version__}, "
        f"Python {platform.python_version()}; {time.strftime('%Y-%m-%d')}."
    )


if __name__ == "__main__":
    sys.exit(main())
