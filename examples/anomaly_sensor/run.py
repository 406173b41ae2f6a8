# SPDX-License-Identifier: BSD-3-Clause
"""Runs the anomaly detector on windows of held-out speeds, and compares with PyTorch.

Prints a table of targets and one of accuracy; writes results.json, results.png and an Arduino library. Exit
status 0 only if every score on every target is what PyTorch computed, and the accuracy is at least the stated
one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import vibration
from accuracy import KINDS, Accuracy, accuracy
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import rushlight
from rushlight.errors import RushlightError
from rushlight.package import bake_package
from rushlight.run.api import run
from rushlight.run.cases import load_case

try:
    from picture import draw
except ImportError:  # without matplotlib there is no picture
    draw = None  # type: ignore[assignment]

HERE = Path(__file__).parent
MODEL, CASE, SKETCH = HERE / "anomaly_sensor.pte", HERE / "case.json", HERE / "anomaly.ino"
TARGETS = ["host", "cortex-m4"]
MARGIN = 0.02
"""How far the area under the ROC curve may be below the stated one: 500 windows a kind are a sample."""


@dataclass(frozen=True)
class Measurement:
    """One target's results. Sizes in bytes: `flash` without the model, `ram` static data, arenas and scratch,
    without the stack. None: the target does not say. `alarms` counts faulty windows that score above 1,
    `false_alarms` healthy ones. `max_error` is the largest difference of a score, relative to 1 + score."""

    target: str
    passed: bool
    alarms: int
    faulty: int
    false_alarms: int
    healthy: int
    max_error: float
    model: int
    flash: int | None
    ram: int | None
    instructions: int | None
    microseconds: float | None
    scores: list[float]


def measure(target: str, folder: Path) -> Measurement:
    """Runs all windows of the case on one target. Errors: rushlight's own."""
    labels, case = json.loads(CASE.read_text())["labels"], load_case(CASE)
    outcome = run(MODEL, case, target=target, build_folder=folder / target)
    scores = [float(np.asarray(call.result.outputs[0])[0]) for call in outcome.calls]
    expected = [float(np.asarray(call.expected)[0, 0]) for call in case.calls]
    healthy = [label == vibration.NORMAL for label in labels]
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
        alarms=sum(score > 1 and not is_healthy for score, is_healthy in zip(scores, healthy, strict=True)),
        faulty=len(healthy) - sum(healthy),
        false_alarms=sum(score > 1 and is_healthy for score, is_healthy in zip(scores, healthy, strict=True)),
        healthy=sum(healthy),
        max_error=max(abs(got - want) / (1 + want) for got, want in zip(scores, expected, strict=True)),
        model=MODEL.stat().st_size,
        flash=flash,
        ram=ram,
        instructions=instructions or None,
        microseconds=None if instructions else statistics.median(c.result.ns for c in outcome.calls) / 1000,
        scores=scores,
    )


def target_table(measurements: Sequence[Measurement]) -> Table:
    """One row a target, within 80 columns."""
    shown = Table(title="Windows of 0.32 s, three of each kind", box=SIMPLE, pad_edge=False)
    shown.add_column("target", no_wrap=True)
    for heading in ("alarms", "false", "error", "model", "flash", "RAM", "a window"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for m in measurements:
        sizes = (f"{size / 1000:,.1f}" if size is not None else "" for size in (m.model, m.flash, m.ram))
        cost = f"{m.instructions:,} instr." if m.instructions else f"{m.microseconds:,.0f} µs"
        error = f"{m.max_error:.4f}" if m.passed else f"[red]{m.max_error:.4f}[/]"
        alarms, false = f"{m.alarms}/{m.faulty}", f"{m.false_alarms}/{m.healthy}"
        shown.add_row(m.target, alarms, false, error, *sizes, cost)
    shown.caption = "error: largest of a score, against PyTorch; sizes in kB; RAM without the stack"
    return shown


def accuracy_table(rows: Sequence[Accuracy]) -> Table:
    """One row a kind."""
    count = len(rows[0].scores)
    shown = Table(title=f"{count} windows of each kind, held-out speeds", box=SIMPLE, pad_edge=False)
    shown.add_column("kind", no_wrap=True)
    for heading in ("ROC AUC", "ROC AUC, RMS level", "score above 1"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        areas = (f"{row.auc:.3f}", f"{row.auc_of_level:.3f}") if row.kind != vibration.NORMAL else ("", "")
        shown.add_row(row.kind, *areas, f"{row.alarms:.1%}")
    return shown


def write_library(folder: Path) -> Path:
    """Writes the Arduino library, with anomaly.ino among its examples. Returns its folder. Errors:
    rushlight's own."""
    library = folder / "anomaly_sensor"
    bake_package(MODEL, "arduino", library)
    sketch = library / "examples" / SKETCH.stem / SKETCH.name
    sketch.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(SKETCH, sketch)
    return library


def write(measurements: Sequence[Measurement], rows: Sequence[Accuracy], folder: Path) -> None:
    """results.json, and results.png where matplotlib is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    results = {
        "targets": [asdict(m) for m in measurements],
        "auc": {row.kind: row.auc for row in rows if row.kind != vibration.NORMAL},
    }
    (folder / "results.json").write_text(json.dumps(results) + "\n")
    if draw is None:
        print("no results.png: pip install matplotlib", file=sys.stderr)
        return
    labels = json.loads(CASE.read_text())["labels"]
    calls = load_case(CASE).calls
    windows = {kind: calls[labels.index(kind)].inputs[0][0] for kind in KINDS}
    draw(windows, {row.kind: row.scores for row in rows if row.kind in KINDS}, folder / "results.png")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("build/anomaly_sensor"), help="folder")
    options = parser.parse_args()
    try:
        measurements = [measure(target, options.output) for target in options.targets]
        rows = accuracy(rushlight.load(MODEL), 500, seed=3 * 10**6)
        library = write_library(options.output)
    except RushlightError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    Console().print(target_table(measurements))
    Console().print(accuracy_table(rows))
    print(f"Arduino library: {library}")
    write(measurements, rows, options.output)
    is_accurate = rows[-1].auc >= json.loads(CASE.read_text())["auc"] - MARGIN
    return 0 if is_accurate and all(m.passed for m in measurements) else 1


if __name__ == "__main__":
    sys.exit(main())
