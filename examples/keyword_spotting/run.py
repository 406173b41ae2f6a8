# SPDX-License-Identifier: BSD-3-Clause
"""Runs the keyword spotter on clips of held-out voices, and compares with PyTorch.

Prints a table, and writes results.json and results.png. Exit status 0 only if every score on every target
is what PyTorch computed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from rushlight.errors import RushlightError
from rushlight.run.api import run
from rushlight.run.cases import load_case

try:
    from picture import draw
except ImportError:  # without matplotlib there is no picture
    draw = None

HERE = Path(__file__).parent
MODEL, CASE = HERE / "keywords.pte", HERE / "case.json"
TARGETS = ["host", "cortex-m4"]


@dataclass(frozen=True)
class Measurement:
    """One target's results. Sizes in bytes: `flash` without the model, `ram` static data, arenas and scratch,
    without the stack. None: the target does not say. `scores` has the probabilities of each clip."""

    target: str
    passed: bool
    right: int
    clips: int
    max_error: float
    model: int
    flash: int | None
    ram: int | None
    instructions: int | None
    microseconds: float | None
    scores: list[list[float]]


def measure(target: str, folder: Path) -> Measurement:
    """Runs all clips on one target. Errors: rushlight's own."""
    facts, case = json.loads(CASE.read_text()), load_case(CASE)
    outcome = run(MODEL, case, target=target, build_folder=folder / target)
    scores = [np.asarray(call.result.outputs[0])[0] for call in outcome.calls]
    guesses = [facts["classes"][int(each.argmax())] for each in scores]
    flash = ram = None
    if outcome.build is not None and outcome.report is not None:
        memory = outcome.report
        flash = outcome.build.sizes.flash
        arenas = memory.method_arena_bytes + memory.planned_bytes + memory.temporary_peak_bytes
        ram = outcome.build.sizes.ram + arenas
    instructions = round(statistics.median(call.result.instructions for call in outcome.calls))
    return Measurement(
        target=target,
        passed=outcome.passed,
        right=sum(guess == label for guess, label in zip(guesses, facts["labels"], strict=True)),
        clips=len(scores),
        max_error=outcome.max_error or 0.0,
        model=MODEL.stat().st_size,
        flash=flash,
        ram=ram,
        instructions=instructions or None,
        microseconds=None if instructions else statistics.median(c.result.ns for c in outcome.calls) / 1000,
        scores=[each.tolist() for each in scores],
    )


def table(measurements: Sequence[Measurement]) -> Table:
    """One row a target, within 80 columns."""
    shown = Table(title="Eight keywords, held-out voices, one second a clip", box=SIMPLE, pad_edge=False)
    shown.add_column("target", no_wrap=True)
    for heading in ("right", "error", "model", "flash", "RAM", "a clip"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for m in measurements:
        sizes = (f"{size / 1000:,.1f}" if size is not None else "" for size in (m.model, m.flash, m.ram))
        cost = f"{m.instructions:,} instr." if m.instructions else f"{m.microseconds:,.0f} µs"
        error = f"{m.max_error:.3f}" if m.passed else f"[red]{m.max_error:.3f}[/]"
        shown.add_row(m.target, f"{m.right}/{m.clips}", error, *sizes, cost)
    shown.caption = "error: largest of a probability, against PyTorch; sizes in kB; RAM without the stack"
    return shown


def write(measurements: Sequence[Measurement], folder: Path) -> None:
    """results.json, and results.png where matplotlib is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps([asdict(m) for m in measurements]) + "\n")
    if draw is None:
        print("no results.png: pip install matplotlib", file=sys.stderr)
        return
    facts, clips = json.loads(CASE.read_text()), [call.inputs[0][0] for call in load_case(CASE).calls]
    draw(clips, facts, measurements[-1].target, measurements[-1].scores, folder / "results.png")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("build/keyword_spotting"), help="folder")
    options = parser.parse_args()
    try:
        measurements = [measure(target, options.output) for target in options.targets]
    except RushlightError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    Console().print(table(measurements))
    write(measurements, options.output)
    return 0 if all(m.passed for m in measurements) else 1


if __name__ == "__main__":
    sys.exit(main())
