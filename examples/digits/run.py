# SPDX-License-Identifier: BSD-3-Clause
"""Builds digits.pte for each target, runs the held-out images there and compares with PyTorch.

Prints a table, and writes results.json and results.svg. Exit status 0 only if every output on every
target is what PyTorch computed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from measure import CASE, Measurement, labels, measure
from picture import draw
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from rushlight.errors import RushlightError
from rushlight.run.cases import load_case

TARGETS = ["host", "cortex-m55", "rv32imafc"]


def cost(measured: Measurement) -> str:
    """What one image costs: time on the host, instructions where they are counted."""
    if measured.instructions is not None:
        return f"{measured.instructions:,} instr."
    return f"{measured.microseconds:,.0f} µs" if measured.microseconds is not None else "not counted"


def table(measurements: Sequence[Measurement]) -> Table:
    """One row a target, within 80 columns."""
    title = "scikit-learn's digits, a small CNN in float32, on held-out images"
    shown = Table(title=title, box=SIMPLE, pad_edge=False)
    shown.add_column("target", no_wrap=True)
    for heading in ("right", "error", "flash", "model", "RAM", "an image", "build"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for m in measurements:
        shown.add_row(
            m.target,
            f"{m.correct}/{m.images}",
            f"{m.max_error:.0e}" if m.passed else f"[red]{m.max_error:.0e}[/]",
            *(f"{size / 1000:,.1f}" for size in (m.flash, m.model, m.ram)),
            cost(m),
            f"{m.build_seconds:.1f}",
        )
    shown.caption = "error: largest, against PyTorch; sizes in kB; RAM: static data and arenas; build in s"
    return shown


def write(measurements: Sequence[Measurement], folder: Path) -> None:
    """results.json and results.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = [asdict(m) for m in measurements]
    (folder / "results.json").write_text(json.dumps({"labels": labels(), "targets": listed}) + "\n")
    images = [call.inputs[0][0, 0] for call in load_case(CASE).calls]
    picture = draw(images, labels(), measurements, [cost(m) for m in measurements])
    (folder / "results.svg").write_text(picture)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("build/digits"), help="folder")
    options = parser.parse_args()
    console = Console(highlight=False)
    measurements = []
    for target in options.targets:
        console.print(f"building and running on {target} ...")
        try:
            measurements.append(measure(target, options.output / target))
        except RushlightError as error:
            Console(stderr=True).print(f"error: {error}\n{error.next_step}", markup=False)
            return error.exit_code
    write(measurements, options.output)
    console.print(table(measurements))
    console.print(f"also as {options.output}/results.json and {options.output}/results.svg")
    return 0 if all(m.passed for m in measurements) else 1


if __name__ == "__main__":
    sys.exit(main())
