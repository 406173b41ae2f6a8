# SPDX-License-Identifier: BSD-3-Clause
"""Measures flash, RAM, instructions and build times of models × targets, interpreted and baked.

    python benchmarks/size/run.py                      # Markdown on stdout
    python benchmarks/size/run.py --output FOLDER      # also size.md, size.html, size.json there
    python benchmarks/size/run.py --cold dscnn         # also build this model with an empty compiler cache
    python benchmarks/size/run.py --write              # also put the tables into the pages that have them

Needs the toolchains and QEMU (`rushlight targets`). The real models are exported with their weights, which
needs torch and the files of tests/conformance/models/fetch.py; without them the table names what is
missing. The outputs of every cell are compared with PyTorch's; the table marks failed cells.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))

from subjects import ROOT, Made, subjects
from table import baked_table, overview, to_markdown

from rushlight.matrix.cell import Conditions
from rushlight.matrix.local import Event, Finished
from rushlight.matrix.page import to_html
from rushlight.matrix.plan import Cell, Model, Option
from rushlight.matrix.run import MatrixResult, local, run_matrix
from support import written

TARGETS = ("cortex-m4", "cortex-m55", "rv32imafc")
OPTIONS = (Option("interpreter"), Option("baked", kind="baked"))


def cells_of(made: Sequence[Made], targets: Sequence[str], kinds: Sequence[str]) -> list[Cell]:
    """The cells that can be built: models with a program × targets × kinds."""
    return [
        Cell(Model(one.name, one.program, one.program.with_name("case.json")), target, option)
        for one in made
        if one.program is not None
        for target in targets
        for option in OPTIONS
        if option.kind in kinds
    ]


def _told(event: Event) -> None:
    if isinstance(event, Finished):
        failure = event.result.failure
        reason = f": {failure.message}" if failure else ""
        print(f"{event.result.status} {event.cell.name}{reason}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, help="folder for size.md, size.html and size.json")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "size", help="folder for builds")
    parser.add_argument("--models", nargs="*", help="selected models (default: all)")
    parser.add_argument("--targets", nargs="*", default=TARGETS)
    parser.add_argument("--kinds", nargs="*", default=[option.kind for option in OPTIONS])
    parser.add_argument(
        "--jobs", type=int, default=1, help="parallel cells; more than one disturbs the times"
    )
    parser.add_argument(
        "--cold", nargs="*", default=[], metavar="MODEL", help="also time cold builds of these models"
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="put the tables into the pages; needs all models, targets and kinds",
    )
    parser.add_argument("--resume", action="store_true", help="keep the cells that passed before")
    options = parser.parse_args()
    if options.write and (options.models or set(options.targets) != set(TARGETS) or len(options.kinds) < 2):
        parser.error("--write: expected all models, targets and kinds, got some of them")
    made = subjects(options.work / "models")
    made = [one for one in made if not options.models or one.name in options.models]
    cells = cells_of(made, options.targets, options.kinds)

    def run(cold: bool) -> MatrixResult:
        return run_matrix(
            [cell for cell in cells if (cell.model.name in options.cold) == cold],
            options.work / ("cold" if cold else "warm"),
            Conditions(cold=cold),
            executor=local(1 if cold else options.jobs),
            resume=options.resume,
            on_event=_told,
        )

    result = _in_order(cells, run(cold=False), run(cold=True))
    markdown = to_markdown(result, made)
    print(markdown)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        described = {**result.to_json(), "missing": [asdict(m) for m in made if m.missing]}
        (options.output / "size.json").write_text(json.dumps(described, indent=1, default=str) + "\n")
        (options.output / "size.html").write_text(to_html(result))
        (options.output / "size.md").write_text(markdown)
    if options.write:
        page = Path(__file__).with_name("README.md")
        written.write(page, "models", markdown)
        written.write(page, "overview", overview(result))
        written.write(ROOT / "docs" / "baking.md", "baked", baked_table(result))
    return 0 if result.passed else 1


def _in_order(cells: Sequence[Cell], *parts: MatrixResult) -> MatrixResult:
    """Merges several results, in the order of `cells`."""
    results = {result.name: result for part in parts for result in part.cells}
    seconds = sum(part.seconds for part in parts)
    return replace(parts[0], cells=[results[cell.name] for cell in cells], seconds=seconds)


if __name__ == "__main__":
    sys.exit(main())
