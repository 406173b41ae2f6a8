# SPDX-License-Identifier: BSD-3-Clause
"""Runs an official file that is lowered to XNNPACK: with its delegate on the host, converted on boards.

Checks the file for each target, converts it, runs 100 images everywhere and compares each output with the
official runtime's. The exit status is 0 only if all are equal to the bit.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from rushlight.convert.files import convert_file
from rushlight.errors import RushlightError
from rushlight.program import describe, read_program
from rushlight.run.check import check

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "digits"))

from measure import measure, subject  # noqa: E402
from table import table  # noqa: E402

TARGETS = ["host", "cortex-m55", "rv32imafc"]
BUILDS = HERE.parents[1] / "build" / "xnnpack_file"


def calls(path: Path) -> list[str]:
    """Lines that say what forward() calls, and how often."""
    [method] = describe(read_program(path))["methods"]
    delegates = [
        (each["calls"], f"{each['id']}, {each['bytes']:,} B of payload") for each in method["delegates"]
    ]
    kernels = [(each["calls"], each["name"]) for each in method["operators"]]
    return [f"  {count} x {name}" for count, name in delegates + kernels]


def convert(model: Path, output: Path, console: Console) -> None:
    """Writes the file without its delegate, and prints what replaced it."""
    done = convert_file(model, output)
    [method] = done.methods
    for path, planned in ((model, method.planned_before), (output, method.planned_after)):
        console.print(f"{path.name}: {path.stat().st_size:,} B, planned memory {planned:,} B")
        console.print("\n".join(calls(path)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "targets", nargs="*", default=TARGETS, metavar="TARGET", help="see `rushlight targets`"
    )
    parser.add_argument("-o", "--output", type=Path, default=BUILDS, help="folder to build in")
    options = parser.parse_args()
    console = Console(highlight=False)
    of = subject(HERE)
    measurements = []
    try:
        convert(of.model, options.output / "digits_converted.pte", console)
        for target in options.targets:
            check(of.model, target=target).raise_if_any()
            console.print(f"{target}: the check found nothing; building and running ...")
            measurements.append(measure(of, target, options.output / target))
    except RushlightError as error:
        Console(stderr=True).print(f"error: {error}\n{error.next_step or ''}", markup=False, soft_wrap=True)
        return error.exit_code
    title = "an official XNNPACK file, int8: delegate on the host, converted on boards"
    console.print(table(measurements, title, "the official runtime"))
    return 0 if all(m.passed for m in measurements) else 1


if __name__ == "__main__":
    sys.exit(main())
