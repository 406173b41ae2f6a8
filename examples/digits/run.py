# SPDX-License-Identifier: BSD-3-Clause
"""Builds digits.pte for each target, runs the held-out images there and compares with PyTorch.

Prints a table, and writes results.json and results.svg. The exit status is 0 only if every output on every
target is what PyTorch computed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from measure import Measurement, Subject, measure, subject
from picture import draw
from rich.console import Console
from table import cost, table

from rushlight.errors import RushlightError

TARGETS = ["host", "cortex-m55", "rv32imafc"]


def write(of: Subject, measurements: Sequence[Measurement], folder: Path) -> None:
    """Writes results.json and results.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = [asdict(m) for m in measurements]
    (folder / "results.json").write_text(json.dumps({"labels": of.labels, "targets": listed}) + "\n")
    images = [call.inputs[0][0, 0] for call in of.case.calls]
    picture = draw(images, of.labels, measurements, [cost(m) for m in measurements])
    (folder / "results.svg").write_text(picture)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("build/digits"), help="folder")
    options = parser.parse_args()
    console = Console(highlight=False)
    of = subject(Path(__file__).parent)
    measurements = []
    for target in options.targets:
        console.print(f"building and running on {target} ...")
        try:
            measurements.append(measure(of, target, options.output / target))
        except RushlightError as error:
            Console(stderr=True).print(f"error: {error}\n{error.next_step}", markup=False, soft_wrap=True)
            return error.exit_code
    write(of, measurements, options.output)
    console.print(table(measurements, "scikit-learn's digits, a small CNN in float32", "PyTorch"))
    console.print(f"also as {options.output}/results.json and {options.output}/results.svg")
    return 0 if all(m.passed for m in measurements) else 1


if __name__ == "__main__":
    sys.exit(main())
