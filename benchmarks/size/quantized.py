# SPDX-License-Identifier: BSD-3-Clause
"""Compares int8 with float32 on boards: instructions, planned memory and flash of one inference.

    python benchmarks/size/quantized.py                      # Markdown on stdout
    python benchmarks/size/quantized.py --write              # also put the table into the page
    python benchmarks/size/quantized.py --part boards16      # int8 beside int16 activations with int8 weights
    python benchmarks/size/quantized.py --models dscnn --targets cortex-m4 --json

Each network of benchmarks/speed is quantized with `Static()`, calibrated with random inputs, exported,
built and run once. QEMU counts the instructions exactly. Weights count neither as flash nor as RAM. Needs
torch, torchao, the toolchains and QEMU (`rushlight targets`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "speed"))

import networks
import torch

import rushlight
from rushlight.quantize import RushlightQuantizer, Static, quantize
from rushlight.run.api import run
from rushlight.run.cases import Call, Case
from support import written

ROOT = Path(__file__).resolve().parents[2]
MODELS = ("dscnn", "resnet8", "mobilenet-v1-0.25", "autoencoder")
TARGETS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55", "rv32imac", "rv64gc", "rv64gcv")
SCHEMES = {"int8": Static(), "int16x8": Static(activations="int16")}
PAIRS = {"boards": ("float32", "int8"), "boards16": ("int8", "int16x8")}
"""Parts of the page, and the two forms that each compares."""
OF_PART = {
    "boards": (MODELS, TARGETS),
    "boards16": (("dscnn",), ("cortex-m0plus", "cortex-m4", "cortex-m55", "rv32imac")),
}


@dataclass(frozen=True)
class Row:
    """One inference of one program on one target. `failure` is the reason if it did not run."""

    model: str
    target: str
    kind: str
    instructions: int = 0
    planned: int = 0
    flash: int = 0
    stack: int = 0
    failure: str = ""


def program_of(model: str, kind: str) -> tuple[bytes, list[Any]]:
    """The program of a model and its inputs."""
    module, inputs = networks.make(networks.MODELS[model])
    graph = module
    if kind in SCHEMES:
        torch.manual_seed(1)
        calibration = [tuple(torch.randn_like(each) for each in inputs) for _ in range(4)]
        graph = quantize(module, inputs, calibration, RushlightQuantizer(SCHEMES[kind]))
    return rushlight.export(graph, inputs).buffer, [each.numpy() for each in inputs]


def measure(model: str, target: str, kind: str, folder: Path) -> Row:
    """Builds and runs the program below `folder`."""
    try:
        program, inputs = program_of(model, kind)
        path = folder / f"{model}-{kind}.pte"
        path.write_bytes(program)
        case = Case(model, 0.0, [Call("forward", inputs, None)])
        ran = run(path, case, target=target, build_folder=folder / f"{model}-{kind}-{target}")
    except rushlight.errors.RushlightError as error:
        return Row(model, target, kind, failure=error.message)
    assert ran.report is not None and ran.build is not None
    counted = ran.calls[0].result.instructions or 0
    return Row(
        model, target, kind, counted, ran.report.planned_bytes, ran.build.sizes.flash, ran.stack_peak or 0
    )


def to_markdown(rows: Sequence[Row], kinds: tuple[str, str]) -> str:
    """A row for each model and target: one form → the other, and the ratio of the instructions."""
    found = {(row.model, row.target, row.kind): row for row in rows}
    lines = [
        "| model | target | instructions, M | share | planned, kB | flash, kB |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for model, target in dict.fromkeys((row.model, row.target) for row in rows):
        before, after = (found[model, target, kind] for kind in kinds)
        if after.failure:
            lines.append(f"| {model} | {target} | {after.failure} | | | |")
            continue

        def pair(name: str, unit: float, before: Row = before, after: Row = after) -> str:
            first = "-" if before.failure else f"{getattr(before, name) / unit:,.2f}"
            return f"{first} → {getattr(after, name) / unit:,.2f}"

        share = "" if before.failure else f"{after.instructions / before.instructions:.3f}"
        columns = (pair("instructions", 1e6), share, pair("planned", 1e3), pair("flash", 1e3))
        lines.append("| " + " | ".join((model, target, *columns)) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "size-quantized", help="folder for builds"
    )
    parser.add_argument("--models", nargs="*")
    parser.add_argument("--targets", nargs="*")
    parser.add_argument("--part", choices=PAIRS, default="boards", help="boards16: int8 beside 16x8")
    parser.add_argument("--json", action="store_true", help="print rows as JSON instead of a table")
    parser.add_argument(
        "--write",
        action="store_true",
        help="put the table into docs/quantized-programs.md; needs all models and targets",
    )
    options = parser.parse_args()
    if options.write and (options.models or options.targets):
        parser.error("--write: expected all models and targets, got some of them")
    models, targets = OF_PART[options.part]
    options.work.mkdir(parents=True, exist_ok=True)
    rows = []
    for model in options.models or models:
        for target in options.targets or targets:
            for kind in PAIRS[options.part]:
                rows.append(measure(model, target, kind, options.work))
                print(rows[-1], file=sys.stderr, flush=True)
    print(
        json.dumps([asdict(row) for row in rows], indent=1)
        if options.json
        else to_markdown(rows, PAIRS[options.part])
    )
    if options.write:
        written.write(
            ROOT / "docs" / "quantized-programs.md", options.part, to_markdown(rows, PAIRS[options.part])
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
